"""`softmark pack`: the file that it makes, what it says will cost marks, and what grading says of the same file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from tests.conftest import ROOT
from tests.support.warm_program import softmark

FILE, NOTEBOOK, ZIP = "attention_scores.py", "attention_scores.ipynb", "attention_scores.zip"
SOLUTION = (ROOT / "reference" / FILE).read_text()
STRONGEST = "full" if os.geteuid() == 0 else "user"
HELPER = "import torch\n\ndef soft(S):\n    return torch.softmax(S, -1)\n"
WITH_HELPER = f"import masks\n{SOLUTION}\n\ndef softmax_rows(S):\n    return masks.soft(S)\n"
LOSES, COSTS_NOTHING = "This will cost marks:", "This costs nothing, and is worth knowing:"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A homework's folder as a student gets it, far from the course, and without the starter's notebook."""
    own = Path(shutil.copytree(ROOT / "assignments/attention_scores", tmp_path / "homework"))
    (own / NOTEBOOK).unlink()
    return own


def pack(place: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    done = softmark(place, "pack", *map(str, words))
    return subprocess.CompletedProcess(done.args, done.returncode, " ".join(done.stdout.split()), done.stderr)


def packed(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Pack this source in the place of the homework's file."""
    (folder / FILE).write_text(source)
    return pack(folder)


def grade(place: Path) -> str:
    """Return what `softmark grade` says of a pack, in one line and without the bars at its left."""
    words = "grade", str(place), "-a", "attention_scores", "--isolation", STRONGEST
    environment = {**os.environ, "SOFTMARK_COURSE": str(ROOT)}
    program = str(ROOT / ".venv/bin/softmark")
    done = subprocess.run(
        [program, *words], cwd=place.parent, env=environment, capture_output=True, text=True, check=False
    )
    return " ".join(done.stdout.replace("│", " ").split())


def as_notebook(source: str) -> str:
    """Return a notebook with a cell for each function of a source."""
    head, *functions = source.split("\n\n\ndef ")
    cells = [nbformat.v4.new_code_cell(text) for text in (head, *(f"def {body}" for body in functions))]
    return nbformat.writes(nbformat.v4.new_notebook(cells=cells))


class TestGraded:
    """A pack without a finding has full marks in grading."""

    def test_file(self, folder: Path) -> None:
        done = packed(folder, SOLUTION)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count(" done ") == 7
        assert "handin/attention_scores.py is made (8 kB). Nothing was found that will cost marks." in done.stdout
        assert "Upload it where your course takes this homework" in done.stdout
        assert "No test was run: `softmark check` runs the public tests." in done.stdout
        assert (folder / "handin" / FILE).read_text() == SOLUTION
        assert "20 / 20" in grade(folder / "handin" / FILE)

    def test_notebook(self, folder: Path) -> None:
        """It is the one that is begun, beside a starter."""
        (folder / NOTEBOOK).write_text(as_notebook(SOLUTION))
        done = pack(folder)
        assert done.returncode == 0, done.stdout
        assert (folder / "handin" / NOTEBOOK).read_bytes() == (folder / NOTEBOOK).read_bytes()
        assert "20 / 20" in grade(folder / "handin" / NOTEBOOK)

    def test_helper(self, folder: Path) -> None:
        """Files that it imports, and that these import, come along; others do not."""
        (folder / "masks.py").write_text(f"from inner.more import more\n{HELPER}")
        (folder / "inner").mkdir()
        (folder / "inner/more.py").write_text("more = 1\n")
        (folder / "old.py").write_text("1 / 0\n")
        done = packed(folder, WITH_HELPER)
        assert done.returncode == 0, done.stdout
        assert "handin/attention_scores.zip is made (9 kB) with attention_scores.py, inner/more.py, masks.py" in (
            done.stdout
        )
        assert "20 of 20" in grade(folder / "handin" / ZIP)

    def test_notebook_with_helper(self, folder: Path) -> None:
        (folder / "masks.py").write_text(HELPER)
        (folder / NOTEBOOK).write_text(as_notebook(WITH_HELPER))
        done = pack(folder, NOTEBOOK)
        assert done.returncode == 0, done.stdout
        assert zipfile.ZipFile(folder / "handin" / ZIP).namelist() == [NOTEBOOK, "masks.py"]
        assert "20 of 20" in grade(folder / "handin" / ZIP)

    def test_data(self, folder: Path) -> None:
        """A data file whose name stands in the code comes along, because grading keeps it."""
        (folder / "numbers.json").write_text("[0]")
        done = packed(
            folder, f"{SOLUTION}\nimport json\nwith open('numbers.json') as file:\n    shift = json.load(file)\n"
        )
        assert zipfile.ZipFile(folder / "handin" / ZIP).namelist() == [FILE, "numbers.json"]
        assert LOSES not in done.stdout
        assert "20 of 20" in grade(folder / "handin" / ZIP)

    @pytest.mark.parametrize("sample", ["syntax_error", "reads_files"])
    def test_refused(self, folder: Path, sample: str) -> None:
        """Pack says of a file that cannot be loaded what grading will say."""
        done = packed(folder, (ROOT / f"samples/attention_scores/{sample}.py").read_text())
        said = grade(folder / "handin" / FILE)
        if reason := re.search(r"attention_scores\.py could not be loaded: [^(:]+", said):
            assert reason[0] in done.stdout
            assert done.returncode == 1
        else:
            assert "could not be loaded" not in done.stdout


class TestBytes:
    """The same work makes the same file."""

    def test_zip(self, folder: Path) -> None:
        """Whenever and wherever it is made; the names in it are relative."""
        (folder / "masks.py").write_text(HELPER)
        packed(folder, WITH_HELPER)
        first = (folder / "handin" / ZIP).read_bytes()
        other = shutil.copytree(folder, folder.parent / "elsewhere", ignore=shutil.ignore_patterns("handin"))
        os.utime(other / "masks.py", (10**9, 10**9))
        (other / "masks.py").chmod(0o600)
        assert pack(other).returncode == 0
        assert (other / "handin" / ZIP).read_bytes() == first
        assert not any(
            name.startswith("/") or ".." in name for name in zipfile.ZipFile(other / "handin" / ZIP).namelist()
        )


def _einops(source: str) -> str:
    return f"import einops\n{source}\n\ndef softmax_rows(S):\n    return einops.reduce(S)\n"


class TestFindings:
    """Pack says what will cost marks, and the exit code is 1."""

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                lambda text: re.sub(r"\bscores\b", "score", text),
                "3 Scores missing: scores: `scores` is not defined in the file; is your `score` meant to be it?",
            ),
            (
                lambda text: text.replace("def attend(", "def attend_to(").replace("def scores(", "def results("),
                "1 The parameter-free layer missing: attend: `attend` is not defined in the file; "
                "is your `attend_to` meant to be it?",
            ),
            (
                lambda text: (
                    f"{text}\n\ndef attention(Q, K, V, mask=None):\n"
                    "    return F.scaled_dot_product_attention(Q, K, V, mask), None\n"
                ),
                "`attention` uses torch.nn.functional.scaled_dot_product_attention, which is not allowed here",
            ),
            (_einops, "needs `einops`, which is not installed where it is graded"),
            (lambda text: f"{text}\ndef f(:\n", "could not be loaded: has a line that is not valid Python"),
            (lambda text: f"{text}\nopen('data.csv')\n", "opens `data.csv`, and there is no such file while grading"),
            (
                lambda text: f"{text}\nhost = open('/etc/hosts').read()\n",
                "opens `/etc/hosts`, and there is no such file and no network while grading: move it under",
            ),
            (lambda text: f"{text}\nassert scores(1, 2)\n", "could not be loaded: "),
            (lambda text: f"{text}\nimport os\nos._exit(0)\n", "could not be loaded: "),
            (lambda text: f"{text}\nn = int(input('n? '))\n", "waits for keyboard input with input()"),
            (lambda text: f"import random\n{text}\nrandom.own()\n", "hides the standard module of that name"),
            (lambda text: f"{text}{'#' * 5_000_000}", "it cannot be graded: attention_scores.py is larger than 5 MB"),
            (lambda text: "", "it cannot be graded: the file is empty"),
        ],
        ids=[
            *("misspelt", "other names", "forbidden", "import", "syntax", "reads", "reads elsewhere", "fails", "exits"),
            *("asks", "hides", "too large", "empty"),
        ],
    )
    def test_found(self, folder: Path, change: Callable[[str], str], said: str) -> None:
        (folder / "random.py").write_text("def own(): pass\n")
        done = packed(folder, change(SOLUTION))
        assert (done.returncode, done.stderr) == (1, "")
        assert said in done.stdout
        assert "handin/attention_scores." in done.stdout
        assert "Nothing was found" not in done.stdout

    def test_slow(self, folder: Path) -> None:
        """A load that takes long here may take too long on a slower machine."""
        handout = folder / "examples.json"
        handout.write_text(json.dumps({**json.loads(handout.read_text()), "limits": {"import_seconds": 3.0}}))
        busy = "import time\nwhile time.process_time() < start + 1.5:\n    pass\n"
        done = packed(folder, f"{SOLUTION}\nimport time\nstart = time.process_time()\n{busy}")
        assert done.returncode == 1
        assert (
            "attention_scores.py took 2 s to load here; where it is graded, it may take 3 s on a machine" in done.stdout
        )

    def test_starter(self, folder: Path) -> None:
        """Nothing else is said of it."""
        done = pack(folder)
        assert done.returncode == 1
        assert done.stdout.count(" not done yet ") == 7
        assert f"{LOSES} - it is the starter as it was handed out: nothing of it is written yet handin/" in done.stdout

    def test_part_that_is_not_done(self, folder: Path) -> None:
        """One of two functions of a part is named."""
        line = "    return j < lengths.unsqueeze(-1).unsqueeze(-1)"
        unwritten = SOLUTION.replace(line, '    raise NotImplementedError("part 7: padding_mask")')
        done = packed(folder, unwritten)
        assert done.returncode == 1
        assert "· 7 Masks padding_mask is not done yet handin/" in done.stdout
        assert "1 of 7 parts is not done." in done.stdout

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (as_notebook(SOLUTION)[:300], "the notebook is cut off in line"),
            ("<html></html>", "the file is a web page (HTML), not a notebook"),
            (nbformat.writes(nbformat.v4.new_notebook()), "the notebook has no code"),
        ],
        ids=["cut", "web page", "empty"],
    )
    def test_notebook_that_does_not_parse(self, folder: Path, content: str, said: str) -> None:
        """The pack is made nevertheless."""
        (folder / NOTEBOOK).write_text(content)
        done = pack(folder, NOTEBOOK)
        assert done.returncode == 1
        assert f"{LOSES} - it cannot be graded: {said}" in done.stdout
        assert (folder / "handin" / NOTEBOOK).read_text() == content

    def test_cell_that_is_not_run(self, folder: Path) -> None:
        """Of a notebook only definitions are run in grading."""
        cell = "for i in range(3):\n    table = i\n\n\ndef causal_mask(n):\n    return table\n"
        (folder / NOTEBOOK).write_text(as_notebook(f"{SOLUTION}\n\n\n{cell}"))
        done = pack(folder, NOTEBOOK)
        assert done.returncode == 1
        assert "was not run, though your functions need what it sets" in done.stdout


class TestRemarks:
    """Pack says apart what costs no marks, and the exit code is 0."""

    def test_work_at_import(self, folder: Path) -> None:
        """Prints, and calls of the file's own functions; not what stands under `__main__`, and no settings."""
        end = SOLUTION.count("\n")
        extra = "torch.manual_seed(0)\nprint('hi')\nmask = causal_mask(2)\nif __name__ == '__main__':\n    print(1)\n"
        done = packed(folder, f"{SOLUTION}{extra}")
        assert done.returncode == 0, done.stdout
        assert f"{COSTS_NOTHING} - attention_scores.py, lines {end + 2} and {end + 3} are run whenever the file is" in (
            done.stdout
        )

    def test_import_that_nothing_needs(self, folder: Path) -> None:
        done = packed(folder, f"import matplotlib.pyplot as plt\n{SOLUTION}\n\ndef show(x):\n    plt.plot(x)\n")
        assert done.returncode == 0
        assert COSTS_NOTHING in done.stdout
        assert "`matplotlib`, which is not installed where it is graded" in done.stdout

    def test_forbidden_function_that_no_part_needs(self, folder: Path) -> None:
        """A self-check at the bottom of the file is allowed."""
        done = packed(folder, f"{SOLUTION}\n\ndef compare(Q):\n    return F.scaled_dot_product_attention(Q, Q, Q)\n")
        assert (done.returncode, LOSES in done.stdout) == (0, False)

    def test_earlier_pack(self, folder: Path) -> None:
        """A student who uploads the wrong one of two would lose the helper."""
        packed(folder, SOLUTION)
        (folder / "masks.py").write_text(HELPER)
        done = packed(folder, WITH_HELPER)
        assert "handin/attention_scores.py is from before: upload attention_scores.zip" in done.stdout


class TestPlaces:
    """Where the pack is put, and under which name."""

    def test_other_name(self, tmp_path: Path) -> None:
        """The pack has the name that is asked for."""
        (tmp_path / "mine (1).py").write_text(SOLUTION)
        homework = ROOT / "assignments/attention_scores"
        shutil.copytree(homework, tmp_path / "attention_scores")
        done = pack(tmp_path, "mine (1).py", "-a", "attention_scores")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "mine (1).py is packed as attention_scores.py, the name that is asked for" in done.stdout
        assert (tmp_path / "handin" / FILE).read_text() == SOLUTION

    def test_zip_that_is_named(self, folder: Path) -> None:
        (folder / FILE).write_text(SOLUTION)
        assert pack(folder, "-o", "ada.zip").returncode == 0
        assert zipfile.ZipFile(folder / "ada.zip").namelist() == [FILE]

    def test_own_file_is_not_replaced(self, folder: Path) -> None:
        """A file of the homework's folder stays as it is."""
        folder = folder.rename(folder.with_name("attention_scores"))
        (folder / FILE).write_text(SOLUTION)
        (folder / "old").mkdir()
        (folder / "old" / FILE).write_text("x = 1\n")
        done = pack(folder, f"old/{FILE}", "-a", "attention_scores", "-o", ".")
        assert done.returncode == 2
        assert "choose another folder with -o" in done.stderr
        assert (folder / FILE).read_text() == SOLUTION

    def test_no_python(self, folder: Path) -> None:
        (folder / "notes.txt").write_text("hm")
        done = pack(folder, "notes.txt", "-a", "attention_scores")
        assert done.returncode == 2
        assert "notes.txt is neither a Python file nor a notebook" in done.stderr

    def test_no_file(self, folder: Path) -> None:
        (folder / FILE).unlink()
        done = pack(folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert "no such file" in done.stderr

    def test_without_public_tests(self, folder: Path) -> None:
        """No test is run."""
        (folder / "test_public.py").unlink()
        assert packed(folder, SOLUTION).returncode == 0

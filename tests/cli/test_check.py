"""`softmark check`: what a student types, what it says, and what exit code it ends with."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from softmark.check import watching
from softmark.cli import main
from softmark.records.result import Outcome, Result, decode
from tests.conftest import ROOT
from tests.support.warm_program import softmark

SOFTMARK = str(Path(sys.executable).with_name("softmark"))
FILE = "attention_scores.py"
SOLUTION = (ROOT / "reference" / FILE).read_text()
UNSCALED = SOLUTION.replace("return S / math.sqrt(d_k)", "return S")


def check(place: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return softmark(place, "check", *map(str, words))


class TestCheck:
    """In the homework's folder, without any argument."""

    def test_solution(self, folder: Path) -> None:
        """Exit 0 if every public test passes, and it is said that there are others."""
        (folder / FILE).write_text(SOLUTION)
        typed = subprocess.run([SOFTMARK, "check"], cwd=folder, capture_output=True, text=True, check=False)
        for done in (typed, check(folder)):
            assert (done.returncode, done.stderr) == (0, "")
            assert "public tests: 25 of 25; hidden tests are run later" in done.stdout

    def test_starter(self, folder: Path) -> None:
        """Exit 1; every part is "not done yet", and nothing else is said about it."""
        done = check(folder)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.count("not done yet") == 7
        assert "✗" not in done.stdout

    def test_one_of_two_functions_of_a_part(self, folder: Path) -> None:
        """The rest of the part is counted, and it is said which function is missing."""
        line = "    return j < lengths.unsqueeze(-1).unsqueeze(-1)"
        assert SOLUTION.count(line) == 1
        unwritten = SOLUTION.replace(line, '    raise NotImplementedError("part 7: padding_mask")')
        (folder / FILE).write_text(unwritten)
        done = check(folder)
        assert (done.returncode, done.stderr) == (1, "")
        (of_the_part,) = (one for one in done.stdout.splitlines() if "not done yet" in one)
        assert of_the_part.rstrip().endswith("padding_mask is not done yet")
        assert "✗" not in done.stdout

    def test_part_that_builds_on_one_that_is_not_done(self, folder: Path) -> None:
        """Whichever of its functions calls the missing one, it waits and has not failed."""
        line = "    S = Q @ K.transpose(-1, -2)"
        assert SOLUTION.count(line) == 1
        (folder / FILE).write_text(SOLUTION.replace(line, f'    raise NotImplementedError("part 3: scores")\n{line}'))
        done = check(folder)
        shown = " ".join(done.stdout.split())
        assert (done.returncode, done.stderr) == (1, "")
        assert "· 3 Scores 0 of 3 4 not done yet" in shown
        assert "· 6 Attention 0 of 6 4 waits for part 3: scores is not done yet" in shown
        assert "✗" not in shown

    @pytest.mark.parametrize("order", [(3, 5), (5, 3)])
    def test_test_that_waits_in_one_of_its_cases(self, folder: Path, order: tuple[int, int]) -> None:
        """What another case found wrong is told: the test has failed."""
        half = "\n\ndef causal_mask(n):\n    if n > 3:\n        {}\n    return 'a mask'\n"
        (folder / FILE).write_text(SOLUTION + half.format('raise NotImplementedError("part 7: causal_mask")'))
        (folder / "test_public.py").write_text(
            "import pytest\nfrom gradescope_utils.autograder_utils.decorators import number\n\n@number('7')\n"
            f"@pytest.mark.parametrize('n', {order})\ndef test_mask(student, n):\n    student.causal_mask(n).sum()\n"
        )
        shown = " ".join(check(folder).stdout.split())
        assert "this test cannot use the answer of your code" in shown
        assert "✗ 7" in shown

    def test_mistake(self, folder: Path) -> None:
        """Exit 1; the mistake is named with a hint, and the parts that are right are marked so."""
        (folder / FILE).write_text(UNSCALED)
        done = check(folder)
        assert (done.returncode, done.stderr) == (1, "")
        assert "Your scores are √d_k times too large: they are not scaled." in done.stdout
        assert "✓   2  Queries, keys and values   2 of 2" in done.stdout
        assert "◐   3  Scores                     1 of 3" in done.stdout

    def test_mistake_in_an_earlier_part(self, folder: Path) -> None:
        """A part that builds on it is not accused of anything; the mistake is named where it stands, and whole."""
        (folder / FILE).write_text(UNSCALED)
        said = " ".join(check(folder).stdout.split())
        assert "◐ 3 Scores 1 of 3 4 see 3.1" in said
        assert said.count("Your scores are") == 1
        assert "◐ 6 Attention 3 of 6 4 may follow from part 3 (scores): mend that first" in said
        assert said.count("may follow") == 1

    def test_mistake_that_a_right_answer_rules_out(self, tmp_path: Path) -> None:
        """A sign that is lost looks like a transposed matrix to the left, but to the right that would have shown."""
        folder = shutil.copytree(ROOT / "assignments/positional_encoding", tmp_path / "homework")
        own = (ROOT / "reference/positional_encoding.py").read_text().replace("k * omega", "abs(k) * omega")
        (folder / "positional_encoding.py").write_text(own)
        said = check(folder).stdout
        assert "You ignore the sign of k" in said
        assert "Your matrix is transposed" not in said

    def test_part_that_is_called_like_a_class_of_the_library(self, tmp_path: Path) -> None:
        """A test that compares with `nn.RNN` does not build on the student's part 4, which is called RNN, too."""
        folder = shutil.copytree(ROOT / "assignments/recurrent", tmp_path / "homework")
        own = (ROOT / "reference/recurrent.py").read_text().replace("reversed(range(T)) if suffix else", "")
        (folder / "recurrent.py").write_text(own.replace("dh_later[: k - 1]", "dh_later[:0]"))
        said = " ".join(check(folder).stdout.split())
        assert "You dropped what comes back from later steps." in said
        assert "may follow from" not in said

    def test_mistakes_in_two_parts(self, folder: Path) -> None:
        """An exception and its line are facts, and said, whatever an earlier part does."""
        (folder / FILE).write_text(UNSCALED.replace("Y = A @ V", "Y = A @ V @ 1"))
        said = " ".join(check(folder).stdout.replace("│", " ").split())
        assert (
            "attention: raised TypeError: unsupported operand type(s) for @: 'Tensor' and 'int'; it may follow" in said
        )
        assert "; it may follow from part 3 (scores): mend that first" in said
        assert "Y = A @ V @ 1" in said

    @pytest.mark.parametrize(
        ("attend", "said"),
        [
            (
                "def attention(Q, K, V, mask=None):\n    return functional.scaled_dot_product_attention(Q, K, V)\n",
                "uses ",
            ),
            ("del attention\n", "`attention` is not defined in the file"),
            (
                "def attention(one, more, Q, K, V):\n    return Q\n",
                "it does not take the arguments that the handout names",
            ),
        ],
        ids=["shortcut", "missing", "signature"],
    )
    def test_what_no_earlier_part_brought_about(self, folder: Path, attend: str, said: str) -> None:
        """It is told as it is, and not put down to the mistake in an earlier part."""
        (folder / FILE).write_text(f"{UNSCALED}\nfrom torch.nn import functional\n{attend}")
        shown = " ".join(check(folder).stdout.split())
        assert "Your scores are √d_k times too large" in shown
        assert "attention" in shown.partition(said)[0][-15:]
        assert "may follow" not in shown

    def test_shortcut_of_an_earlier_part(self, folder: Path) -> None:
        """A part that calls a part which takes a shortcut takes none itself."""
        shortcut = "return torch.nn.functional.scaled_dot_product_attention(Q, K, K)"
        (folder / FILE).write_text(SOLUTION.replace("return S / math.sqrt(d_k)", shortcut))
        shown = " ".join(check(folder).stdout.replace("│", " ").split())
        assert "scores uses torch.nn.functional.scaled_dot_product_attention" in shown
        assert "it may follow from part 3 (scores): mend that first" in shown

    def test_broken_file(self, folder: Path) -> None:
        """A file that Python cannot read: the line is shown, exit 1."""
        (folder / FILE).write_text("import torch\n\ndef scores(Q, K:\n    return Q\n")
        done = check(folder)
        assert done.returncode == 1
        assert f"{FILE}:3" in done.stdout
        assert "Traceback" not in done.stdout + done.stderr

    def test_json(self, folder: Path) -> None:
        """--json prints the Result and nothing else, whatever the student's code prints."""
        (folder / FILE).write_text(UNSCALED + "\nprint('here I am')\n")
        done = check(folder, "--json")
        result = decode(done.stdout)
        assert done.returncode == 1
        assert result.printed.stdout == "here I am\n"
        assert {test.part for test in result.tests if test.outcome is Outcome.FAILED} == {"3", "6"}

    def test_helper_file(self, folder: Path) -> None:
        """A file of one's own beside can be imported."""
        (folder / "mine.py").write_text(SOLUTION)
        (folder / FILE).write_text("from mine import *\n")
        assert check(folder).returncode == 0

    def test_file_elsewhere(self, folder: Path) -> None:
        """A file and the name of its homework; the tests are found in the course around."""
        mine = folder / "version2.py"
        mine.write_text(SOLUTION)
        done = check(ROOT, mine, "-a", "attention_scores")
        assert done.returncode == 0, done.stderr

    def test_import_that_grading_lacks(self, folder: Path) -> None:
        """What is imported for plots is warned of, though it is installed here; what a part needs is told so."""
        (folder / FILE).write_text(
            f"import rich\nimport pluggy as p, math\n{SOLUTION}\n"
            "def helper(x):\n    return p and x\n\n"
            "def attend(h, X):\n    import yaml_is_not_here\n    return helper(h)\n"
            "if __name__ == '__main__':\n    import pytest\n"
        )
        said = " ".join(check(folder).stdout.replace("│", " ").split())
        there = "which is not installed where it is graded"
        assert f"{FILE}, line 1: imports `rich`, {there}: what uses it fails there, everything else is graded" in said
        assert f"{FILE}, line 2: `attend` needs `pluggy`, {there}: write it with torch or NumPy" in said
        assert "`attend` needs `yaml_is_not_here`" in said
        assert "pytest" not in said

    @pytest.mark.parametrize("library", ["nothing_like_it", "pluggy"])
    def test_import_is_told_once(self, library: str, folder: Path) -> None:
        """A library that is missing here as well is told by the import that fails, and not in a second note."""
        (folder / FILE).write_text(f"import {library}\n{SOLUTION}")
        done = check(folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count(f"`{library}`") == 1

    def test_import_that_the_homework_allows(self, folder: Path) -> None:
        """What the course has installed for grading is not warned of."""
        handout = folder / "examples.json"
        handout.write_text(handout.read_text().replace("{", '{"packages": ["rich"],', 1))
        (folder / FILE).write_text(f"import rich\n{SOLUTION}")
        assert "not installed" not in check(folder).stdout

    def test_broken_public_test(self, folder: Path) -> None:
        """A worked example that is not there is no mistake of the student's: exit 3, and what to do is said."""
        handout = folder / "examples.json"
        handout.write_text(handout.read_text().replace('"name": "attend, a batch"', '"name": "another"'))
        (folder / FILE).write_text(SOLUTION)
        done = check(folder)
        said = " ".join(done.stdout.replace("│", " ").split())
        assert done.returncode == 3
        assert "public test 1.2 is broken, get it anew" in said
        assert "there is no worked example “attend, a batch”" in said
        assert "public tests: 24 of 25" in said

    def test_answer_that_a_test_stumbles_over(self, folder: Path) -> None:
        """A test that cannot use an answer has failed, and shows what Python says."""
        (folder / FILE).write_text(f"{SOLUTION}\n\ndef causal_mask(n):\n    return 'a mask'\n")
        (folder / "test_public.py").write_text(
            "from gradescope_utils.autograder_utils.decorators import number\n\n@number('7')\n"
            "def test_mask(student):\n    student.causal_mask(3).sum()\n"
        )
        done = check(folder)
        said = " ".join(done.stdout.replace("│", " ").split())
        assert done.returncode == 1
        assert "this test cannot use the answer of your code" in said
        assert "AttributeError: 'str' object has no attribute 'sum'" in said

    def test_leaves_nothing_behind(self, folder: Path) -> None:
        """No cache, no log: the folder holds what it held before."""
        before = sorted(folder.iterdir())
        check(folder)
        assert sorted(folder.iterdir()) == before


NOTEBOOK = "attention_scores.ipynb"


def solved_notebook(folder: Path, *unsolved: str) -> None:
    """Write the solution into the cells of the notebook's starter, but for these functions."""
    solution = ast.parse(SOLUTION)
    solved = {
        n.name: ast.unparse(n) for n in solution.body if isinstance(n, ast.FunctionDef) and n.name not in unsolved
    }
    notebook = json.loads((folder / NOTEBOOK).read_text())
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        names = re.findall(r"^def (\w+)", text, re.MULTILINE)
        if cell["cell_type"] == "code" and names:
            definitions = [solved[name] for name in names if name in solved]
            cell["source"] = "\n\n".join((text.partition("def ")[0], *definitions))
    (folder / NOTEBOOK).write_text(json.dumps(notebook))


class TestPart:
    """`softmark check --part`."""

    def test_runs_nothing_else(self, folder: Path) -> None:
        """Exit 0 if all tests of the part pass, whatever the other parts do."""
        (folder / FILE).write_text(UNSCALED)
        one, three = check(folder, "--part", "1"), check(folder, "--part", "3")
        assert one.returncode == 0, one.stdout + one.stderr
        assert "public tests: 3 of 3" in one.stdout
        assert three.returncode == 1
        assert "they are not scaled" in three.stdout
        assert "The parameter-free layer" not in three.stdout


class TestNotebookFile:
    """A notebook's cells are run as grading runs them."""

    def test_is_checked_by_name(self, folder: Path) -> None:
        """All tests pass with the solution; a failure names its cell."""
        solved_notebook(folder)
        done = check(folder, NOTEBOOK)
        assert (done.returncode, done.stderr) == (0, "")
        assert "public tests: 25 of 25" in done.stdout
        (folder / NOTEBOOK).write_text((folder / NOTEBOOK).read_text().replace("math.sqrt(", "math.root("))
        wrong = check(folder, NOTEBOOK, "--part", "3")
        assert wrong.returncode == 1
        assert re.search(r"cell \d+, line \d+", wrong.stdout)

    def test_with_more_of_the_work_is_taken(self, folder: Path) -> None:
        """Of file and notebook; nothing is said about a starter that was not begun."""
        solved_notebook(folder, "causal_mask")
        done = check(folder)
        assert NOTEBOOK in done.stdout
        assert "public tests: 23 of 25" in done.stdout
        assert "was checked, not" not in done.stdout

    def test_choice_is_told(self, folder: Path) -> None:
        """If both were begun, it is said which one was checked, and why."""
        solved_notebook(folder, "causal_mask")
        (folder / FILE).write_text(SOLUTION)
        done = check(folder)
        assert done.returncode == 0
        said = " ".join(done.stdout.replace("│", " ").split())
        assert f"{FILE} was checked, not {NOTEBOOK}: it defines 8 of the 8 names that are asked for" in said

    def test_that_is_none_is_refused(self, folder: Path) -> None:
        """One sentence with the next step."""
        (folder / NOTEBOOK).write_text("no notebook")
        TestBadUsage.refused(check(folder, NOTEBOOK), f"{NOTEBOOK} cannot be checked: ")

    @pytest.mark.parametrize("name", [FILE, NOTEBOOK])
    def test_that_is_too_large_is_named(self, name: str, folder: Path) -> None:
        """Also where it is only one of two files."""
        (folder / name).write_bytes(b" " * 30_000_001)
        TestBadUsage.refused(check(folder), f"{name} cannot be checked: the file is larger than ")


class TestBadUsage:
    """One sentence with the next step, exit 2, no traceback."""

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["nowhere.py", "-a", "attention_scores"], "nowhere.py"),
            (["examples.json", "-a", "attention_scores", "--part", "9"], "has no part '9'; its parts are 1, 2, 3"),
            (["-a", "multi_head"], "go to the folder that has multi_head's examples.json in it"),
        ],
        ids=["no file", "part", "other homework"],
    )
    def test_in_a_homework(self, words: list[str], says: str, folder: Path) -> None:
        """A file that is not there, a part that is not there, a homework that is not here."""
        self.refused(check(folder, *words), says)

    def test_outside_of_any_homework(self, tmp_path: Path) -> None:
        """Where there is no homework, it says where to go."""
        self.refused(check(tmp_path), "go to a homework's folder")

    @pytest.mark.parametrize(
        ("file", "says"),
        [("examples.json", "go to a homework's folder"), ("test_public.py", "get the homework's folder anew")],
    )
    def test_incomplete_folder(self, file: str, says: str, folder: Path) -> None:
        """A homework of which a file was lost."""
        (folder / file).unlink()
        self.refused(check(folder), says)

    def test_two_public_tests_with_one_number(self, folder: Path) -> None:
        """A student could not tell which of the two has failed."""
        test = "@number('7.1')\ndef test_{}(student):\n    student.causal_mask(3)\n\n\n"
        head = "from gradescope_utils.autograder_utils.decorators import number\n\n\n"
        (folder / "test_public.py").write_text(head + test.format("first") + test.format("second"))
        self.refused(check(folder), "test_second has the number '7.1', as has test_first in line 5")

    @staticmethod
    def refused(done: subprocess.CompletedProcess[str], says: str) -> None:
        assert (done.returncode, done.stdout) == (2, "")
        assert says in done.stderr
        assert done.stderr.count("\n") == 1


class TestWatch:
    """`softmark check --watch`, with what happens between two looks put in by hand."""

    @pytest.fixture
    def watch(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> Callable[..., tuple[object, list[str]]]:
        """Runs the command with these events; returns its exit code and each Result or refusal it printed."""

        def run(*events: Callable[[], object]) -> tuple[object, list[str]]:
            coming = iter(events)

            def wait() -> None:
                event = next(coming, None)
                if event is None:
                    raise KeyboardInterrupt
                event()

            original = watching.watch
            monkeypatch.setattr(watching, "watch", lambda *given: original(*given, wait))
            monkeypatch.setattr(sys, "argv", ["softmark", "check", "--watch", "--json"])
            monkeypatch.chdir(folder)
            with pytest.raises(SystemExit) as end:
                main()
            out, err = capfd.readouterr()
            return end.value.code, [*out.splitlines(), *err.splitlines()]

        return run

    def test_checks_again_when_saved(self, watch: Callable[..., tuple[object, list[str]]], folder: Path) -> None:
        """Once at the start and once for each save; a look without a change runs nothing. Exit code of the last run."""
        code, said = watch(
            lambda: None,
            lambda: (folder / FILE).write_text(UNSCALED),
            lambda: None,
            lambda: (folder / FILE).write_text(SOLUTION),
        )
        assert [passed(line) for line in said] == [0, 20, 25]
        assert code == 0

    def test_sees_a_helper(self, watch: Callable[..., tuple[object, list[str]]], folder: Path) -> None:
        """A change in a file that is imported counts, too."""
        (folder / "mine.py").write_text(UNSCALED)
        (folder / FILE).write_text("from mine import *\n")
        _, said = watch(lambda: (folder / "mine.py").write_text(SOLUTION))
        assert [passed(line) for line in said] == [20, 25]

    def test_survives_a_file_that_is_being_saved(
        self, watch: Callable[..., tuple[object, list[str]]], folder: Path
    ) -> None:
        """A file that is away for a moment is a sentence on stderr, not the end."""
        code, said = watch(
            (folder / FILE).unlink,
            lambda: (folder / FILE).write_text(SOLUTION),
        )
        assert code == 0
        assert [passed(line) for line in said[:2]] == [0, 25]
        assert said[2].startswith("softmark: ")


def passed(line: str) -> float:
    """How many tests passed, by the Result on a line."""
    result: Result = decode(line)
    return result.total


class TestInANotebook:
    """`check(…)` in a cell."""

    def cell(self, code: str, folder: Path) -> str:
        source = f"from softmark.student import check\n{code}\n"
        done = subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def test_one_part(self, folder: Path) -> None:
        """Of the part that is asked for there is a line, of the others none."""
        said = self.cell('def scores(Q, K):\n    return Q @ K.mT\n\ncheck("attention_scores", part=3)', folder)
        assert "they are not scaled" in said
        assert "Queries, keys and values" not in said

    def test_part_that_builds_on_a_wrong_one(self, folder: Path) -> None:
        """The earlier part is tried as well, though only its being the cause is said."""
        said = self.cell(f'{UNSCALED}\n\ncheck("attention_scores", part=6)', folder)
        assert "may follow from part 3 (scores): mend that first" in said
        assert "6  Attention" in said
        assert "3.1" not in said

    def test_library_that_grading_lacks(self, folder: Path) -> None:
        """Only what a part's function needs is warned of: plots are what a notebook is for."""
        code = "import rich, pluggy\ndef attend(h, X):\n    return pluggy and h\n\ncheck('attention_scores', part=1)"
        said = " ".join(self.cell(code, folder).replace("│", " ").split())
        assert "`attend` needs `pluggy`, which is not installed where it is graded: write it with torch" in said
        assert "rich" not in said

    def test_line_of_a_method(self, tmp_path: Path) -> None:
        """A cell is called by what it defines, and the line that raised is quoted, be it in a class."""
        folder = Path(shutil.copytree(ROOT / "assignments/multi_head", tmp_path / "homework"))
        own = "from torch import nn\nclass MultiHeadAttention(nn.Module):\n    def __init__(self, d_model, n_heads):\n"
        own += "        super().__init__()\n        raise ValueError('no')\n"
        code = (
            f"import linecache\nsource = {own!r}\n"
            "linecache.cache['<cell>'] = len(source), None, source.splitlines(True), '<cell>'\n"
            "exec(compile(source, '<cell>', 'exec'))\ncheck('multi_head')"
        )
        said = " ".join(self.cell(code, folder).replace("│", " ").split())
        assert "cell of MultiHeadAttention, line 5 raise ValueError('no')" in said

    def test_forbidden_classes_work_in_the_next_cell(self, tmp_path: Path) -> None:
        """What a homework forbids is forbidden while it is checked; the notebook goes on with PyTorch as it is."""
        folder = Path(shutil.copytree(ROOT / "assignments/transformer_block", tmp_path / "homework"))
        uses = "nn.LayerNorm(4)(x).shape, nn.BatchNorm1d(4)(x).shape, nn.TransformerEncoderLayer(4, 2)(x).shape"
        code = f"""
import inspect, torch
from torch import nn
def told(): return [inspect.signature(norm) for norm in (nn.LayerNorm, nn.BatchNorm1d, nn.Transformer)]
def layer_norm(X, gain, bias, eps=1e-5):
    norm = nn.BatchNorm1d if X.dim() == 2 else nn.LayerNorm
    return norm(X.shape[-1])(X) * gain + bias
x, before = torch.ones(2, 4), told()
for _ in range(2):
    check("transformer_block", part=1)
    print("then", {uses}, told() == before)
"""
        said = self.cell(code, folder)
        assert "uses torch.nn.LayerNorm, which is not allowed here" in " ".join(said.replace("│", " ").split())
        assert said.count("then torch.Size([2, 4]) torch.Size([2, 4]) torch.Size([2, 4]) True") == 2

    def test_random_numbers_go_on(self, folder: Path) -> None:
        """The next cell draws what it would have drawn without the check, from each generator."""
        seeds = "import random, numpy, torch\nrandom.seed(1), numpy.random.seed(1), torch.manual_seed(1)\n"
        draws = "\nprint('drawn', random.random(), numpy.random.rand(), torch.rand(1).item())"
        check = "\ncheck('attention_scores', part=3)"
        without, with_check = (self.cell(f"{SOLUTION}\n{seeds}{between}{draws}", folder) for between in ("", check))
        assert "public tests: 3 of 3" in with_check
        assert without.strip() == with_check.strip().splitlines()[-1]

    def test_imports_from_the_folder_stay(self, folder: Path) -> None:
        """The check keeps what a notebook has imported from its own folder, and it can be imported again."""
        (folder / "helper.py").write_text("")
        before = "import os, sys\nsys.path.insert(0, os.getcwd())\nimport helper"
        after = "import helper as again\nprint('the same:', again is helper, os.getcwd() in sys.path)"
        said = self.cell(f"{before}\n{UNSCALED}\ncheck('attention_scores', part=1)\n{after}", folder)
        assert "the same: True True" in said

    def test_unknown_part(self, folder: Path) -> None:
        """A sentence, no traceback."""
        assert "has no part '9'; its parts are 1, 2, 3" in self.cell('check("attention_scores", part="9")', folder)

    def test_imported(self, folder: Path) -> None:
        """In a file that is imported it does nothing, so that a notebook that was turned into a file can be graded."""
        (folder / "work.py").write_text('from softmark.student import check\ncheck("attention_scores")\n')
        assert self.cell("import work", folder) == ""

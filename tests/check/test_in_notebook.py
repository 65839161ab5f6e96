"""`%check` and `softmark.check(...)` in a kernel of Jupyter and in IPython, on functions that no file holds."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.kernels import Kernel

SOLUTION = (ROOT / "reference/attention_scores.py").read_text()
UNSCALED = SOLUTION.replace("return S / math.sqrt(d_k)", "return S")
NOT_SCALED = "Your scores are √d_k times too large: they are not scaled."
STUBBORN = "while True:\n        try:\n            while True: pass\n        except BaseException: pass\n"


def folder_of(homework: str, place: Path) -> Path:
    """A homework's folder as a student gets it."""
    return Path(shutil.copytree(ROOT / "assignments" / homework, place))


@pytest.fixture(scope="module")
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Jupyter reads and writes nothing of the user's."""
    place = str(tmp_path_factory.mktemp("jupyter"))
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
            patch.setenv(variable, place)
        yield


@pytest.fixture(scope="module")
def running(own_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel in a homework's folder, with the extension."""
    with Kernel(folder_of("attention_scores", tmp_path_factory.mktemp("student") / "homework")) as kernel:
        assert kernel.run("import softmark\n%load_ext softmark").exception == ""
        yield kernel


@pytest.fixture
def kernel(running: Kernel) -> Kernel:
    """A notebook with the solution, in which part 3 is wrong."""
    assert running.run(UNSCALED).exception == ""
    return running


class Elements(HTMLParser):
    """The elements of a page by name, with their attributes, and the text of the whole."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, tag: str, **attributes: str) -> int:
        return sum(name == tag and attributes.items() <= has.items() for name, has in self.found)


class TestJupyter:
    """A cell of Jupyter shows the result."""

    @pytest.mark.parametrize("cell", ["%check scores", "%check 3", "softmark.check(scores)", "softmark.check(3)"])
    def test_failing(self, kernel: Kernel, cell: str) -> None:
        """A table of the part, the mistake by its name, and a picture of the difference; the same as text."""
        shown = kernel.run(cell)
        page = Elements(shown.html)
        assert shown.printed == shown.exception == ""
        assert "public tests: 1 of 3; hidden tests are run later" in page.text
        assert NOT_SCALED in page.text
        assert page.count("svg", role="img") == 1
        assert "public tests: 1 of 3" in shown.text
        assert NOT_SCALED in shown.text
        assert "<" not in shown.text

    @pytest.mark.parametrize("cell", ["%check project", "softmark.check(project)", "softmark.check('project')"])
    def test_passing(self, kernel: Kernel, cell: str) -> None:
        """One line of a table and the count."""
        page = Elements(kernel.run(cell).html)
        assert page.count("tr") == 2
        assert page.count("details") == 0
        assert "✓ passed" in page.text
        assert "public tests: 2 of 2" in page.text

    def test_function_of_a_part(self, kernel: Kernel) -> None:
        """Part 7 has two functions. Only the tests that speak of the function are run."""
        assert "public tests: 2 of 2" in kernel.run("%check padding_mask").text
        assert "public tests: 3 of 3" in kernel.run("%check 7").text

    def test_everything(self, kernel: Kernel) -> None:
        """A line for each part; the later part says which one to mend first."""
        page = Elements(kernel.run("%check").html)
        assert page.count("tr") == 8
        assert "may follow from part 3 (scores): mend that first" in page.text
        assert "public tests: 20 of 25" in page.text

    def test_by_its_name_in_the_notebook(self, kernel: Kernel) -> None:
        """A function that was wrapped has the name of its variable."""
        cell = "inner = project\ndef wrapped(*inputs):\n    return inner(*inputs)\nproject = wrapped\n"
        assert "public tests: 2 of 2" in kernel.run(f"{cell}softmark.check(project)").text

    def test_can_be_read_without_colours_and_mouse(self, kernel: Kernel) -> None:
        """Results are words. Columns and rows have headings, the region a name, and a failure opens by the keyboard."""
        page = Elements(kernel.run("%check").html)
        said = [page.text.count(words) for words in ("✓ passed", "◐ in part", "✗ failed")]
        assert said == [5, 2, 1]  # parts, parts, and the failing test of part 3, from which those of part 6 follow
        assert page.count("th", scope="col") == 4
        assert page.count("th", scope="row") == 7
        assert page.count("div", role="region") == 1
        assert page.count("details") == page.count("summary") == 1
        assert page.count("figure", tabindex="0") == 1

    def test_has_no_script_and_escapes(self, kernel: Kernel) -> None:
        """The words of a student's exception are text, whatever they look like."""
        hostile = "</td><script>alert(1)</script><img src=x onerror=alert(1)>"
        kernel.run(f"def attend(h, X):\n    raise ValueError({hostile!r})")
        page = Elements(kernel.run("%check attend").html)
        assert "attend: raised ValueError" in page.text
        assert page.count("script") == page.count("img") == 0
        assert not any(name.startswith("on") for _, has in page.found for name in has)

    def test_not_defined(self, kernel: Kernel) -> None:
        """As after a restart of the kernel: a sentence, and no table."""
        kernel.run("del causal_mask, padding_mask")
        says = (
            "softmark: causal_mask, padding_mask are not defined yet: run the cells that define them, then this one\n"
        )
        assert kernel.run("%check 7").printed == says
        assert "causal_mask is not defined yet" in kernel.run("%check causal_mask").printed

    @pytest.mark.parametrize(
        ("cell", "says"),
        [
            ("%check 9", "attention_scores has no part '9'; its parts are 1, 2, 3"),
            ("%check skores", "attention_scores does not ask for skores; it asks for attend, project, scores"),
            ("softmark.check(len)", "attention_scores does not ask for len"),
            ("softmark.check(object())", "attention_scores does not ask for an object of class object"),
            ("%check multi_head 3", "the public tests of 'multi_head' are not in"),
            ("%check 1 2 3", "%check takes a function or a part"),
        ],
    )
    def test_wrong_names(self, kernel: Kernel, cell: str, says: str) -> None:
        """One sentence with what there is, and no traceback."""
        shown = kernel.run(cell)
        assert says in shown.printed
        assert shown.printed.count("\n") == 1
        assert shown.exception == shown.text == ""

    def test_tab_key(self, kernel: Kernel) -> None:
        """It completes functions, parts and the homework."""
        assert kernel.completions("%check so") == ["softmax_rows"]
        assert {"attend", "7", "attention_scores"} <= set(kernel.completions("%check "))

    @pytest.mark.parametrize("cell", ["%check attend", "softmark.check(attend)"])
    def test_stop_button(self, kernel: Kernel, cell: str) -> None:
        """The first press ends an endless loop, without the frames of the tests, and the kernel goes on."""
        kernel.run(f"def attend(h, X):\n    print('HERE', flush=True)\n    {STUBBORN}")
        shown = kernel.run(cell, interrupt_at="HERE")
        assert (shown.exception, shown.html) == ("KeyboardInterrupt", "")
        assert "the check was stopped" in shown.traceback[-1]
        assert "pytest" not in "".join(shown.traceback)
        assert kernel.run("print('1 + 1 is', 1 + 1)").printed == "1 + 1 is 2\n"


class TestWhichHomework:
    """The homework is found by the folder and the name."""

    @pytest.fixture
    def course(self, tmp_path: Path) -> Path:
        """Two homeworks that both ask for `encode`, beside each other."""
        for name in ("byte_pair_encoding", "text_features"):
            folder_of(name, tmp_path / name)
        return tmp_path

    @staticmethod
    def said(place: Path, code: str) -> str:
        source = f"import softmark\n{code}\n"
        done = subprocess.run([sys.executable, "-c", source], cwd=place, capture_output=True, text=True, check=True)
        return " ".join(done.stdout.split())

    def test_several_fit(self, course: Path) -> None:
        """One sentence says how to name it."""
        said = self.said(course, "def encode(*inputs): pass\nsoftmark.check(encode)")
        names = "encode is asked for by several homeworks, byte_pair_encoding, text_features: name one, as in "
        assert (
            f'{names}softmark.check("encode", homework="byte_pair_encoding") or %check byte_pair_encoding encode'
            in said
        )

    def test_named(self, course: Path) -> None:
        """By the homework's name, in either of two ways."""
        for call in ('softmark.check(encode, homework="text_features")', 'softmark.check("text_features", part=3)'):
            said = self.said(course, f"def encode(*inputs): raise NotImplementedError\n{call}")
            assert "Text features" in said
            assert "From texts to ids and back" in said

    def test_what_else_the_notebook_has(self, course: Path) -> None:
        """The homework of which it has most functions."""
        said = self.said(course, "def encode(*inputs): pass\ndef ngrams(*inputs): pass\nsoftmark.check(encode)")
        assert "Text features" in said

    def test_folder_above(self, course: Path) -> None:
        """A notebook in a folder of its own, beside the homework; examples of something else are passed over."""
        inside = course / "notebooks/mine"
        inside.mkdir(parents=True)
        (course / "notebooks/examples.json").write_text("[]")
        assert "Text features" in self.said(inside, "def cosine(X, Y): pass\nsoftmark.check(cosine)")

    def test_nowhere(self, tmp_path: Path) -> None:
        """Where there is no homework, it says where to put it."""
        assert "put the homework's folder beside the notebook" in self.said(tmp_path, "softmark.check(1)")


def test_ipython_on_a_terminal(own_settings: None, tmp_path: Path) -> None:
    """There it is text, with the same words."""
    folder = folder_of("attention_scores", tmp_path / "homework")
    (folder / "work.py").write_text(UNSCALED)
    typed = "%load_ext softmark\n%run work.py\n%check scores\n%check softmax_rows\n"
    command = [sys.executable, "-m", "IPython", "--simple-prompt", "--colors=NoColor"]
    done = subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, check=True)
    said = " ".join(done.stdout.replace("│", " ").split())
    assert NOT_SCALED in said
    assert "public tests: 1 of 3" in said
    assert "public tests: 3 of 3" in said
    assert "<table" not in said

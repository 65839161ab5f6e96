"""An import that grading lacks costs only what uses it, in a file and in a notebook alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, refusal, write_course
from tests.support.notebooks import job, written
from tests.support.sandboxes import sandbox

HIDDEN = '''
@number("1")
@weight(2)
def test_one(student):
    """One."""
    agree(student.one, lambda x: x + 1, 1.0)


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, 3.0)
'''
ONE, TWO = "def one(x):\n    return x + 1\n", "def two(x):\n    return x * 2\n"
LACKS = "which is not installed where it is graded"
REST = "what uses it fails, everything else is graded"
WITHOUT = "write this without it; torch and NumPy are there"


@pytest.fixture(scope="module", params=["walled", "bare"])
def place(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox(request.param) as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN, (2, 2))


@pytest.fixture(scope="module")
def whole_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_course(tmp_path_factory.mktemp("whole"), HIDDEN, (2, 2))
    config = root / "graders/tiny/homework.toml"
    config.write_text("whole_notebook = true\n" + config.read_text())
    return root


def of_file(course: Path, place: Sandbox, source: str, **beside: str) -> Result:
    files = {FILE: source.encode(), **{f"{name}.py": text.encode() for name, text in beside.items()}}
    (result,) = grade(course, place, Job(Submission(id="one"), SubmittedFiles(FILE, files)))
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def of_notebook(course: Path, place: Sandbox, *cells: str) -> Result:
    (result,) = grade(course, place, job("tiny.ipynb", written(*cells)))
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def earned(result: Result) -> list[float]:
    return [part.earned for part in result.parts]


def facts(result: Result) -> list[str]:
    return [verdict.fact for test in result.tests for verdict in test.verdicts]


NO_MATTER = {
    "import": "import matplotlib.pyplot as plt",
    "several in one line": "import math, seaborn as sns; import pandas as pd\nassert math.pi > 3",
    "a name of a module": "from torch.nn import NoSuchThing, Linear\nassert Linear",
    "submodule": "import tensorboard.compat.tools\ntensorboard.compat.tools.run()",
    "plots": "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.rcParams['a'] = 1\n"
    "fig, (left, right) = plt.subplots(1, 2)\nfor axis in (left, right):\n    axis.plot([1])\n"
    "with plt.style.context('b'):\n    plt.plot([1])\nplt.show()",
    "data": "import pandas as pd\nimport torch\ndata = pd.read_csv('x.csv')\nX = torch.tensor(data.values)\n"
    "y = float(X.mean()) + 1",
    "calls of one's own": "import matplotlib.pyplot as plt\ndef draw():\n    plt.plot([1])\ndraw()\nx = draw()",
    "set by a function": "def setup():\n    global plt\n    import matplotlib.pyplot as plt\nsetup()\nplt.plot([1])",
    "base class": "from torchvision import datasets\nclass Own(datasets.MNIST):\n    pass\nown = Own()",
    "type hints": "from jaxtyping import Float\nfrom torch import Tensor\nx: Float[Tensor, 'n d'] | None = None",
    "default value": "import matplotlib as mpl\ndef show(x, colours=mpl.cm.viridis):\n    return 1",
    "decorator": "from numba import njit\n@njit\ndef fast(x):\n    return x",
    "condition": "import wandb\nif wandb.run:\n    z = 1",
    "way out": "try:\n    import seaborn as sns\nexcept ImportError:\n    sns = None\nassert sns is None",
    "raised in a try": "try:\n    import seaborn\nfinally:\n    x = 1",
    "relative": "from .helper import something",
    "not handed in": "from helper import *",
    "itself": "from tiny import one",
    "Colab": "from google.colab import drive, files\ndrive.mount('/content/drive')\nup = files.upload()",
    "IPython": "from IPythn.display import display\ndisplay(1)",
    "self-checks": "import softmark\nfrom softmark import check\nsoftmark.check(1)\n"
    "from softmark.student import check as again\nagain('one', part=1)\n"
    "for i in (1, 2):\n    softmark.check(i)\n    check('one')\ncheck()",
    "self-checks of a notebook": "get_ipython().run_line_magic('load_ext', 'softmark')\n"
    "get_ipython().run_line_magic('check', 'one')",
    "made of a notebook": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "future": "from __future__ import annotations\nimport seaborn\ndef f(x: Nothing) -> Nothing: ...",
}


@pytest.mark.parametrize("top", NO_MATTER.values(), ids=NO_MATTER)
class TestCostsNothing:
    """What no function of a part needs is left out, wherever it stands."""

    def test_in_a_file(self, course: Path, place: Sandbox, top: str) -> None:
        """At the top, and at the end."""
        first, last = of_file(course, place, f"{top}\n{ONE}{TWO}"), of_file(course, place, f"{ONE}{TWO}\n{top}\n")
        at_the_end = "from __future__" not in top
        assert earned(first) == [2.0, 2.0], (first.reason, facts(first))
        assert not at_the_end or earned(last) == [2.0, 2.0], (last.reason, facts(last))

    def test_in_a_notebook(self, course: Path, whole_course: Path, place: Sandbox, top: str) -> None:
        """Where only definitions are run, and where everything is."""
        for root in (course, whole_course):
            result = of_notebook(root, place, top, ONE, TWO)
            assert earned(result) == [2.0, 2.0], (root, result.reason, facts(result))


class TestWhatNeedsIt:
    """A function that uses what is absent fails, and says which library it is, and where it is imported."""

    USES = "import math\nimport einops as E\n\ndef one(x):\n    return E.rearrange(x)\n"

    def test_in_a_file(self, course: Path, place: Sandbox) -> None:
        """The line that uses it is shown; a note names the import."""
        result = of_file(course, place, self.USES + TWO)
        assert earned(result) == [0.0, 2.0]
        assert facts(result) == [f"one: needs `einops`, {LACKS}: {WITHOUT} (it is imported on line 2)"]
        assert result.tests[0].verdicts[0].frames[-1].text == "return E.rearrange(x)"
        assert result.notes == (f"tiny.py, line 2: needs `einops`, {LACKS}: {REST}",)

    def test_in_a_notebook(self, course: Path, place: Sandbox) -> None:
        """The same words, with the cell for a place."""
        result = of_notebook(course, place, self.USES, TWO)
        assert earned(result) == [0.0, 2.0]
        assert facts(result) == [f"one: needs `einops`, {LACKS}: {WITHOUT} (it is imported on line 2)"]
        assert f"cell 1, line 2: needs `einops`, {LACKS}: {REST}" in result.notes

    @pytest.mark.parametrize(
        "defined",
        [
            "import numba\n@numba.njit\ndef one(x):\n    return x + 1\n",
            "import numba\none = numba.jit(lambda x: x + 1)\n",
            "from numba import one\n",
            "import numba\nclass Net(numba.Base):\n    pass\ndef one(x):\n    return Net()(x)\n",
        ],
    )
    def test_made_with_it(self, course: Path, place: Sandbox, defined: str) -> None:
        """What would have been made with it is absent, too, and points to the import if to nothing else."""
        for result in (of_file(course, place, defined + TWO), of_notebook(course, place, defined, TWO)):
            assert earned(result) == [0.0, 2.0]
            assert facts(result)[0].startswith(f"one: needs `numba`, {LACKS}: {WITHOUT}")
            assert result.tests[0].verdicts[0].frames

    def test_all_names_of_it(self, course: Path, place: Sandbox) -> None:
        """Of `import *` it cannot be known which names it would have brought: the import is named with each."""
        result = of_file(course, place, f"from helper import *\n{TWO}")
        assert earned(result) == [0.0, 2.0]
        assert facts(result) == [
            "one: `one` is not defined in the file, perhaps because of tiny.py, line 1: imports `helper`, which is "
            "neither a file that was handed in nor installed where it is graded: hand in helper.py, too, if it is yours"
        ]

    def test_nothing_else_is_there(self, course: Path, place: Sandbox) -> None:
        """A file of which nothing is left says which import it was."""
        result = of_file(course, place, "from helper import one, two\n")
        assert result.status is Status.NOT_GRADABLE
        assert "; its tiny.py, line 1: imports `helper`, which is neither a file" in result.reason

    def test_another_error_still_ends_the_file(self, course: Path, place: Sandbox) -> None:
        """Only what is absent is forgiven."""
        result = of_file(course, place, f"import seaborn\nx = 1 / 0\n{ONE}{TWO}")
        assert result.reason == "tiny.py could not be loaded: raised ZeroDivisionError (division by zero)"
        assert [frame.line for frame in result.reason_frames] == [2]


class TestHelpers:
    """Files that are handed in beside are imported in the same way."""

    def test_helper_that_plots(self, course: Path, place: Sandbox) -> None:
        """Its functions that need no plot work, also for `import *`."""
        helper = f"import matplotlib.pyplot as plt\nplt.style.use('x')\n{ONE}{TWO}"
        result = of_file(course, place, "from helper import *\n", helper=helper)
        assert earned(result) == [2.0, 2.0]
        assert result.notes == (f"helper.py, line 1: needs `matplotlib`, {LACKS}: {REST}",)

    @pytest.mark.parametrize(
        "imports",
        ["from .more import missing, one, two", "from . import more, missing\none, two = more.one, more.two"],
        ids=["of a module", "of the package"],
    )
    def test_helper_that_imports_what_is_beside_it(self, course: Path, place: Sandbox, imports: str) -> None:
        """One name that is not there costs none of the others, and they come from the package itself."""
        package = {"own/__init__": "", "own/inner": f"{imports}\n", "own/more": f"{ONE}{TWO}"}
        result = of_file(course, place, "from own.inner import one, two\n", **package)
        assert earned(result) == [2.0, 2.0], (result.reason, facts(result))

    def test_helper_that_is_called_as_a_module_of_python(self, course: Path, place: Sandbox) -> None:
        """A file beside stands in for nothing: Python's own module is imported."""
        top = "import colorsys\nassert colorsys.rgb_to_hls(0, 0, 0) == (0, 0, 0)\n"
        result = of_file(course, place, f"{top}{ONE}{TWO}", colorsys="def rgb_to_hls(*rgb):\n    return None\n")
        assert earned(result) == [2.0, 2.0], (result.reason, facts(result))

    def test_helpers_in_a_circle(self, course: Path, place: Sandbox) -> None:
        """It says which file imports which."""
        helper = "from tiny import one\ndef two(x):\n    return one(x)\n"
        result = of_file(course, place, f"from helper import two\n{ONE}", helper=helper)
        assert earned(result)[0] == 2.0
        assert facts(result)[0].startswith("two: imports `one` from `tiny`, which imports this file: ")

    def test_name_that_a_helper_lacks(self, course: Path, place: Sandbox) -> None:
        """A misspelt name of one's own file is no library."""
        result = of_file(course, place, f"from helper import twoo as two\n{ONE}", helper=TWO)
        assert earned(result) == [2.0, 0.0]
        fact = "two: imports `twoo` from `helper.py`, which does not define it: check how it is spelt"
        assert facts(result) == [fact]


class TestPackages:
    """`packages` in homework.toml names what students may import beside."""

    def test_not_installed(self, tmp_path: Path, place: Sandbox) -> None:
        """A package that is promised and not there is refused before anything is graded."""
        assert refusal(self.course(tmp_path, "nothing_like_it"), place) == (
            "graders/tiny/homework.toml:1: packages: 'nothing_like_it' is not installed here: "
            "install it where submissions are graded"
        )

    def test_installed(self, tmp_path: Path, place: Sandbox) -> None:
        """One that is there changes nothing."""
        assert earned(of_file(self.course(tmp_path, "msgspec"), place, f"import msgspec\n{ONE}{TWO}")) == [2.0, 2.0]

    def course(self, root: Path, package: str) -> Path:
        write_course(root, HIDDEN, (2, 2))
        config = root / "graders/tiny/homework.toml"
        config.write_text(f'packages = ["{package}"]\n{config.read_text()}')
        return root

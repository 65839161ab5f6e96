"""Notebooks, graded by the real engine in real student processes: what is run of them, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from softmark.authoring.notebook import notebook as made_notebook
from softmark.batch.one import grade_file
from softmark.course.homework import homework_names, load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.cells import CellReport
from softmark.intake.model import COUNTED, SubmittedFiles
from softmark.records.result import Result, Status
from softmark.records.verdict import CodeLine
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Loaded
from tests.support.course import grade, write_course
from tests.support.notebooks import code, job, markdown, written
from tests.support.sandboxes import STRONGEST, sandbox

ROOT = Path(__file__).parents[2]
NAME = "tiny.ipynb"
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
RULES = '[[forbidden]]\nnames = ["torch.nn.functional.gelu"]\ninstead = "write it with torch.erf"\n'
ONE = "def one(x):\n    return x + 1\n"
TWO = "def two(x):\n    return x * 2\n"
LOOPS = "def train():\n    for i in range(9):\n        y = i\n    return 2\n"
NEVER = "while True:\n    pass\n"


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN, (2, 2), more=RULES)


@pytest.fixture(scope="module")
def whole_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_course(tmp_path_factory.mktemp("whole"), HIDDEN, (2, 2))
    config = root / "graders/tiny/homework.toml"
    config.write_text("whole_notebook = true\n" + config.read_text())
    return root


def graded(root: Path, place: Sandbox, *cells: Any) -> Result:
    (result,) = grade(root, place, job(NAME, written(*cells)))
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def earned(result: Result) -> list[float]:
    return [part.earned for part in result.parts]


def facts(result: Result) -> list[str]:
    return [verdict.fact for test in result.tests for verdict in test.verdicts]


def frames(result: Result) -> list[CodeLine]:
    return [frame for test in result.tests for verdict in test.verdicts for frame in verdict.frames]


FULL_MARKS: dict[str, tuple[Any, ...]] = {
    "definitions": (ONE, TWO),
    "one cell": (ONE + TWO,),
    "experiments": (ONE, "print(one(1))\none(2)\nassert one(1) == 3", TWO, "raise RuntimeError('no')", NEVER),
    "a training run": (ONE, "def train():\n    while True: pass", "history = train()", "for i in [1]: train()", TWO),
    "a training run in an assignment that nothing needs": (ONE, TWO, "y = [0] * 10**12", "z = sum(range(10**12))"),
    "an object that trains": (
        "class Net:\n    def fit(self):\n        while True: pass\n",
        "net = Net()",
        "loss = net.fit()",
        ONE,
        TWO,
    ),
    "main": (ONE, TWO, "if __name__ == '__main__':\n    while True: pass"),
    "magics": ("%matplotlib inline\n!pip install torch \\\n  numpy\n?print\nimport math?\n%cd ..\n" + ONE, TWO),
    "magics in the middle": (ONE + "files = !ls\n%timeit one(1)\n" + TWO + "!echo 'it\n!echo (\n",),
    "an operator that looks like a magic": (
        "A = (7\n%sum([4]))\n%matplotlib inline\n",
        "def one(x): return x + A - 2",
        TWO,
    ),
    "cell magics": (
        "%%bash\nrm -rf /",
        "%%writefile x.py\ndef one(x): return 0",
        "%%time\n" + ONE,
        "# a\n%%capture\n" + TWO,
    ),
    "an indented cell": ("    def one(x):\n        return x + 1\n", TWO),
    "constants": ("N = 1\nM: int = N + 1\nA, B = M, [M]\nB[0] -= 1", "def one(x): return x + B[0]", TWO),
    "a constant below its function": ("def one(x): return x + N", TWO, "N = 1"),
    "a library's constant": (
        "import torch, math\nN = int(torch.ones(3).sum() / math.sqrt(9))",
        "def one(x): return x + N",
        TWO,
    ),
    "a constant from an own function": (
        "def a(): return b()\ndef b(): return 1\nN = a()",
        "def one(x): return x + N",
        TWO,
    ),
    "an object of an own class": ("class C:\n    n = 1\nc = C()", "def one(x): return x + c.n", TWO),
    "a constant under a condition": ("if 1 > 0:\n    N = 1\nelse:\n    N = 2", "def one(x): return x + N", TWO),
    "a lambda": ("one = lambda x: x + 1", TWO),
    "a lambda that calls what loops": (LOOPS, "one = lambda x: x + train() - 1", TWO),
    "lambdas that call what loops": (
        LOOPS,
        "ways = {'one': [lambda x: x + train() - 1], 'zero': lambda x: train() - 2}",
        "def one(x): return ways['one'][0](x) + ways['zero'](x)",
        TWO,
    ),
    "another name": ("def mine(x): return x + 1", "one = mine", TWO),
    "made of another": ("import functools\ndef add(x, y): return x + y", "one = functools.partial(add, y=1)", TWO),
    "a decorator": ("def same(f): return f", "@same\n" + ONE, TWO),
    "a method added later": ("class C: pass", "def n(self): return 1\nC.n = n", "def one(x): return x + C().n()", TWO),
    "imports that fail": ("import nothing_like_it\nimport math", "def one(x): return x + math.cos(0)", TWO),
    "imports with a way out": (
        "try:\n    import nothing_like_it\nexcept ImportError:\n    !pip install it\n    from math import cos",
        "def one(x): return x + cos(0)",
        TWO,
    ),
    "type checking": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nothing_like_it", ONE, TWO),
    "annotations of the future": (
        "from __future__ import annotations",
        "def one(x: Nothing) -> Nothing: return x + 1",
        TWO,
    ),
    "imports at the end": ("def one(x: math.inf): return x + math.cos(0)", TWO, "import math"),
    "classes upside down": (
        "class A(B): pass",
        "class B(C): pass",
        "class C:\n    n = 1",
        "def one(x): return x + A.n",
        TWO,
    ),
    "the last one counts": ("def one(x): return 0", TWO, ONE),
    "the last one counts though the first was late": (
        "@later\ndef one(x): return 0",
        ONE,
        "def later(f): return f",
        TWO,
    ),
    "a syntax error in an older cell": ("def one(x):\n    return x +\n", ONE, TWO),
    "magics that check": ("%load_ext softmark", ONE, "%check one", TWO + "%check", "x = 1\n%check tiny 2\n%check 1"),
    "checks by a function": ("import softmark", f"{ONE}softmark.check(one)", TWO, "softmark.check()\ncheck = softmark"),
    "self-checks": ("from softmark.student import check", ONE, 'check("tiny", part="1")', TWO, "check()"),
    "top-level await": (ONE, "async def f(): return 1", "x = await f()", "async with f(): pass", TWO),
    "a return outside": (ONE, "if True:\n    return 5", TWO),
    "a cell that was code": (ONE, markdown(TWO)),
    "R": ("x <- c(1, 2)", ONE, TWO),
    "nothing but a NUL": ("x = '\0'", ONE, TWO),
    "another encoding": ("# -*- coding: utf-7 -*-\n" + ONE, TWO),
    "nested too deeply": ("(" * 5000, "x = " + "-" * 100_000 + "1", ONE, TWO),
    "a long chain of conditions": ("if 0: pass\n" + "elif 0: pass\n" * 1200, ONE, TWO),
    "a long chain of attributes": ("x = a" + ".a" * 1200, ONE, TWO),
    "a source of nested lists": (code([["def one(x):\n"], ["    return x + 1\n"]]), TWO),
}


@pytest.mark.parametrize("cells", FULL_MARKS.values(), ids=FULL_MARKS)
class TestFullMarks:
    """Notebooks that earn all there is."""

    def test_earns_all(self, course: Path, place: Sandbox, cells: tuple[Any, ...]) -> None:
        """Whatever stands around the definitions."""
        result = graded(course, place, *cells)
        assert earned(result) == [2.0, 2.0], (result.reason, result.notes, facts(result))


class TestWhatIsLost:
    """What is broken costs what it defines, and says where it is."""

    def test_a_cell_that_does_not_parse(self, course: Path, place: Sandbox) -> None:
        """Only the part that it defines is lost, with cell, line and reason; the note says it too."""
        result = graded(course, place, ONE, "# two\ndef two(x):\n    return x *\n")
        assert earned(result) == [2.0, 0.0]
        assert facts(result) == ["two: the notebook's cell 2, line 3: invalid syntax"]
        assert frames(result) == [CodeLine(file="cell 2", line=3, function="", text="return x *")]
        assert result.notes == (COUNTED, "cell 2, line 3: invalid syntax")

    def test_a_definition_that_raises(self, course: Path, place: Sandbox) -> None:
        """So does a decorator or a default value that raises; what else is in the cell is there."""
        result = graded(course, place, ONE + "def two(x, y=1 / 0):\n    return x * 2\n")
        assert earned(result) == [2.0, 0.0]
        why = "cell 1, line 3: raised ZeroDivisionError (division by zero)"
        assert facts(result) == [f"two: the notebook's {why}"]
        assert result.notes == (COUNTED, why)

    def test_a_name_that_is_nowhere(self, course: Path, place: Sandbox) -> None:
        """A definition that lacks a name is tried again, and then told."""
        result = graded(course, place, ONE, "@nowhere\n" + TWO)
        assert earned(result) == [2.0, 0.0]
        nowhere = "uses `nowhere`, which is defined nowhere: check how it is spelt, or define it"
        assert facts(result) == [f"two: the notebook's cell 2, line 1: {nowhere}"]

    def test_nothing_is_left(self, course: Path, place: Sandbox) -> None:
        """Of a notebook none of whose cells can be read, the first reason stands at the top."""
        result = graded(course, place, "def one(x):\n    return x +\n")
        assert result.status is Status.NOT_GRADABLE
        assert result.reason == (
            "tiny.ipynb could not be loaded: it defines none of the names that are asked for (`one`, `two`); "
            "its cell 1, line 2: invalid syntax"
        )
        assert result.reason_frames == (CodeLine(file="cell 1", line=2, function="", text="return x +"),)

    def test_a_misspelt_name(self, course: Path, place: Sandbox) -> None:
        """It is found in whatever cell it is."""
        result = graded(course, place, ONE, "x = 1", "\ndef twoo(x):\n    return x * 2\n")
        assert facts(result) == ["two: `two` is not defined in the file; is your `twoo` meant to be it?"]
        assert frames(result) == [CodeLine(file="cell 3", line=2, function="", text="def twoo(x):")]

    def test_where_a_call_raises(self, course: Path, place: Sandbox) -> None:
        """Every line that an exception passes through is named by its cell, across cells."""
        result = graded(
            course, place, "def inner(x):\n    raise ValueError('no')", ONE, "def two(x):\n    return inner(x)\n"
        )
        assert frames(result) == [
            CodeLine(file="cell 3", line=2, function="", text="return inner(x)"),
            CodeLine(file="cell 1", line=2, function="", text="raise ValueError('no')"),
        ]
        assert result.notes == (COUNTED,)

    def test_a_value_that_is_not_computed(self, course: Path, place: Sandbox) -> None:
        """What is left out although a function needs it is named, with its text."""
        result = graded(course, place, ONE, LOOPS, "x = 1\nN = train()", "def two(x): return x * N")
        assert earned(result) == [2.0, 0.0]
        assert result.notes == (
            COUNTED,
            "cell 3, line 2 was not run, though your functions need what it sets: `N = train()`; of a notebook only "
            "imports, functions, classes and simple constants are run",
        )

    @pytest.mark.parametrize(
        "value",
        [
            "train()",
            "again(3)",
            "[train() for i in range(2)]",
            "Net().fit()",
            "net.fit()",
            "through()",
            "(lambda: 2)() + train()",
        ],
    )
    def test_what_may_take_long(self, course: Path, place: Sandbox, value: str) -> None:
        """A function that loops, calls itself or uses one that does, and a method of an own object, are not called."""
        cells = [
            "def again(n): return again(n - 1) if n else 2\ndef through(): return train()",
            "class Net:\n    def fit(self): return 2\nnet = Net()",
        ]
        result = graded(course, place, ONE, LOOPS, *cells, f"N = {value}", "def two(x): return x * N")
        assert earned(result) == [2.0, 0.0]
        assert result.notes[1].startswith("cell 5, line 1 was not run, though your functions need what it sets: ")

    def test_a_table_that_is_filled_by_a_loop(self, course: Path, place: Sandbox) -> None:
        """A loop is not run, and what it changes may be needed."""
        result = graded(course, place, ONE, "T = {}", "for i in range(9):\n    T[i] = 2 * i", "def two(x): return T[x]")
        assert earned(result) == [2.0, 0.0]
        assert result.notes[1].startswith("cell 3, line 1 was not run, though your functions need what it sets: `for i")

    def test_defined_more_than_once(self, course: Path, place: Sandbox) -> None:
        """A note says which cells define a part's function."""
        result = graded(course, place, "def one(x): return 0", TWO, "x = 5", ONE, TWO, "def one(x): return x + 1")
        assert earned(result) == [2.0, 2.0]
        assert set(result.notes) == {
            COUNTED,
            "`one` is defined in cells 1, 4 and 6; the last one counts",
            "`two` is defined in cells 2 and 5; the last one counts",
        }

    def test_twenty_cells(self, course: Path, place: Sandbox) -> None:
        """One of twenty with a syntax error and one that raises: the rest is graded."""
        cells = [f"K{n} = {n}" for n in range(16)] + ["def f(:\n", ONE, "1 / 0", TWO]
        assert earned(graded(course, place, *cells)) == [2.0, 2.0]

    def test_same_words_as_a_file(self, course: Path, place: Sandbox) -> None:
        """A wrong answer is told as in a file, but for the place."""
        wrong = ONE + "def two(x):\n    return None\n"
        (of_file,) = grade(course, place, wrong)
        of_notebook = graded(course, place, wrong)
        assert facts(of_notebook) == facts(of_file)
        assert earned(of_notebook) == earned(of_file) == [2.0, 0.0]

    def test_forbidden_names(self, course: Path, place: Sandbox) -> None:
        """A mention is found in its cell, through an import in another one."""
        result = graded(course, place, ONE, TWO, "import torch.nn.functional as F", "def f(x):\n    return F.gelu(x)")
        assert any(
            note.startswith("mentions torch.nn.functional.gelu in cell 4, line 2 ") for note in result.staff_notes
        )


class TestWhole:
    """`whole_notebook = true`: everything is run, as Jupyter does it."""

    def test_everything_runs(self, whole_course: Path, place: Sandbox) -> None:
        """Loops, calls of one's own functions and top-level await, but no magic."""
        cells = [
            "%matplotlib inline\nT = {}\nfor i in range(9):\n    T[i] = 2 * i",
            "async def f():\n    return 1",
            "N = await f()",
            "def one(x):\n    return x + N",
            "def two(x):\n    return float(T[x])",
        ]
        result = graded(whole_course, place, *cells)
        assert earned(result) == [2.0, 2.0], facts(result)
        assert result.notes == ()

    def test_a_cell_that_raises(self, whole_course: Path, place: Sandbox) -> None:
        """It ends there and is told; later cells go on."""
        result = graded(whole_course, place, "x = 1\n1 / 0\n" + ONE, TWO, "def one(x): return x", "exit()")
        assert earned(result) == [0.0, 2.0]
        assert result.notes[:2] == (
            COUNTED,
            "cell 1, line 2: raised ZeroDivisionError (division by zero)",
        )

    def test_the_import_limit_holds(self, whole_course: Path, place: Sandbox) -> None:
        """A training run that takes too long costs everything, as the import of a file does."""
        result = graded(whole_course, place, ONE, TWO, NEVER)
        assert result.status is Status.NOT_GRADABLE
        assert result.reason.startswith("tiny.ipynb could not be loaded: no answer within ")

    def test_self_checks_do_nothing(self, whole_course: Path, place: Sandbox) -> None:
        """What a starter checks itself with is no part of the work."""
        old = graded(whole_course, place, "from softmark.student import check", ONE, TWO, 'check("tiny", part="1")')
        loop = f"for f in ('one', 2):\n    softmark.check(f)\nelse:\n    softmark.check()\n{TWO}%check two"
        new = graded(whole_course, place, "import softmark\n%load_ext softmark", f"{ONE}%check one", loop)
        for result in (old, new):
            assert earned(result) == [2.0, 2.0]
            assert result.notes == ()

    def test_checks_take_no_part_in_the_result(self, course: Path, place: Sandbox) -> None:
        """A notebook with the lines is graded as without, also where a part of it is wrong."""
        wrong = "def one(x):\n    return x + 2\n"
        with_checks = (
            "import softmark\n%load_ext softmark",
            wrong,
            "softmark.check(one)",
            f"{TWO}\n%check two",
            "%check",
        )
        lines = [case.verdicts for test in graded(course, place, *with_checks).tests for case in test.cases]
        without = [case.verdicts for test in graded(course, place, wrong, TWO).tests for case in test.cases]
        assert lines == without
        assert earned(graded(course, place, *with_checks)) == [0.0, 2.0]


class TestReport:
    """A worker may say anything about its cells; only what can be so is repeated."""

    HANDED = SubmittedFiles(NAME, {"cell 1": b"def one(x): pass\nN = f()\n", "data.py": b"x"}, ("cell 1",))

    @pytest.mark.parametrize(
        "said",
        [
            {"failed": [Raised("E", "m"), Raised("E", "m", (Frame("cell 9", 1, "", "secret"),))]},
            {
                "failed": [
                    Raised("E", "m", (Frame("data.py", 1, "", ""),)),
                    Raised("E", "m", (Frame("cell 1", 9, "", ""),)),
                ]
            },
            {"unset": [(0, 99), (1, 1)]},
            {"several": [("one", [0, 0]), ("two", [0, 1]), ("secret", [0, 1])]},
        ],
    )
    def test_what_cannot_be_is_dropped(self, said: Any) -> None:
        """Places that do not exist, and names that nobody asked for."""
        assert CellReport.told(Loaded({}, **said), self.HANDED, ("one", "two")).notes == ()

    def test_which_cells_define_a_name_is_looked_up(self) -> None:
        """Only cells in which the name stands are named, and of many only the last."""
        cells = {f"cell {number}": b"def one(x): pass\n" if number % 2 else b"two = 2\n" for number in range(1, 21)}
        handed = SubmittedFiles(NAME, cells, tuple(cells))
        (note,) = CellReport.told(Loaded({}, several=[("one", [0, 1, 2, 3])]), handed, ("one",)).notes
        assert note == "`one` is defined in cells 1 and 3; the last one counts"
        (note,) = CellReport.told(Loaded({}, several=[("one", list(range(8)))]), handed, ("one",)).notes
        assert note == "`one` is defined in cells 1, 3, 5 and 7; the last one counts"
        (note,) = CellReport.told(Loaded({}, several=[("one", list(range(9)))]), handed, ("one",)).notes
        assert note == "`one` is defined in 5 cells, last in cell 9; the last one counts"
        (note,) = CellReport.told(Loaded({}, several=[("one", list(range(20)))]), handed, ("one",)).notes
        assert note == "`one` is defined in 10 cells, last in cell 19; the last one counts"

    def test_no_more_than_a_few(self) -> None:
        """However much a worker says."""
        report = CellReport.told(Loaded({}, unset=[(0, 2)] * 100), self.HANDED, ("one",))
        assert len(report.notes) == 8

    def test_only_of_a_notebook(self) -> None:
        """A file has no cells."""
        handed = SubmittedFiles("tiny.py", {"tiny.py": b"N = f()\n"})
        assert CellReport.told(Loaded({}, unset=[(0, 1)]), handed, ("one",)).notes == ()


@pytest.mark.parametrize("name", homework_names(ROOT))
class TestStarters:
    """The course's own notebooks, from a file on disk to the result."""

    def test_the_starter_has_no_points(self, name: str) -> None:
        """Nothing is done yet, and every part says so."""
        result = graded_file(ROOT / f"assignments/{name}/{name}.ipynb", name)
        assert result.total == 0
        facts = [verdict.fact.partition(": ")[2] for test in result.tests for verdict in test.verdicts]
        assert {fact.partition("; ")[0] for fact in facts} == {"not implemented yet"}
        assert result.notes == (COUNTED,)

    def test_solved_it_has_all(self, name: str, tmp_path: Path) -> None:
        """With the solution in the places of what was to be done; nothing is left to say."""
        homework = load_homework(name, ROOT)
        readme = (ROOT / f"assignments/{name}/README.md").read_text()
        file = tmp_path / "My homework (1).ipynb"
        file.write_bytes(made_notebook(homework.reference.read_text(), readme, homework))
        result = graded_file(file, name)
        assert result.total == result.max_score, facts(result)
        assert result.notes == ()


def test_what_is_no_notebook(tmp_path: Path) -> None:
    """A file that only has a notebook's name is refused with the reason."""
    file = tmp_path / "attention_scores.ipynb"
    file.write_text("<html>")
    result = graded_file(file, "attention_scores")
    assert result.status is Status.NOT_GRADABLE
    assert result.reason.startswith("the file is a web page (HTML), not a notebook")


def graded_file(file: Path, homework: str) -> Result:
    loaded = load_homework(homework, ROOT)
    with LocalEngine(GradingSpec.of(loaded, str(STRONGEST))) as engine:
        return grade_file(file, loaded, engine)

"""Which statements of a notebook are run, what they leave in the module, and what is told of the others."""

from __future__ import annotations

import ast
import types
from pathlib import Path
from typing import Any

import pytest

from softmark.sandbox.wire.protocol import Cells
from softmark.sandbox.worker.cells import CellRun, parse_cell

MANY = "".join(f"elif x == {n}: pass\n" for n in range(300))


class Ran:
    """A notebook that has been run."""

    def __init__(self, folder: Path, cells: tuple[str, ...], whole: bool, wanted: str) -> None:
        names = tuple(f"cell {n}.py" for n in range(len(cells)))
        for name, text in zip(names, cells, strict=True):
            (folder / name).write_text(text, newline="")
        self.module = types.ModuleType("notebook")
        run = CellRun(str(folder), Cells(names, frozenset(wanted.split()), whole))
        run.run_in(self.module)
        self.told = run.told()

    def __getitem__(self, name: str) -> Any:
        return vars(self.module)[name]

    @property
    def names(self) -> set[str]:
        return {name for name in vars(self.module) if not name.startswith("__")}

    @property
    def failed(self) -> list[tuple[str, str, int, str]]:
        """What was raised: class, cell, line and message."""
        return [(r.cls, r.frames[-1].file, r.frames[-1].line, r.message) for r in self.told["failed"]]


class Notebook:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, *cells: str, whole: bool = False, wanted: str = "f") -> Ran:
        return Ran(self._folder, cells, whole, wanted)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


USED = "def f(): return W\n"


class TestWhatIsRun:
    @pytest.mark.parametrize(
        ("cell", "names"),
        [
            ("import math\nfrom os import path as p", {"math", "p"}),
            ("def f(): pass\nclass A: pass\nasync def g(): pass", {"f", "A", "g"}),
            ("f = lambda x: x", {"f"}),
            ("print('x')\n1 / 0\nassert False\ndel x", set()),
            ("W = 1", set()),
            (f"W = 1\nV = 2\n{USED}", {"W", "f"}),
            (f"V = 1\nW = V + 1\n{USED}", {"V", "W", "f"}),
            (f"W: int = 1\n{USED}", {"W", "f"}),
            (f"W = 1\nW += 1\n{USED}", {"W", "f"}),
            (f"W, V = 1, 2\n{USED}", {"W", "V", "f"}),
            ("def f(x=W): pass\nW = 1", {"W", "f"}),
            ("@W\ndef f(): pass\nW = staticmethod", {"W", "f"}),
            ("def now(g): return g()\n@now\ndef table(): return W\nW = 1", {"W", "now", "table"}),
            ("class A:\n    size = W\nW = 1", {"W", "A"}),
            ("class A:\n    def size(self): return W\nW = 1", {"A"}),
            ("f = lambda: [W for _ in range(3)]\nW = 1", {"W", "f"}),
            (f"W = [x for x in range(3)]\n{USED}", {"W", "f"}),
            (f"if True:\n    W = 1\nelse:\n    W = 2\n{USED}", {"W", "f"}),
            (f"if False:\n    pass\nelse:\n    W = 1\n    print(1)\n{USED}", {"W", "f"}),
            (f"if True:\n    print('x')\n{USED}W = 1", {"W", "f"}),
            (f"try:\n    W = 1\nexcept ImportError:\n    W = 2\n{USED}", {"W", "f"}),
            (f"try:\n    import not_there\n    W = 2\nexcept ImportError:\n    W = 1\n{USED}", {"W", "f"}),
            (f"try:\n    W = 1\nfinally:\n    V = 2\n{USED}", {"W", "V", "f"}),
            (f"try:\n    W = 1\nexcept ValueError:\n    pass\nelse:\n    V = 2\n{USED}", {"W", "V", "f"}),
            (f"try:\n    W = 1\nfinally:\n    print(2)\n{USED}", {"W", "f"}),
            ("def other(): return W\ndef f(): return other()\nW = 1", {"W", "other", "f"}),
            ("def other(): return W\nW = 1", {"other"}),
            ("W = 1\nV = W\ndef f(): pass", {"f"}),
            (
                "class A: pass\nA.W = 1\ndef f(): return A",
                {"A", "f"},
            ),
            (f"W = {{}}\nW['a'] = 1\n{USED}", {"W", "f"}),
            (f"from softmark import check\ncheck()\nsoftmark = check\n{USED}W = 1", {"W", "f"}),
            (f"import softmark.student as s\ns.check()\n{USED}W = 1", {"W", "f"}),
        ],
    )
    def test_definitions_and_what_they_need(self, cell: str, names: set[str], notebook: Notebook) -> None:
        """Imports, functions and classes, and the assignments that one of these needs; nothing else."""
        ran = notebook.run(cell)
        assert (ran.names, ran.failed) == (names, [])

    @pytest.mark.parametrize(
        ("definition", "value", "is_run"),
        [
            ("def quick(): return 1", "quick()", True),
            ("def loops():\n    for _ in []: pass", "loops()", False),
            ("def loops():\n    while True: pass", "loops()", False),
            ("async def loops():\n    async for _ in []: pass", "loops()", False),
            ("def again(): return again()", "again()", False),
            ("def loops():\n    while True: pass\ndef calls(): return loops()", "calls()", False),
            ("def loops():\n    while True: pass\ndef calls(): return loops()\ndef more(): calls()", "more()", False),
            ("def loops():\n    while True: pass", "lambda: loops()", True),
            ("def loops():\n    while True: pass\nbusy = lambda: loops()", "busy()", False),
            ("def loops():\n    while True: pass", "[loops]", True),
            ("class A:\n    def fit(self): pass", "A()", True),
            ("class A:\n    def fit(self): pass", "A().fit()", False),
            ("class A:\n    def fit(self): pass\na = A()", "a.fit()", False),
            ("class A:\n    def fit(self): pass\na = A()\nb = a", "b.fit()", False),
            ("class A:\n    def fit(self): pass\na = A()", "a", True),
            ("class A:\n    def fit(self): pass\nmake = lambda: A()\na = make()", "a.fit()", False),
            ("class A:\n    def fit(self):\n        for _ in []: pass", "A()", True),
            ("", "[n for n in range(3)]", True),
            ("", "dict(a=1)", True),
            ("def loops():\n    while True: pass", "{1: [loops()]}", False),
            ("def loops():\n    while True: pass", "1 if True else loops()", False),
        ],
    )
    def test_what_may_take_long_is_not_run(self, definition: str, value: str, is_run: bool, notebook: Notebook) -> None:
        """No function that loops or calls itself, and no method of an object of the notebook's own."""
        ran = notebook.run(definition, f"W = {value}", USED)
        assert ("W" in ran.names) == is_run
        assert ran.told["unset"] == ([] if is_run else [(1, 1)])

    def test_condition_that_may_take_long(self, notebook: Notebook) -> None:
        """Nor is a condition that calls such a function."""
        ran = notebook.run("def loops():\n    while True: pass", "\nif loops():\n    W = 1", USED)
        assert ran.names == {"loops", "f"}
        assert ran.told["unset"] == [(1, 2)]

    def test_long_chains(self, notebook: Notebook) -> None:
        """A chain of `elif` may be as long as a student likes."""
        assert notebook.run(f"x = 1\nif x == 1: W = 1\n{MANY}", USED)["f"]() == 1

    def test_what_a_loop_would_have_filled(self, notebook: Notebook) -> None:
        """The last statement that is missing for a name is told, and only for names that are needed."""
        ran = notebook.run(
            "W = {}\nfor k in 'ab':\n    W[k] = 1\nV = {}", "for k in 'ab':\n    W[k] = 2\n    V[k] = 1", USED
        )
        assert (ran["W"], ran.told["unset"]) == ({}, [(1, 1)])


class TestOrder:
    def test_a_name_that_is_defined_further_down(self, notebook: Notebook) -> None:
        """A statement that lacks a name is tried again after the others."""
        ran = notebook.run("class B(A): pass", "C = B", "class A: pass", "def f(): return C")
        assert ran.failed == []
        assert ran["C"].__mro__[1] is ran["A"]

    def test_the_last_definition_counts(self, notebook: Notebook) -> None:
        """Also if an earlier one could only be run later; and the cells that define it are told."""
        ran = notebook.run("@late\ndef f(): return 1", "def f(): return 2", "late = staticmethod", wanted="f late")
        assert ran["f"]() == 2
        assert ran.told["several"] == [("f", [1, 0])]

    def test_two_that_were_late(self, notebook: Notebook) -> None:
        """Each statement that had to wait is looked at by itself."""
        ran = notebook.run(
            "@late\ndef f(): return 1",
            "@late\ndef g(): return 1",
            "def f(): return 2",
            "late = staticmethod",
            wanted="f g",
        )
        assert (ran["f"](), ran["g"]()) == (2, 1)

    def test_several_cells(self, notebook: Notebook) -> None:
        """Only names that are wanted, and only if several cells set them."""
        ran = notebook.run(
            "def f(): pass\ndef g(): pass\ndef f(): pass", "def f(): pass\ndef g(): pass", "def h(): pass"
        )
        assert ran.told["several"] == [("f", [0, 1])]

    def test_names_that_are_nowhere(self, notebook: Notebook) -> None:
        """Each is told with its cell and line, and costs nothing else."""
        ran = notebook.run("\nclass A(Nowhere): pass", "def f(): return 1", "x = 1\n\ndef g(y=Never): pass")
        assert ran.failed == [
            ("NameError", "cell 0.py", 2, "name 'Nowhere' is not defined"),
            ("NameError", "cell 2.py", 3, "name 'Never' is not defined"),
        ]
        assert ran.names == {"f"}


class TestFailures:
    def test_each_costs_itself(self, notebook: Notebook) -> None:
        """A statement that raises is told with its line; those around it are run."""
        ran = notebook.run("import math\n\ndef g(x=1 / 0): pass\ndef f(): return 1")
        assert ran.failed == [("ZeroDivisionError", "cell 0.py", 3, "division by zero")]
        assert ran.names == {"math", "f"}

    def test_an_absent_library_is_told_once(self, notebook: Notebook) -> None:
        """Its names are there, and raise what the import raised when they are used."""
        ran = notebook.run("import not_there_1, math\nfrom not_there_1 import a", "def f(): return not_there_1.a()")
        assert [r[0] for r in ran.failed] == ["ModuleNotFoundError"]
        assert ran.names == {"not_there_1", "math", "a", "f"}
        with pytest.raises(ModuleNotFoundError, match="not_there_1"):
            ran["a"]()

    def test_a_cell_that_is_no_python(self, notebook: Notebook) -> None:
        """It costs itself; its line is told."""
        ran = notebook.run("def g(:\n  pass", "def f(): return 1", "x = \0")
        assert [(r[0], r[1], r[2]) for r in ran.failed] == [
            ("SyntaxError", "cell 0.py", 1),
            ("SyntaxError", "cell 2.py", 1),
        ]
        assert ran.names == {"f"}

    def test_cells_keep_their_numbers(self, notebook: Notebook) -> None:
        """Also behind a cell that cannot be read at all: one that is nested too deeply has its first line told."""
        ran = notebook.run("(" * 5000, "def g(x=1 / 0): pass", "def f(): return 1\ndef f(): return 2")
        assert [(cell, line) for _, cell, line, _ in ran.failed] == [("cell 0.py", 1), ("cell 1.py", 1)]
        assert ran["f"]() == 2

    def test_what_only_a_compiler_sees(self, notebook: Notebook) -> None:
        """A `return` outside of a function costs its statement."""
        ran = notebook.run("def f(): return 1", "\nif f:\n    import math\n\nclass A:\n    return")
        assert ran.failed == [("SyntaxError", "cell 1.py", 6, "'return' outside function (cell 1.py, line 6)")]
        assert ran.names == {"f", "math"}

    def test_not_more_than_twenty(self, notebook: Notebook) -> None:
        """However many there are."""
        cells = [f"def f_{n}(x={n} / 0): pass" for n in range(30)]
        ran = notebook.run(*cells, wanted=" ".join(f"f_{n}" for n in range(30)))
        assert len(ran.failed) == 20

    def test_future(self, notebook: Notebook) -> None:
        """`from __future__ import annotations` holds for all cells."""
        assert notebook.run("from __future__ import annotations", "def f(x: Nowhere): return 1").failed == []


class TestWhole:
    def test_everything_is_run(self, notebook: Notebook) -> None:
        """Loops, calls and top-level await, in their order; an exception ends its cell only."""
        ran = notebook.run(
            "W = []\nfor n in range(3):\n    W.append(n)",
            "async def g(): return 4\nW.append(await g())",
            "W.append(5)\nraise ValueError('no')\nW.append(6)",
            "def f(): return W",
            whole=True,
        )
        assert ran["f"]() == [0, 1, 2, 4, 5]
        assert ran.failed == [("ValueError", "cell 2.py", 2, "no")]

    def test_an_absent_library(self, notebook: Notebook) -> None:
        """An import that fails costs what uses it, and not its cell."""
        ran = notebook.run("import not_there_2\nW = 1\nnot_there_2.plot(W)\nV = 2", USED, whole=True)
        assert ran.names == {"not_there_2", "W", "V", "f"}
        assert [r[0] for r in ran.failed] == ["ModuleNotFoundError"]

    def test_which_cells_set_a_name(self, notebook: Notebook) -> None:
        """Also if an assignment does."""
        ran = notebook.run("def f(): pass", "x = 1", "f = lambda: 1", whole=True)
        assert ran.told["several"] == [("f", [0, 2])]

    def test_self_checks_are_left_out(self, notebook: Notebook) -> None:
        """What a starter checks itself with is no part of the work."""
        ran = notebook.run(
            "from softmark import check\nimport softmark.x as y, os", "check('1')\ny.z()\nW = 1", whole=True
        )
        assert (ran.names, ran.failed) == ({"W"}, [])


class TestMagics:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("%matplotlib inline\nx = 1", "pass\nx = 1"),
            ("!pip install x\nx = 1", "pass\nx = 1"),
            ("!pip install \\\n  x \\\n  y\nx = 1", "pass\n\n\nx = 1"),
            ("files = !ls\nx = 1", "pass\nx = 1"),
            ("a.b, c = %time f()\nx = 1", "pass\nx = 1"),
            ("torch.nn?\nx = 1", "pass\nx = 1"),
            ("torch.nn??  # what is it\nx = 1", "pass\nx = 1"),
            ("?torch.nn\nx = 1", "pass\nx = 1"),
            ("if y:\n    %time f()\nx = 1", "if y:\n    pass\nx = 1"),
            ("%%time\nx = 1", "pass\nx = 1"),
            ("%%timeit -n 3\nx = 1", "pass\nx = 1"),
            ("%%capture out\nx = 1", "pass\nx = 1"),
            ("%%bash\nx = 1", ""),
            ("\n# a comment\n  %%html\n<p>", ""),
            ("x = (7\n% 3)", "x = 7 % 3"),
            ("s = '''\n!no\n%no\n'''", "s = '''\n!no\n%no\n'''"),
            ("  x = 1\n  y = 2", "x = 1\ny = 2"),
            ("\tx = 1\r\n\ty = 2\r", "x = 1\ny = 2"),
            ("x = 1\r%magic\ry = 2", "x = 1\npass\ny = 2"),
        ],
    )
    def test_are_blanked_out(self, text: str, left: str) -> None:
        """Where Python sees an error and the line looks like IPython's; every other line keeps its number."""
        assert ast.dump(parse_cell(text, "cell.py")) == ast.dump(parse_cell(left, "cell.py"))

    @pytest.mark.parametrize("text", ["x = 1 +", "def f(:", "  x = 1\ny = 2", "a = $b"])
    def test_nothing_else_is(self, text: str) -> None:
        """What is no Python, and does not look like IPython's, is an error."""
        with pytest.raises(SyntaxError):
            parse_cell(text, "cell.py")

    @pytest.mark.parametrize(("text", "line"), [("\0", 1), ("x = 1\n\ny = '\0'", 3)])
    def test_nul(self, text: str, line: int) -> None:
        """A NUL character is told with its line."""
        with pytest.raises(SyntaxError) as error:
            parse_cell(text, "cell.py")
        assert (error.value.msg, error.value.lineno) == ("a NUL character", line)

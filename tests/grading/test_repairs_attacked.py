"""Submissions that attack the search for repairs: no mark changes, nothing is told that is no line, grading ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import Result
from tests.support.repairs import AXIS, RIGHT, CountingSandbox, graded, repairs_of, written_course
from tests.support.sandboxes import sandbox

DEEP = f"    deep = {' + '.join(['1'] * 900)}\n"
LOOPS = """    i = 0
    while i < 3:
        i = i + 1
"""
ALLOCATES = """    room = torch.zeros(10 ** 6 // 10 ** 6, 10 ** 6 // 10 ** 6)
    room = torch.cat([room] * 2 ** (30 - 30))
"""
TAMPERS = """
import ast
import builtins
import sys

def nothing(*args, **kwargs):
    raise SystemExit

ast.parse = ast.unparse = ast.walk = nothing
for name, module in list(sys.modules.items()):
    if name.startswith("softmark.edits") or name == "softmark.sandbox.worker.editing":
        for own in list(vars(module)):
            if not own.startswith("__"):
                setattr(module, own, nothing)
"""
FORGES = """
import sys

def forged(request):
    from softmark.sandbox.wire.editing import EditPut
    return EditPut()

sys.modules["softmark.sandbox.worker.editing"].EditedModule.put = lambda self, request: forged(request)
"""
LIES_WHEN_EDITED = """

import builtins
import os

def run(code, names):
    os._exit(0)

builtins.exec = run
"""
ENDS_ITSELF = """    import os
    if X.shape[0] > 100:
        os._exit(0)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[CountingSandbox]:
    with sandbox() as opened:
        yield CountingSandbox(opened)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_course(tmp_path_factory.mktemp("course"))


def in_one(statements: str, source: str = AXIS) -> str:
    return source.replace("    E = ", f"{statements}    E = ")


def same_marks(course: Path, place: CountingSandbox, source: str) -> Result:
    """Grade with and without the search; the marks are the same, and the next submission is right."""
    plainly, searched = (graded(course, place, source, repairs=repairs) for repairs in (False, True))
    assert searched.total == plainly.total
    assert [test.cases[0].outcome for test in searched.tests] == [test.cases[0].outcome for test in plainly.tests]
    right = graded(course, place, RIGHT)
    assert right.total == right.max_score
    return searched


@pytest.mark.parametrize(
    "source",
    [
        in_one(DEEP),
        AXIS + "# " + "x" * 200_000,
        AXIS + "".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(5000)),
        in_one("    if False:\n        pass\n" * 3000),
    ],
    ids=["deep", "large", "many-functions", "large-function"],
)
def test_text_made_for_the_parser(course: Path, place: CountingSandbox, source: str) -> None:
    assert not repairs_of(same_marks(course, place, source))


@pytest.mark.parametrize("statements", [LOOPS, ALLOCATES, ENDS_ITSELF], ids=["endless", "huge", "exits"])
def test_edit_that_never_ends_or_takes_all_memory(course: Path, place: CountingSandbox, statements: str) -> None:
    """An edit that breaks something ends with its process, and few processes are started."""
    before = place.opened
    same_marks(course, place, in_one(statements))
    assert place.opened - before < 30


def test_edits_that_never_end_cost_no_other_edit(course: Path, place: CountingSandbox) -> None:
    """Two edits of this loop are endless and are tried first; the one that mends the function is found after them."""
    (repair,) = repairs_of(same_marks(course, place, in_one("    i = 0\n    while i < 1:\n        i = 1\n")))
    assert repair.text == "return E / E.sum(dim=0, keepdim=True)"


@pytest.mark.parametrize("spoil", [TAMPERS, FORGES, LIES_WHEN_EDITED], ids=["tampers", "forges", "ends"])
def test_code_that_changes_its_worker(course: Path, place: CountingSandbox, spoil: str) -> None:
    """The edits were made before it ran; what it spoils there costs only its own line."""
    result = same_marks(course, place, spoil + AXIS)
    assert all(repair.text.startswith("return E / E.sum(dim=0") for repair in repairs_of(result))


def test_code_that_is_right_only_where_it_is_edited(course: Path, place: CountingSandbox) -> None:
    """A line is told only if the whole file with the edit passes in a worker that knows of no edit."""
    source = AXIS.replace("def one(X):", "def one(X):\n    if RIGHT_NOW[0]:\n        return torch.softmax(X, dim=-1)")
    noticed = "RIGHT_NOW = [False]\n\n\nclass Noticed:\n    def __del__(self):\n        RIGHT_NOW[0] = True\n\n\n"
    source = source.replace("def one", f"{noticed}def one").replace("    E = ", "    one.noticed = Noticed()\n    E = ")
    for repair in repairs_of(same_marks(course, place, source)):
        lines = source.splitlines()
        lines[repair.line - 1] = lines[repair.line - 1].replace(*repair.edit.split(" → "))
        assert graded(course, place, "\n".join(lines)).tests[0].score == 3

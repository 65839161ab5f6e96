"""A test that only checks answers is repeated for the next submission without its own code, with the same verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading import session
from softmark.records.result import Outcome, Result
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.student_process import packed as pack
from tests.support import course as tiny
from tests.support.course import named, references_of, timeless, write_course
from tests.support.sandboxes import sandbox

REFERENCE = "def one(x, y=None):\n    return x * 2 if y is None else x * 2 + y\n"
RIGHT = REFERENCE
WRONG = "def one(x, y=None):\n    return x * 3\n"
RAISES = "def one(x, y=None):\n    raise ValueError('not today')\n"
MISSING = "def two(x):\n    return x\n"
FIRST_WRONG = """
calls = []
def one(x, y=None):
    calls.append(1)
    return x * (3 if len(calls) == 1 else 2)
"""
HEAD = """
import pathlib
from reference import tiny as ref
from softmark import gradients_agree

def ran():
    with open({place!r}, "a") as file:
        file.write("x")

@number("1")
@weight(4)
"""
REPEATED = {
    "one check": """def test_one(student):
    '''One.'''
    ran()
    agree(student.one, ref.one, draw("a b", a=2, b=3))
""",
    "several checks": """def test_one(student):
    '''One.'''
    ran()
    for size in (2, 3):
        agree(student.one, ref.one, draw("a b", a=size, b=3), y=draw("a b", a=size, b=3))
""",
    "gradients": """def test_one(student):
    '''One.'''
    ran()
    gradients_agree(student.one, ref.one, draw("a b", a=2, b=3))
""",
    "cases": """@pytest.mark.parametrize("size", [2, 3])
def test_one(student, size):
    '''One.'''
    ran()
    agree(student.one, ref.one, draw("a b", a=size, b=3))
""",
    "bytes": """def test_one(student):
    '''One.'''
    ran()
    agree(student.one, ref.one, [b"abc", ("d", 1)])
""",
}
RUN_EACH_TIME = {
    "looks at an answer": """def test_one(student):
    '''One.'''
    ran()
    y = student.one(draw("a b", a=2, b=3))
    agree(student.one, ref.one, y / 2)
""",
    "handles failures": """def test_one(student):
    '''One.'''
    ran()
    try:
        agree(student.one, ref.one, draw("a b", a=2, b=3))
    except Failed:
        agree(student.one, ref.one, draw("a b", a=3, b=3))
""",
    "handles failures in a helper": """def test_one(student):
    '''One.'''
    ran()
    twice(lambda: agree(student.one, ref.one, draw("a b", a=2, b=3)))

def twice(check):
    try:
        check()
    except Failed:
        check()
""",
    "sets the score": """@partial_credit(4)
def test_one(student, set_score=None):
    '''One.'''
    ran()
    agree(student.one, ref.one, draw("a b", a=2, b=3))
    set_score(3)
""",
    "looks at the text": """def test_one(student):
    '''One.'''
    ran()
    agree(student.one, ref.one, draw("a b", a=2, b=3))
    assert student.one.mentions("x [*] 2")
""",
    "compares with a lambda": """def test_one(student):
    '''One.'''
    ran()
    offset = 0
    agree(student.one, lambda x: 2 * x + offset, draw("a b", a=2, b=3))
""",
    "has subtests": """def test_one(student, subtests):
    '''One.'''
    ran()
    with subtests.test("a"):
        agree(student.one, ref.one, draw("a b", a=2, b=3))
""",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as made:
        yield made


def course(root: Path, test: str) -> Path:
    write_course(root, HEAD.format(place=str(root / "ran")) + test)
    (root / "reference" / "tiny.py").write_text(REFERENCE)
    return root


def grade(root: Path, place: Sandbox, *sources: str) -> list[Result]:
    with references_of(root):
        return tiny.grade(root, place, *sources)


def times(root: Path, place: Sandbox, *sources: str) -> int:
    """Return how often a test's own code has run while these submissions were graded."""
    results = grade(root, place, *sources)
    assert [result.status for result in results] == ["graded"] * len(sources)
    return len((root / "ran").read_text())


@pytest.mark.parametrize("test", REPEATED)
def test_runs_its_own_code_until_it_passes(test: str, tmp_path: Path, place: Sandbox) -> None:
    root = course(tmp_path, REPEATED[test])
    cases = 2 if test == "cases" else 1
    assert times(root, place, WRONG, RIGHT, WRONG, RIGHT, RAISES) == 2 * cases


@pytest.mark.parametrize("test", RUN_EACH_TIME)
def test_runs_its_own_code_each_time(test: str, tmp_path: Path, place: Sandbox) -> None:
    assert times(course(tmp_path, RUN_EACH_TIME[test]), place, RIGHT, RIGHT, RIGHT) == 3


@pytest.mark.parametrize("test", {**REPEATED, **RUN_EACH_TIME})
def test_judges_as_if_each_were_alone(test: str, tmp_path: Path, place: Sandbox) -> None:
    root = course(tmp_path, {**REPEATED, **RUN_EACH_TIME}[test])
    sources = (RIGHT, WRONG, RAISES, MISSING, FIRST_WRONG, RIGHT, WRONG, FIRST_WRONG)
    together = grade(root, place, *sources)
    for source, result in zip(sources, together, strict=True):
        (alone,) = grade(root, place, source)
        assert essence(alone) == essence(result)


@pytest.mark.parametrize("test", REPEATED)
def test_questions_of_a_repeated_test_are_packed_once(
    test: str, tmp_path: Path, place: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first submission runs the test's own code. The second one packs its questions for all that follow."""
    packed: list[int] = []
    monkeypatch.setattr(session, "packed", lambda request: packed.append(request.id) or pack(request))
    grade(course(tmp_path, REPEATED[test]), place, RIGHT, RIGHT, RIGHT, RIGHT, RAISES)
    asked = len(set(packed))
    assert asked == (2 if test in ("several checks", "cases") else 1)
    assert len(packed) == 2 * asked


def essence(result: Result) -> tuple[object, ...]:
    test = named(result, "test_one")
    return test.score, test.outcome, test.verdicts, result.reason


def test_one_that_is_wrong_only_in_its_first_call_fails(tmp_path: Path, place: Sandbox) -> None:
    """The question is not asked again when the repeated test fails, so a second answer cannot help."""
    root = course(tmp_path, REPEATED["one check"])
    _, result = grade(root, place, RIGHT, FIRST_WRONG)
    assert named(result, "test_one").outcome is Outcome.FAILED


def test_is_not_repeated_with_other_inputs(tmp_path: Path, place: Sandbox) -> None:
    """A test that draws its numbers itself, without a seed, gives all students those of the first."""
    drawn = "torch.rand(3, dtype=torch.float64)"
    root = course(tmp_path, f"def test_one(student):\n    '''One.'''\n    agree(student.one, ref.one, {drawn})\n")
    first, _, last = grade(root, place, RIGHT, WRONG, RIGHT)
    assert timeless(first).replace(b"number 0", b"") == timeless(last).replace(b"number 2", b"")

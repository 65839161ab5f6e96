"""Earlier parts of a student's that later ones build on: when they excuse, and where they are asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import Outcome, Result
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, named, references_of, write_course
from tests.support.sandboxes import sandbox

REFERENCE = "def one(x):\n    return 2 * x\n\n\ndef two(x):\n    return one(x) + 1\n"
REFERENCE += "\n\ndef three(x):\n    return two(x) ** 2\n"
HIDDEN = '''
from reference import tiny as ref
from softmark import inherited, leaves_inputs


@number("1.1")
@weight(1)
def test_one(student):
    """One."""
    agree(student.one, ref.one, draw("n", n=5))


@number("1.2")
@weight(1)
def test_one_of_more(student):
    """One with more axes."""
    agree(student.one, ref.one, draw("n m", n=5, m=4))


@number("2.1")
@weight(1)
@pytest.mark.parametrize("n", [3, 6])
def test_two(student, n):
    """Two, given the student's one."""
    agree(student.two, ref.two, draw("n", n=n), carried={"one": student.one})


@number("2.2")
@weight(1)
def test_two_leaves(student):
    """The input stays as it was, if one leaves it."""
    x = draw("n", n=4)
    try:
        leaves_inputs(student.two, x)
    except Failed:
        if not inherited(leaves_inputs, student.one, x):
            raise
'''
THREE_TIMES = "def one(x):\n    return 3 * x\n\n\ndef two(x):\n    return one(x) + 1\n"
IN_PLACE = "def one(x):\n    x *= 2\n    return x\n\n\ndef two(x):\n    return one(x) + 1\n"
IN_PLACE_AND_WRONG = IN_PLACE.replace("*= 2", "*= 3")
SEED = """import torch
lies = set()
def one(x):
    return (3 if torch.initial_seed() in lies else 2) * x
def two(x):
    lies.add(torch.initial_seed())
    return 3 * x + 1
"""
SEED_AND_SLIP = SEED.replace("else 2)", "else 2 + (x.dim() == 2))")
REMEMBERS = """import torch
heard = {}
def one(x):
    heard[x.sum().item()] = 3 * x + 1
    return 3 * x
def two(x):
    return heard.get(x.sum().item(), 0 * x)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Path:
    root = write_course(tmp_path, HIDDEN, points=[2, 2])
    (root / "reference/tiny.py").write_text(REFERENCE)
    return root


@pytest.fixture(autouse=True)
def reference(course: Path) -> Iterator[None]:
    """The reference is this course's."""
    with references_of(course):
        yield


def failed(result: Result) -> list[str]:
    return [test.number for test in result.tests if test.outcome is Outcome.FAILED]


class TestExcuse:
    """A later part that is right given the student's own earlier part."""

    @pytest.mark.parametrize(
        ("source", "lost"),
        [
            (THREE_TIMES, ["1.1", "1.2"]),
            (IN_PLACE_AND_WRONG, ["1.1", "1.2"]),
            (IN_PLACE, ["2.2"]),
            (SEED, ["2.1"]),
            (SEED_AND_SLIP, ["1.2", "2.1"]),
            (REMEMBERS, ["1.1", "1.2", "2.1"]),
        ],
        ids=["wrong", "wrong and in place", "no test of its own fails", "lies", "lies and slips", "remembers"],
    )
    def test_only_where_the_earlier_part_fails(
        self, source: str, lost: list[str], course: Path, place: Sandbox
    ) -> None:
        """An honest mistake is charged once; what its own tests do not see is charged, and so are lies."""
        [result] = grade(course, place, source)
        assert failed(result) == lost

    def test_through_a_part_that_was_excused_itself(self, course: Path, place: Sandbox) -> None:
        """Part 3 builds on part 2, which was right given part 1: the mistake of part 1 is charged there only."""
        test = '@number("3")\n@weight(1)\ndef test_three(student):\n    """Three."""\n'
        test += '    agree(student.three, ref.three, draw("n", n=5), carried={"two": student.two})\n'
        root = write_course(course / "longer", f"{HIDDEN}\n\n{test}", points=[2, 2, 1])
        source = f"{THREE_TIMES}\n\ndef three(x):\n    return two(x) ** 2\n"
        (root / "reference/tiny.py").write_text(REFERENCE)
        [result] = grade(root, place, source)
        assert failed(result) == ["1.1", "1.2"]

    def test_through_a_part_whose_check_was_excused(self, course: Path, place: Sandbox) -> None:
        """What part 2 was not charged for because of part 1 is not charged to part 3, which builds on part 2."""
        test = '@number("3")\n@weight(1)\ndef test_three(student):\n    """Three."""\n    x = draw("n", n=4)\n'
        test += "    try:\n        leaves_inputs(student.three, x)\n    except Failed:\n"
        test += "        if not inherited(leaves_inputs, student.two, x):\n            raise\n"
        slip = "def one(x):\n    x *= 2\n    return x + (x.dim() == 2)\n\n\ndef two(x):\n    return one(x) + 1\n"
        root = write_course(course / "longer", f"{HIDDEN}\n\n{test}", points=[2, 2, 1])
        [result] = grade(root, place, f"{slip}\n\ndef three(x):\n    return two(x) ** 2\n")
        assert failed(result) == ["1.2"]

    def test_is_said(self, course: Path, place: Sandbox) -> None:
        """Every case that was right given an earlier part says so, whatever waited for what."""
        [result] = grade(course, place, THREE_TIMES)
        assert [case.carried for case in named(result, "test_two").cases] == [("one",), ("one",)]
        assert [case.id for case in named(result, "test_two").cases] == ["3", "6"]

    def test_is_part_of_what_is_known_of_answers(self, course: Path, place: Sandbox) -> None:
        """The same answers to the tests of part 2 get the verdict that belongs to what part 1 did, in any order."""
        wrong_two = "def one(x):\n    return 2 * x\n\n\ndef two(x):\n    return 3 * x + 1\n"
        results = grade(course, place, wrong_two, THREE_TIMES, wrong_two, THREE_TIMES)
        assert [failed(result) for result in results] == [["2.1"], ["1.1", "1.2"]] * 2

    def test_a_process_that_dies_carries_nothing(self, course: Path, place: Sandbox) -> None:
        """The earlier part's end in its own process is no error of the grader."""
        dies = THREE_TIMES.replace(
            "return 3 * x\n", "import os\n    return 3 * x if x.shape[0] == 5 else os._exit(0)\n", 1
        )
        [result] = grade(course, place, dies.replace("return one(x) + 1", "return 3 * x + 1"))
        assert failed(result) == ["1.1", "1.2", "2.1"]

"""Hidden tests with subtests whose body fails, too: what they earn and what is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import Outcome, Status
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, write_course
from tests.support.sandboxes import sandbox

HIDDEN = '''
@number("1")
@weight(4)
def test_one(student, subtests):
    """Two subtests, and something after them."""
    for x in (1.0, 2.0):
        with subtests.test(x=x):
            agree(student.one, lambda x: x + 1, x)
    {after}


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, 1.0)
'''
TWO = "\n\ndef two(x):\n    return x * 2\n"
RIGHT = f"def one(x):\n    return x + 1\n{TWO}"
WRONG_LATER = f"def one(x):\n    return x + 1 if x < 3 else 0.0\n{TWO}"
RAISES_LATER = f"def one(x):\n    return x + 1 if x < 3 else None + x\n{TWO}"
ONCE_WRONG = f"def one(x):\n    return x + 1 if x < 2 else 0.0\n{TWO}"
AFTER = {
    "agree": "agree(student.one, lambda x: x + 1, 3.0)",
    "assert": "assert student.one(3.0) == 4.0",
    "case": "for x in (1.0, 3.0):\n        agree(student.one, lambda x: x + 1, x)",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


class TestBody:
    """What a test does outside of its subtests."""

    @pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
    def test_that_fails_costs_all_of_the_test(self, after: str, tmp_path: Path, place: Sandbox) -> None:
        """Subtests that pass earn nothing in a test whose body fails after them; another test keeps its marks."""
        root = write_course(tmp_path, HIDDEN.format(after=after), points=[4, 2])
        results = grade(root, place, RIGHT, WRONG_LATER, RAISES_LATER, ONCE_WRONG)
        assert [[part.earned for part in result.parts] for result in results] == [[4, 2], [0, 2], [0, 2], [0, 2]]
        assert {result.status for result in results} == {Status.GRADED}
        for result in results[1:3]:
            test = result.tests[0]
            assert (test.outcome, [verdict.subtest for verdict in test.verdicts]) == (Outcome.FAILED, [""])

    def test_that_passes_leaves_the_subtests_their_marks(self, tmp_path: Path, place: Sandbox) -> None:
        """Without a failure outside, one wrong subtest of two costs half of the test."""
        root = write_course(tmp_path, HIDDEN.format(after="assert student.one(1.0) == 2.0"), points=[4, 2])
        assert [result.total for result in grade(root, place, RIGHT, ONCE_WRONG)] == [6, 4]

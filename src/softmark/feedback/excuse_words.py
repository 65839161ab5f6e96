"""Chooses the words about mistakes of earlier parts that cost nothing in a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from softmark.feedback.escape import one_line
from softmark.records.result import Outcome, TestResult


def excuses(test: TestResult) -> Iterator[str]:
    """Yield which mistakes of earlier parts cost nothing in this test."""
    right = "Right" if test.outcome is Outcome.PASSED else "Cases are right"
    if test.given:
        yield f"{right}, given {_correct(test.given)}: the earlier mistake is not paid for twice."
    if test.same_slip_as:
        yield f"{right} but for the same slip as in {_parts(test.same_slip_as)}, which has cost its marks there."
    if test.carried:
        own = " and ".join(one_line(name) for name in test.carried)
        yield f"Right, given your own {own}: the earlier mistake is not paid for twice."


def _correct(numbers: Sequence[str]) -> str:
    return f"correct {_parts(numbers)}" if len(numbers) > 1 else f"a correct {_parts(numbers)}"


def _parts(numbers: Sequence[str]) -> str:
    """Return "part 1", "parts 1 and 2", or "parts 1, 2 and 3"."""
    *others, last = map(one_line, numbers)
    return f"parts {', '.join(others)} and {last}" if others else f"part {last}"

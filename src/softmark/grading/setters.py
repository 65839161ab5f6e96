"""Captures the values that a test gives to `set_score` and `set_leaderboard_value`, for exactly one call.

gradescope-utils stores these values on the wrapper that it makes, and leaves them there. The second case of a
parametrised test, or the next submission in the same process, would get them, too. So they are removed before a call,
and read and removed after it.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from softmark.course.testspecs import TestSpec
from softmark.records.points import exact, shown

SCORE = "__score__"
LEADERBOARD_VALUE = "__leaderboard_value__"
LONGEST_LEADERBOARD_TEXT = 200
LARGEST_EXACT_INTEGER = 2**53
ROUNDING_OF_FLOATS = Fraction(1, 10**9)


class SetterError(Exception):
    """Raised if a hidden test set an impossible score or leaderboard value. This is a fault of the grader."""


class CapturedSetters:
    """The values that one call of a test function has set. They are filled in when the call is over."""

    def __init__(self) -> None:
        self._score: object = None
        self._leaderboard_value: object = None

    def hear(self, score: object, leaderboard_value: object) -> None:
        """Keep the values that the wrappers hold at the end of the call."""
        self._score = score
        self._leaderboard_value = leaderboard_value

    @property
    def heard(self) -> bool:
        """True if a score or a value was set."""
        return self._score is not None or self._leaderboard_value is not None

    def share(self, spec: TestSpec) -> Fraction | None:
        """Return the share of the case, 0 to 1; None if the test did not call `set_score`, which takes points."""
        if self._score is None:
            return None
        try:
            score = exact(self._score)
        except ValueError as error:
            raise SetterError(f"{_place(spec)} called set_score({self._score!r}): it {error}") from error
        if score > spec.weight + ROUNDING_OF_FLOATS:
            raise SetterError(f"{_place(spec)} called set_score({self._score!r}), above {shown(spec.weight)}")
        return min(score / spec.weight, Fraction(1)) if spec.weight else Fraction(1)

    def leaderboard_value(self, spec: TestSpec) -> float | str | None:
        """Return the value for the test's leaderboard column; None if `set_leaderboard_value` was not called."""
        value = self._leaderboard_value
        if value is None:
            return None
        if isinstance(value, str) and len(value) <= LONGEST_LEADERBOARD_TEXT:
            return value
        if type(value) is int and abs(value) <= LARGEST_EXACT_INTEGER:
            return float(value)
        if isinstance(value, float) and math.isfinite(value):
            return float(value)
        raise SetterError(
            f"{_place(spec)} called set_leaderboard_value with {type(value).__name__} {str(value)[:40]!r}: "
            "it must be a finite number or a short text"
        )


@contextmanager
def captured_setters(function: Callable[..., Any]) -> Iterator[CapturedSetters]:
    """Capture the values that a test function sets inside this block, and remove them from the function."""
    wrappers = _wrappers(function)
    _take(wrappers, SCORE)
    _take(wrappers, LEADERBOARD_VALUE)
    captured = CapturedSetters()
    try:
        yield captured
    finally:
        captured.hear(_take(wrappers, SCORE), _take(wrappers, LEADERBOARD_VALUE))


def _wrappers(function: Any) -> list[dict[str, Any]]:
    """Return the namespaces of a function and of all that it wraps: each decorator stores on its own wrapper."""
    spaces = []
    while function is not None:
        spaces.append(vars(function))
        function = getattr(function, "__wrapped__", None)
    return spaces


def _take(spaces: list[dict[str, Any]], name: str) -> object:
    taken = [space.pop(name) for space in spaces if name in space]
    return taken[0] if taken else None


def _place(spec: TestSpec) -> str:
    return f"{spec.file}:{spec.line}: {spec.name}"

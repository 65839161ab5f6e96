"""Arithmetic of marks: exact fractions inside, four decimals outside.

Weights and points are decimals with at most four places, so sums of them are exact. A test's weight is
divided among its parametrised cases and their subtests as fractions, and only the finished score of a test
is rounded, once, to the same four places. Full marks therefore add up to exactly the points of the
homework, in whatever order they are added.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

STEPS_PER_POINT = 10_000
MOST_POINTS = 1_000_000
FULL = Fraction(1)
NONE = Fraction(0)


def exact(value: object) -> Fraction:
    """Return the number as it is written in decimal (0.1 is one tenth). Raise ValueError if it is no mark."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise ValueError(f"must be a number, not {type(value).__name__} {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"must be a finite number, not {value}")
    number = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if number < 0:
        raise ValueError(f"must not be negative, but is {shown(number)}")
    return number


def exact_weight(value: object) -> Fraction:
    """Return the number as `exact` does. Raise ValueError, too, if it is huge or has more than four decimals."""
    number = exact(value)
    if number > MOST_POINTS:
        raise ValueError(f"must be at most {MOST_POINTS}, but is {float(number):g}")
    if STEPS_PER_POINT % number.denominator:
        raise ValueError(f"must have at most four decimals, but is {value}")
    return number


def rounded(number: Fraction) -> float:
    """Return the nearest mark with four decimals (halves up), as the float that a result holds."""
    steps = math.floor(number * STEPS_PER_POINT + Fraction(1, 2))
    return steps / STEPS_PER_POINT


def total(marks: Iterable[float]) -> float:
    """Return the sum of marks with four decimals, without the error that adding floats makes."""
    return sum(round(mark * STEPS_PER_POINT) for mark in marks) / STEPS_PER_POINT


def shown(mark: float | Fraction) -> str:
    """Return a mark for people: no needless zeros, at most two decimals ("20", "2.5", "1.33")."""
    return f"{float(mark):.2f}".rstrip("0").rstrip(".")


def share_of_case(subtests: Sequence[Fraction]) -> Fraction:
    """Return the share of a case, from 0 to 1, whose subtests earned these shares."""
    return sum(subtests, NONE) / len(subtests) if subtests else FULL


def score_of_test(weight: Fraction, cases: Sequence[Fraction], *, all_or_nothing: bool) -> float:
    """Return the marks of a test: each case has an equal part of its weight, and earned from 0 to 1 of it."""
    if not cases:
        return 0.0
    if any(not NONE <= share <= FULL for share in cases):
        raise ValueError(f"a case earns a share from 0 to 1, not {[str(share) for share in cases]}")
    if all_or_nothing and any(share < FULL for share in cases):
        return 0.0
    return rounded(weight * sum(cases, NONE) / len(cases))

"""What differs between an expected matrix and the one that came, for the drawings of it."""

import math
from collections.abc import Sequence
from itertools import zip_longest

from softmark.records.verdict import Picture

WORTH_A_MARK = 1e-3
"""A number is marked if it is off by at least this share of the worst one: rounding beside a mistake is not."""

Row = Sequence[float | None]
Matrix = Sequence[Row]


def difference(picture: Picture) -> list[list[float | None]]:
    """got - expected; None where only one of the two is a number, 0 where neither is."""
    return [
        [_minus(got, wanted) for got, wanted in zip_longest(row_got, row_expected)]
        for row_got, row_expected in zip_longest(picture.got, picture.expected, fillvalue=())
    ]


def marked(picture: Picture) -> list[list[bool]]:
    """Which numbers are wrong, in the shape of the larger of the two matrices."""
    off = difference(picture)
    enough = WORTH_A_MARK * largest(off)
    return [[number is None or abs(number) > enough for number in row] for row in off]


def largest(matrix: Matrix) -> float:
    """The largest absolute value in it; 0 if there is no number."""
    return max((abs(number) for row in matrix for number in row if number is not None), default=0.0)


def size(picture: Picture) -> tuple[int, int]:
    """Rows and columns of the larger of the two matrices."""
    rows = (*picture.expected, *picture.got)
    return max(len(picture.expected), len(picture.got)), max((len(row) for row in rows), default=0)


def _minus(got: float | None, expected: float | None) -> float | None:
    if got is None and expected is None:
        return 0.0
    if got is None or expected is None or not math.isfinite(got - expected):
        return None
    return got - expected

"""Hidden tests: positional encoding, 20 points in all. Part 1, the angles."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.positional_encoding.sizes import ODD_TABLES, TABLES
from reference import positional_encoding as ref
from softmark import agree, agree_in_turn


@number("1.1")
@weight(1)
@visibility("after_published")
def test_positions(student):
    """Positions are rows and count from 0 (d = 2: a single pair)"""
    for n in (11, 1, 2, 32, 65, 101):
        agree(student.angles, ref.angles, n, 2)


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("d", [6, 14, 16, 3, 4, 33, 64, 128])
def test_frequencies(student, d):
    """Pair i has the frequency 1 / 10000^(2i/d) (n = 2: row 1 holds the frequencies)"""
    agree(student.angles, ref.angles, 2, d)


@number("1.3")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "more"), TABLES)
def test_angles(student, n, d, more):
    """All angles: every position times every frequency, after any earlier calls"""
    agree_in_turn(student.angles, ref.angles, (n, d), (n + 2, d + 3), (n - 2, 1), (n, d - 1), (n, d + 1), (d, n))
    for sizes in (*more, (n, 3), (n, 5), (n, 12), (n, 20)):
        agree(student.angles, ref.angles, *sizes)


@number("1.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "more"), ODD_TABLES)
def test_angles_of_an_odd_width(student, n, d, more):
    """An odd width has ⌈d/2⌉ angles, and its exponent is 2i/d as well"""
    for sizes in ((n, d), *more):
        agree(student.angles, ref.angles, *sizes)

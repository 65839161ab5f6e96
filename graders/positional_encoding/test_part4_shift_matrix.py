"""Hidden tests of part 4: a shift is a matrix."""

from itertools import product

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import positional_encoding as ref
from softmark import agree, agree_in_turn, raises


def check_shift(student, k, d):
    agree(student.shift_matrix, ref.shift_matrix, k, d)


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("k", [1, 4, 2])
def test_one_block(student, k):
    """One pair: the 2 × 2 matrix that adds k to its angle"""
    check_shift(student, k, 2)


@number("4.2")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize(("k", "d"), [(5, 6), (3, 10), (7, 8), (8, 8), (1, 4), (33, 6), (100, 4)])
def test_blocks(student, k, d):
    """Every pair has its own block on the diagonal, with its own frequency, after any earlier calls"""
    check_shift(student, k, d)
    agree_in_turn(student.shift_matrix, ref.shift_matrix, (k, 6), (k + 2, 8), (k - 1, 4), (-k, 6))
    for width in (2, 4, 10):
        check_shift(student, k, width)


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("k", "d"), [(-4, 2), (-3, 8), (-1, 10), (-8, 8), (-6, 10), (-100, 4)])
def test_shifts_to_the_left(student, k, d):
    """A negative k shifts to the left, and k = 0 not at all"""
    check_shift(student, k, d)
    check_shift(student, 0, d)
    check_shift(student, k, 10)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_odd_width_is_refused(student):
    """An odd width raises ValueError, whatever the shift is"""
    student.shift_matrix(2, 4)  # an even one is not refused
    for k, d in [(3, 7), (-2, 5), *product((0, 1, -1, 2, 100), (1, 3, 9)), (7, 7), (-3, 3), (0, 33)]:
        raises(ValueError, student.shift_matrix, k, d)
    check_shift(student, 2, 4)

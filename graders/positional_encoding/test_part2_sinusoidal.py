"""Hidden tests of part 2: the sinusoidal table."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.positional_encoding.sizes import ODD_TABLES, TABLES
from reference import positional_encoding as ref
from softmark import agree, agree_in_turn


def check_table(student, n, d):
    agree(student.sinusoidal, ref.sinusoidal, n, d)


@number("2.1")
@weight(1)
@visibility("after_published")
def test_single_pair(student):
    """One pair: the sine is column 0, the cosine is column 1"""
    for n in (11, 1, 2, 65, 101):
        check_table(student, n, 2)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("d", [6, 10, 7, 64])
def test_first_row(student, d):
    """Sines and cosines alternate: position 0 is 0, 1, 0, 1, …"""
    check_table(student, 1, d)


@number("2.3")
@weight(2)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "more"), TABLES)
def test_table(student, n, d, more):
    """The whole table"""
    for sizes in ((n, d), *more, (n, 3), (n, 5), (n, 12), (n, 20)):
        check_table(student, *sizes)


@number("2.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "more"), ODD_TABLES)
def test_table_of_an_odd_width(student, n, d, more):
    """An odd width drops the last cosine"""
    for sizes in ((n, d), *more):
        check_table(student, *sizes)


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_tables_one_after_another(student):
    """A table does not depend on the tables asked for before"""
    agree_in_turn(student.sinusoidal, ref.sinusoidal, (14, 6), (9, 8), (14, 8), (5, 1), (14, 5), (14, 7), (6, 14))
    agree_in_turn(student.sinusoidal, ref.sinusoidal, (8, 7), (8, 8), (9, 6))

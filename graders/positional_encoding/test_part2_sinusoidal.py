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
    check_table(student, 11, 2)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("d", [6, 10])
def test_first_row(student, d):
    """Sines and cosines alternate: position 0 is 0, 1, 0, 1, …"""
    check_table(student, 1, d)


@number("2.3")
@weight(2)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), TABLES)
def test_table(student, n, d):
    """The whole table"""
    check_table(student, n, d)


@number("2.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), ODD_TABLES)
def test_table_of_an_odd_width(student, n, d):
    """An odd width drops the last cosine"""
    check_table(student, n, d)


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_tables_one_after_another(student):
    """A table does not depend on the tables asked for before"""
    agree_in_turn(student.sinusoidal, ref.sinusoidal, (14, 6), (9, 8), (14, 8), (5, 1))

"""Hidden tests of part 6: a bias for relative positions."""

from dataclasses import replace

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import positional_encoding as ref
from softmark import Failed, agree, agree_in_turn, draw, gradients_agree, keeps_dtype, leaves_inputs, works_on_meta


def check_bias(student, n, m, table):
    try:
        agree(student.relative_bias, ref.relative_bias, n, m, table)
    except Failed as failure:
        if failure.verdict.exception != "IndexError":
            raise
        fact = (
            "relative_bias: reads beyond the table (IndexError): are offsets clipped to -L … L before they are shifted"
        )
        fact += " shifted to an index, and is it an index of the last axis?"
        raise Failed(replace(failure.verdict, fact=fact)) from failure


@number("6.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m"), [(5, 8), (9, 6)])
def test_offsets(student, n, m):
    """Key minus query picks the entry (a table long enough for every offset)"""
    check_bias(student, n, m, draw("21"))


@number("6.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m", "entries"), [(11, 12, 7), (13, 10, 9), (1, 8, 5), (8, 1, 5), (4, 6, 1)])
def test_far_offsets(student, n, m, entries):
    """Offsets beyond the table are clipped to its two ends"""
    check_bias(student, n, m, draw("entries", entries=entries))


@number("6.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m", "heads", "entries"), [(7, 5, 3, 15), (10, 13, (2, 5), 9)])
def test_heads(student, n, m, heads, entries):
    """Every head has biases of its own"""
    check_bias(student, n, m, draw("heads entries", heads=heads, entries=entries))


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_gradient_of_the_bias(student):
    """Gradients flow to the table: an entry collects those of all its places"""
    table = draw("15")
    check_bias(student, 5, 8, table)
    gradients_agree(student.relative_bias, ref.relative_bias, 5, 8, table)
    gradients_agree(student.relative_bias, ref.relative_bias, 5, 8, 40 * table)


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_dtype_of_the_bias(student):
    """The bias has the dtype and the device of the table, which is not changed, whatever was asked before"""
    table = draw("17")
    check_bias(student, 8, 6, table)
    keeps_dtype(student.relative_bias, 8, 6, table)
    works_on_meta(student.relative_bias, 8, 6, table)
    leaves_inputs(student.relative_bias, 8, 6, table)
    others = (9, 9, draw("1 19")), (7, 5, draw("heads 15", heads=2)), (8, 6, 40 * table)
    agree_in_turn(student.relative_bias, ref.relative_bias, (8, 6, table), *others)

"""Hidden tests of part 6: a bias for relative positions."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.positional_encoding.sizes import batch, lengths
from reference import positional_encoding as ref
from softmark import Failed, agree, agree_in_turn, draw, gradients_agree, keeps_dtype, leaves_inputs, works_on_meta

FAR = [(11, 12, 7), (13, 10, 9), (1, 8, 5), (8, 1, 5), (9, 9, 5), (5, 5, 5)]
FAR += [(3, 66, 5), (66, 3, 7), (40, 37, 41), (20, 25, 67), (101, 2, 3), (67, 70, 5)]
HEADS = [(7, 5, 3, 15), (10, 13, (2, 5), 9), (4, 6, 1, 7)]
HEADS += [(7, 7, 7, 7), (3, 5, 5, 5), (6, 6, (3, 3), 5), (5, 4, (3, 3), 3), (3, 8, (1, 1), 5), (4, 5, 17, 3)]


def combinations():
    """Yield calls in which conditions meet."""
    for row in range(20):
        dtype = torch.float32 if row % 8 < 4 else torch.float64
        table = draw("heads entries", heads=batch(row), entries=[1, 3, 7, 15][row % 4], dtype=dtype)
        yield *lengths(row), table


def check_bias(student, n, m, table):
    try:
        agree(student.relative_bias, ref.relative_bias, n, m, table)
    except Failed as failure:
        if failure.verdict.exception != "IndexError":
            raise
        fact = "relative_bias: reads beyond the table (IndexError): are offsets clipped to -L … L before they are"
        fact += " shifted to an index, and is it an index of the last axis?"
        raise failure.saying(fact) from failure


@number("6.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m"), [(5, 8), (9, 6), (7, 7), (1, 6), (6, 1), (2, 11)])
def test_offsets(student, n, m):
    """Key minus query picks the entry (a table long enough for every offset)"""
    table = draw("21")
    check_bias(student, n, m, table)
    check_bias(student, 1, 1, table)
    check_bias(student, 11, 11, table)


@number("6.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m", "entries"), FAR)
def test_far_offsets(student, n, m, entries):
    """Offsets beyond the table are clipped to its two ends, or to the only entry"""
    check_bias(student, n, m, draw("entries", entries=entries))
    check_bias(student, n, m, draw("1"))


@number("6.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "m", "heads", "entries"), HEADS)
def test_heads(student, n, m, heads, entries):
    """Every head has biases of its own, however many heads, entries and tokens there are"""
    check_bias(student, n, m, draw("heads entries", heads=heads, entries=entries))
    check_bias(student, n, m, draw("heads 1", heads=heads))


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_gradient_of_the_bias(student):
    """Gradients flow to the table: an entry gets the sum over its places, an end also over the offsets beyond"""
    table = draw("15")
    check_bias(student, 5, 8, table)
    gradients_agree(student.relative_bias, ref.relative_bias, 5, 8, table)
    gradients_agree(student.relative_bias, ref.relative_bias, 5, 8, 40 * table)
    for other in combinations():
        gradients_agree(student.relative_bias, ref.relative_bias, *other)


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_dtype_of_the_bias(student):
    """The bias has the dtype and the device of the table, which is not changed; earlier calls make no difference"""
    table = draw("17")
    check_bias(student, 8, 6, table)
    keeps_dtype(student.relative_bias, 8, 6, table)
    works_on_meta(student.relative_bias, 8, 6, table)
    leaves_inputs(student.relative_bias, 8, 6, table)
    others = (
        (9, 9, draw("1 19")),
        (7, 5, draw("heads 15", heads=2)),
        (8, 6, 40 * table),
        (6, 8, table),
        (8, 6, table[1:-1]),
    )
    agree_in_turn(student.relative_bias, ref.relative_bias, (8, 6, table), *others)
    for numbers in (0 * table, table.abs(), -table.abs(), table.sort().values):
        check_bias(student, 8, 6, numbers)
    for other in combinations():
        check_bias(student, *other)

"""Hidden tests: positional encoding, 20 points."""

from dataclasses import replace

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import positional_encoding as ref
from softmark import (
    Failed,
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
    uses_weights,
    works_on_meta,
)

TABLES = [(12, 8), (13, 6), (17, 14)]
ODD_TABLES = [(12, 7), (11, 9)]


# Part 1: angles


@number("1.1")
@weight(1)
@visibility("after_published")
def test_positions(student):
    """Positions are rows and count from 0 (d = 2: a single pair)"""
    agree(student.angles, ref.angles, 11, 2)
    agree(student.angles, ref.angles, 1, 2)


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("d", [6, 14, 16])
def test_frequencies(student, d):
    """Pair i has the frequency 1 / 10000^(2i/d) (n = 2: row 1 holds the frequencies)"""
    agree(student.angles, ref.angles, 2, d)


@number("1.3")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), TABLES)
def test_angles(student, n, d):
    """All angles: every position times every frequency"""
    agree(student.angles, ref.angles, n, d)


@number("1.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), ODD_TABLES)
def test_angles_of_an_odd_width(student, n, d):
    """An odd width has ⌈d/2⌉ angles, and its exponent is 2i/d as well"""
    agree(student.angles, ref.angles, n, d)


# Part 2: sinusoidal


def check_table(student, n, d):
    agree(student.sinusoidal, ref.sinusoidal, n, d, carried={"angles": student.angles})


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
    student.sinusoidal(14, 6)
    student.sinusoidal(9, 8)
    check_table(student, 14, 8)
    repeatable(student.sinusoidal, 14, 8)


# Part 3: add_positions


def check_sum(student, X):
    agree(student.add_positions, ref.add_positions, X, carried={"sinusoidal": student.sinusoidal})


@number("3.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), [(12, 8), (13, 6), (1, 4)])
def test_one_sequence(student, n, d):
    """One sequence: p_t is added to token t"""
    check_sum(student, draw("n d", n=n, d=d))


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"batch": 3, "n": 11, "d": 8}, {"batch": (2, 5), "n": 12, "d": 6}])
def test_batches(student, sizes):
    """One or two batch dimensions: every sequence gets the same positions"""
    check_sum(student, draw("batch n d", **sizes))


@number("3.3")
@weight(0.5)
@visibility("after_published")
def test_dtype_and_device(student):
    """The result has the dtype and the device of X"""
    X = draw("n d", n=11, d=6, dtype=torch.float32)
    check_sum(student, X)
    keeps_dtype(student.add_positions, X)
    works_on_meta(student.add_positions, X)


@number("3.4")
@weight(0.25)
@visibility("after_published")
def test_inputs_are_left_alone(student):
    """X is not changed, and a second call gives the same result"""
    X = draw("n d", n=10, d=6)
    check_sum(student, X)
    leaves_inputs(student.add_positions, X)
    repeatable(student.add_positions, X)


@number("3.5")
@weight(0.25)
@visibility("after_published")
def test_gradient_of_X(student):
    """Gradients flow to X"""
    X = draw("n d", n=10, d=8)
    check_sum(student, X)
    gradients_agree(student.add_positions, ref.add_positions, X)


# Part 4: shift_matrix


def check_shift(student, k, d):
    agree(student.shift_matrix, ref.shift_matrix, k, d, carried={"angles": student.angles})


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("k", [1, 4])
def test_one_block(student, k):
    """One pair: the 2 × 2 matrix that adds k to its angle"""
    check_shift(student, k, 2)


@number("4.2")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize(("k", "d"), [(5, 6), (3, 10), (7, 8)])
def test_blocks(student, k, d):
    """Every pair has its own block on the diagonal, with its own frequency"""
    check_shift(student, k, d)


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("k", "d"), [(-4, 2), (-3, 8)])
def test_shifts_to_the_left(student, k, d):
    """A negative k shifts to the left, and k = 0 not at all"""
    check_shift(student, k, d)
    check_shift(student, 0, d)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_odd_width_is_refused(student):
    """An odd width raises ValueError"""
    student.shift_matrix(2, 4)  # an even one is not refused
    raises(ValueError, student.shift_matrix, 3, 7)
    raises(ValueError, student.shift_matrix, -2, 5)


# Part 5: LearnedPositions


def learned(student, max_len, d):
    """The student's module and the reference's, with the same table of random numbers."""
    table = draw("max_len d", max_len=max_len, d=d, dtype=torch.float32)
    theirs, ours = student.LearnedPositions(max_len, d), ref.LearnedPositions(max_len, d)
    theirs.load_state_dict({"table": table})
    ours.load_state_dict({"table": table})
    return theirs, ours, table


@number("5.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), [(11, 6), (4, 7)])
def test_learned_rows(student, n, d):
    """Row t of the table is added to token t (as many tokens as rows)"""
    theirs, ours, _ = learned(student, n, d)
    agree(theirs, ours, draw("n d", n=n, d=d, dtype=torch.float32))


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (3,), (2, 4)])
def test_shorter_sequences(student, batch):
    """Shorter sequences get the first rows, with none, one or two batch dimensions"""
    theirs, ours, _ = learned(student, 13, 6)
    for n in (10, 5, 1):
        agree(theirs, ours, draw("batch n d", batch=batch, n=n, d=6, dtype=torch.float32))


@number("5.3")
@weight(0.4)
@visibility("after_published")
@pytest.mark.parametrize(("max_len", "n"), [(9, 10), (9, 20), (1, 4)])
def test_too_long_a_sequence(student, max_len, n):
    """A sequence longer than the table raises ValueError, one as long as the table fits"""
    theirs, _, _ = learned(student, max_len, 6)
    theirs(draw("n d", n=max_len, d=6, dtype=torch.float32))  # is not refused
    raises(ValueError, theirs, draw("n d", n=n, d=6, dtype=torch.float32))
    raises(ValueError, theirs, draw("batch n d", batch=2, n=n, d=6, dtype=torch.float32))


@number("5.4")
@weight(0.2)
@visibility("after_published")
def test_the_only_parameter(student):
    """The table is the module's only parameter, and nothing else is in its state_dict"""
    theirs, _, table = learned(student, 12, 5)
    agree(theirs.parameters(), {"table": table})
    theirs.has_entries({"table": table})
    uses_weights(theirs, draw("n d", n=9, d=5))


@number("5.5")
@weight(0.2)
@visibility("after_published")
def test_gradients_of_the_table(student):
    """Gradients flow to X and to the table"""
    theirs, ours, _ = learned(student, 12, 6)
    X = draw("n d", n=9, d=6, dtype=torch.float32)
    agree(theirs, ours, X)
    gradients_agree(theirs, ours, X)


@number("5.6")
@weight(0.2)
@visibility("after_published")
def test_learned_dtype(student):
    """The result has the dtype of X, X is not changed, and a second call gives the same result"""
    theirs, ours, _ = learned(student, 11, 8)
    X = draw("n d", n=9, d=8)
    agree(theirs, ours, X)
    keeps_dtype(theirs, X)
    leaves_inputs(theirs, X)
    repeatable(theirs, X)


# Part 6: relative_bias


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


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_dtype_of_the_bias(student):
    """The bias has the dtype and the device of the table, and the table is not changed"""
    table = draw("17")
    check_bias(student, 8, 6, table)
    keeps_dtype(student.relative_bias, 8, 6, table)
    works_on_meta(student.relative_bias, 8, 6, table)
    leaves_inputs(student.relative_bias, 8, 6, table)

"""Public tests: positional encoding. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number

from softmark import agree, draw, keeps_dtype, leaves_inputs, raises, works_on_meta


def require_gradients(name, gradient):
    assert gradient is not None, f"no gradient reaches {name}"


# Part 1: angles ---------------------------------------------------------------------------------------------


@number("1.1")
def test_angles(student, example):
    """Every position times every frequency."""
    example(student.angles, "angles")


@number("1.2")
def test_angles_of_an_odd_width(student, example):
    """An odd width has one column more than its half, rounded down."""
    example(student.angles, "angles, an odd width")


# Part 2: sinusoidal -----------------------------------------------------------------------------------------


@number("2.1")
def test_table(student, example):
    """Sines and cosines alternate."""
    example(student.sinusoidal, "sinusoidal")


@number("2.2")
def test_table_of_an_odd_width(student, example):
    """An odd width drops the last cosine."""
    example(student.sinusoidal, "sinusoidal, an odd width")


# Part 3: add_positions --------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["add_positions", "add_positions, a batch"])
def test_add_positions(student, example, name):
    """Token t of every sequence gets the same vector."""
    example(student.add_positions, name)


@number("3.2")
def test_add_positions_manners(student):
    """The dtype and the device stay, and the tokens stay as they were."""
    X = draw("batch n d", batch=2, n=5, d=4)
    keeps_dtype(student.add_positions, X)
    leaves_inputs(student.add_positions, X)
    works_on_meta(student.add_positions, X)
    require_gradients("X", student.add_positions.vjp((X,), {}, X).args[0])


# Part 4: shift_matrix ---------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["shift_matrix", "shift_matrix, to the left"])
def test_shift_matrix(student, example, name):
    """A block on the diagonal for every pair."""
    example(student.shift_matrix, name)


@number("4.2")
def test_shift_matrix_shifts(student):
    """It turns the rows of your table into those k places further on."""
    P = student.sinusoidal(9, 8)
    agree(P[:-3] @ student.shift_matrix(3, 8).to(P.dtype), P[3:])


@number("4.3")
def test_shift_matrix_refuses(student):
    """An odd width raises ValueError."""
    student.shift_matrix(1, 6)
    raises(ValueError, student.shift_matrix, 1, 9)


# Part 5: LearnedPositions -----------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["LearnedPositions", "LearnedPositions, a batch"])
def test_learned_positions(student, example, name):
    """The first rows of the table are added."""
    example(student.LearnedPositions, name)


@number("5.2")
def test_learned_table(student):
    """The table is the only parameter, and a gradient reaches it."""
    own = student.LearnedPositions(7, 5)
    agree({name: tuple(value.shape) for name, value in own.parameters().items()}, {"table": (7, 5)})
    own.has_entries({"table": torch.zeros(7, 5)})
    X = draw("n d", n=4, d=5, dtype=torch.float32)
    require_gradients("the table", own.vjp((X,), {}, X).parameters["table"])


@number("5.3")
def test_learned_positions_refuse(student):
    """A sequence that is too long raises ValueError; one as long as the table does not."""
    own = student.LearnedPositions(4, 3)
    own(draw("n d", n=4, d=3, dtype=torch.float32))
    raises(ValueError, own, draw("n d", n=5, d=3, dtype=torch.float32))


# Part 6: relative_bias --------------------------------------------------------------------------------------


@number("6.1")
def test_relative_bias(student, example):
    """The offset is key minus query."""
    example(student.relative_bias, "relative_bias")


@number("6.2")
def test_far_offsets(student, example):
    """Offsets beyond the table count as its ends."""
    example(student.relative_bias, "relative_bias, far offsets")


@number("6.3")
def test_heads(student, example):
    """Every head has biases of its own."""
    example(student.relative_bias, "relative_bias, heads")


@number("6.4")
def test_relative_bias_manners(student):
    """The dtype stays, and the table stays as it was."""
    table = draw("entries", entries=5)
    keeps_dtype(student.relative_bias, 3, 4, table)
    leaves_inputs(student.relative_bias, 3, 4, table)
    require_gradients("the table", student.relative_bias.vjp((3, 4, table), {}, draw("n m", n=3, m=4)).args[2])

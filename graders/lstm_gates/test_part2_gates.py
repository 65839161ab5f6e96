"""Hidden tests of part 2: the gates."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.inputs import with_gates_far_out
from reference import lstm_gates as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    to_float32,
)


@number("2.1")
@weight(0.5)
@visibility("after_published")
def test_gates_of_equal_blocks(student):
    """σ for i, f and o, tanh for g: all four blocks hold the same numbers."""
    block = draw("n h", n=5, h=3)
    agree(student.gates, ref.gates, torch.cat([block] * 4, dim=-1))


@number("2.2")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "h"),
    [((5,), 8), ((), 8), ((2, 7), 8), ((1,), 8), ((8,), 2), ((4, 4), 1), ((3, 12), 3), ((33,), 4), ((100,), 17)],
)
def test_gates(student, batch, h):
    """Each gate from its own block, with any batch dimensions and widths."""
    agree(student.gates, ref.gates, draw("batch h4", batch=batch, h4=4 * h))


@number("2.3")
@weight(0.5)
@visibility("after_published")
def test_gates_far_out(student):
    """Entries up to ±1000: gates that are closed or wide open, and no NaN."""
    z = draw("n h4", n=5, h4=4 * 3)
    z[0], z[1], z[2] = 1000, -1000, 20 * z[2]
    agree(student.gates, ref.gates, z)
    z = with_gates_far_out([15, 20, 30, 50, 100, 300, 1000])
    agree(student.gates, ref.gates, z)
    agree(student.gates, ref.gates, to_float32(z))
    agree(student.gates, ref.gates, 0 * z)


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_gates_conduct(student):
    """Gradients flow, the dtype stays, no input is changed, and earlier calls make no difference."""
    z = draw("n h4", n=5, h4=4 * 3)
    for scale in (1, 40):
        gradients_agree(student.gates, ref.gates, scale * z)
    for far_out in ([5, 10, 20], [50, 100, 500]):
        gradients_agree(student.gates, ref.gates, with_gates_far_out(far_out))
    for values in draw("8", "2 3 4", "1 1 12"):
        gradients_agree(student.gates, ref.gates, values)
    agree_at_extremes(student.gates, ref.gates, z / z.abs().max())
    keeps_dtype(student.gates, z)
    leaves_inputs(student.gates, z)
    agree_in_turn(student.gates, ref.gates, [z], [draw("1 m 24", m=2)], [draw("4")])

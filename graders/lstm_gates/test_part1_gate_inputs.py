"""Hidden tests: the LSTM gate equations, 20 points; part 1, the inputs of the gates.

Each test shows one thing that can be wrong, and the tests of a part go from the isolated to the full. Where PyTorch has
the same computation, the reference is compared with it (`pytorch.py`).
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.inputs import step_inputs
from reference import lstm_gates as ref
from softmark import agree, agree_at_extremes, agree_in_turn, gradients_agree, keeps_dtype, leaves_inputs

ALIKE = [
    *(((5,), 8, 3, 2), ((5,), 3, 8, 2), ((2, 3), 12, 12, 3), ((), 4, 4, 1)),
    *(((4,), 4, 4, 4), ((8,), 8, 3, 2), ((3, 3), 5, 3, 3), ((6, 2), 6, 2, 6)),
]
"""Batch, D, P and H where axes that must not be mixed up are of equal length, such as D and 4H."""


@number("1.1")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_x(student):
    """The share of the input: W_ih x, with h and the biases zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, x, 0 * h, W_ih, W_hh, 0 * b_ih, 0 * b_hh)


@number("1.2")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_h(student):
    """The share of the previous hidden state: W_hh h, with x and the biases zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, 0 * x, h, W_ih, W_hh, 0 * b_ih, 0 * b_hh)


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_biases(student):
    """The share of the biases: b_ih + b_hh, with x and h zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, 0 * x, 0 * h, W_ih, W_hh, b_ih, b_hh)


@number("1.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "d", "p", "h"),
    [((), 4, 6, 6), ((5,), 3, 4, 4), ((2, 7), 5, 3, 3), ((1,), 2, 7, 7), ((4,), 3, 2, 5), ((67,), 33, 65, 17), *ALIKE],
)
def test_gate_inputs(student, batch, d, p, h):
    """The whole equation, with any batch dimensions and widths."""
    agree(student.gate_inputs, ref.gate_inputs, *step_inputs(batch, d, p, h))


@number("1.5")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_conduct(student):
    """Gradients flow, the dtype stays, no input is changed, and earlier calls make no difference."""
    inputs = step_inputs(batch=(5,), d=3, p=4, h=4)
    gradients_agree(student.gate_inputs, ref.gate_inputs, *inputs)
    gradients_agree(student.gate_inputs, ref.gate_inputs, *(40 * value for value in inputs))
    for sizes in ((), 4, 3, 5), ((2, 3), 8, 8, 2), ((1,), 1, 4, 1):
        gradients_agree(student.gate_inputs, ref.gate_inputs, *step_inputs(*sizes))
    for scale in (0, 1e-30, 1e4):
        agree(student.gate_inputs, ref.gate_inputs, *(scale * value for value in inputs))
    agree_at_extremes(student.gate_inputs, ref.gate_inputs, *inputs)
    keeps_dtype(student.gate_inputs, *inputs)
    leaves_inputs(student.gate_inputs, *inputs)
    others = step_inputs((1, 3), 6, 7, 7), step_inputs((), 1, 1, 1), [40 * value for value in inputs]
    agree_in_turn(student.gate_inputs, ref.gate_inputs, inputs, *others)

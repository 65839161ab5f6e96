"""Hidden tests of part 7: the gradients of one step."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.inputs import with_gates_far_out
from reference import lstm_gates as ref
from softmark import agree, agree_in_turn, confirm_reference, draw, keeps_dtype, leaves_inputs, to_float32


def backward_inputs(n, d, h):
    """Draw x, h, c, the parameters of the step, and the gradients of its two results."""
    return draw("n d", "n h", "n h", "h4 d", "h4 h", "h4", "h4", "n h", "n h", n=n, d=d, h=h, h4=4 * h)


def autograd_step_backward(*inputs):
    """Return what autograd makes of the step's forward pass."""
    *arguments, dh_t, dc_t = inputs
    leaves = [argument.clone().requires_grad_() for argument in arguments]
    x, h, c, *weights = leaves
    results = ref.next_state(*ref.gates(ref.gate_inputs(x, h, *weights)), c)
    return torch.autograd.grad(results, leaves, (dh_t, dc_t))


def check_backward(student, *inputs):
    """Check that the student's gradients are autograd's."""
    confirm_reference(lambda: ref.lstm_step_backward(*inputs), lambda: autograd_step_backward(*inputs), "autograd")
    agree(student.lstm_step_backward, ref.lstm_step_backward, *inputs)


ALIKE = [(4, 4, 3), (3, 5, 3), (2, 4, 4), (3, 8, 2), (8, 3, 2), (8, 8, 2), (4, 4, 4)]
"""N, D and H where axes that must not be mixed up are of equal length: N = D, N = H, D = H, D = 4H, N = 4H."""


@number("7.1")
@weight(0.5)
@visibility("after_published")
def test_backward_through_the_cell(student):
    """One sequence, a gradient for c_t only."""
    *inputs, dh_t, dc_t = backward_inputs(n=1, d=3, h=5)
    check_backward(student, *inputs, 0 * dh_t, dc_t)


@number("7.2")
@weight(0.5)
@visibility("after_published")
def test_backward_through_the_hidden_state(student):
    """One sequence, a gradient for h_t only."""
    *inputs, dh_t, dc_t = backward_inputs(n=1, d=3, h=5)
    check_backward(student, *inputs, dh_t, 0 * dc_t)


@number("7.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "h"), [(5, 3, 4), (2, 6, 3), *ALIKE, (67, 33, 17)])
def test_backward(student, n, d, h):
    """Both gradients and a batch: what is shared by the sequences adds up."""
    check_backward(student, *backward_inputs(n, d, h))


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_backward_conduct(student):
    """The dtype stays, no input is changed, and earlier calls make no difference."""
    inputs = backward_inputs(n=2, d=3, h=5)
    check_backward(student, *inputs)
    keeps_dtype(student.lstm_step_backward, *inputs)
    leaves_inputs(student.lstm_step_backward, *inputs)
    others = (
        backward_inputs(n=3, d=4, h=6),
        backward_inputs(n=1, d=1, h=1),
        (*inputs[:7], 100 * inputs[7], 100 * inputs[8]),
    )
    agree_in_turn(student.lstm_step_backward, ref.lstm_step_backward, inputs, *others)
    agree(student.lstm_step_backward, ref.lstm_step_backward, *to_float32(inputs))
    far_out = with_gates_far_out([10, 20, 50, 100, 1000])
    _, h, c, _, W_hh, b_ih, b_hh, *gradients = backward_inputs(n=len(far_out), d=12, h=3)
    for scale in (1, 30):
        given = far_out, h, scale * c, torch.eye(12).double(), 0 * W_hh, b_ih, b_hh, *gradients
        check_backward(student, *given)
        agree(student.lstm_step_backward, ref.lstm_step_backward, *to_float32(given))
    for scale in (0, 1e-3):
        check_backward(student, *(scale * value for value in inputs[:7]), *inputs[7:])
        check_backward(student, *inputs[:7], *(scale * value for value in inputs[7:]))

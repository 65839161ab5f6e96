"""Hidden tests of part 7: the gradients of one step."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import lstm_gates as ref
from softmark import agree, agree_in_turn, confirm_reference, draw, keeps_dtype, leaves_inputs


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
@pytest.mark.parametrize(("n", "d", "h"), [(5, 3, 4), (2, 6, 3)])
def test_backward(student, n, d, h):
    """Both gradients and a batch: what is shared by the sequences adds up."""
    check_backward(student, *backward_inputs(n, d, h))


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_backward_conduct(student):
    """The dtype stays, no input is changed, and any calls may come before."""
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

"""Hidden tests of part 6: back-propagation through time."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.inputs import SEQUENCES, sequence_inputs
from graders.recurrent.witnesses import autograd_backward
from reference import recurrent as ref
from softmark import agree, agree_in_turn, confirm_reference, draw, to_float32, well_behaved


def backward_inputs(t, n, d, h):
    """Draw x, h0, the weights, and the gradients of all outputs; states are small, so that tanhs have a slope."""
    x, h0, W_x, W_h, b = sequence_inputs(t, n, d, h)
    return x / 2, h0 / 2, W_x, W_h, b / 2, draw("t n h", t=t, n=n, h=h)


def lively_inputs(t, n, d, h):
    """Draw inputs with which gradients neither vanish nor explode: small states, and a W_h that keeps lengths."""
    x, h0, W_x, W_h, b, d_outputs = backward_inputs(t, n, d, h)
    return x / 2, h0 / 2, W_x, 1.2 * torch.linalg.qr(W_h).Q, b / 2, d_outputs


def check_backward(student, *inputs):
    """Check that the student's gradients are autograd's."""
    confirm_reference(lambda: ref.rnn_backward(*inputs), lambda: autograd_backward(*inputs), "autograd")
    agree(student.rnn_backward, ref.rnn_backward, *inputs)


@number("6.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "h"), [(1, 3, 5), (4, 3, 2), (3, 3, 3)])
def test_backward_through_one_step(student, n, d, h):
    """One step: what is shared by the sequences adds up."""
    check_backward(student, *backward_inputs(1, n, d, h))


@number("6.2")
@weight(0.5)
@visibility("after_published")
def test_backward_from_the_last_output(student):
    """Only the last output has a gradient, and it goes back to the first step."""
    *inputs, d_outputs = backward_inputs(4, 2, 3, 5)
    d_outputs[:-1] = 0
    check_backward(student, *inputs, d_outputs)


@number("6.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [*SEQUENCES, (40, 2, 3, 3), (2, 35, 17, 9)])
def test_backward(student, t, n, d, h):
    """Every output has a gradient: both ways to a state add up, and so do the steps."""
    agree(student.rnn_backward, ref.rnn_backward, *backward_inputs(t, n, d, h))


@number("6.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6, 9])
def test_truncated_backward(student, steps):
    """steps=k: the gradient of each output goes back through k steps at most."""
    check_backward(student, *lively_inputs(6, 3, 2, 4), steps)
    agree(student.rnn_backward, ref.rnn_backward, *lively_inputs(steps, 1, 2, 2), steps)


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("steps", [None, 2])
def test_backward_to_the_initial_state(student, steps):
    """The gradient of h0 has its shape: a sum over the batch for a state that is shared, None for None."""
    for sizes in (4, 2, 3, 5), (3, 3, 2, 3), (1, 4, 2, 3), (5, 1, 2, 2), (3, 2, 2, 1):
        x, h0, *rest = lively_inputs(*sizes)
        check_backward(student, x, h0[0].clone(), *rest, steps)
        check_backward(student, x, None, *rest, steps)


@number("6.6")
@weight(0.5)
@visibility("after_published")
def test_backward_conduct(student):
    """Tanhs far out have no slope, the dtype stays, no input is changed, and any calls may come before."""
    x, h0, *rest = inputs = backward_inputs(4, 2, 3, 5)
    agree(student.rnn_backward, ref.rnn_backward, *inputs)
    for call in (inputs, (*inputs, 2), (x, None, *rest, 3)):
        well_behaved(student.rnn_backward, ref.rnn_backward, *call)
    others = [(*inputs, 2), (x, None, *rest), (*backward_inputs(7, 3, 4, 6), 3), backward_inputs(2, 1, 1, 1)]
    agree_in_turn(student.rnn_backward, ref.rnn_backward, inputs, *others, (x, h0[0].clone(), *rest, 1))
    for scale in (0, 3, 1000):
        agree(student.rnn_backward, ref.rnn_backward, scale * x, h0, *rest)
        agree(student.rnn_backward, ref.rnn_backward, x, h0, *rest[:-1], scale * rest[-1], 3)
    agree(student.rnn_backward, ref.rnn_backward, *to_float32((100 * x, *inputs[1:])), 2)
    agree(student.rnn_backward, ref.rnn_backward, *to_float32(backward_inputs(3, 3, 3, 3)), steps=None)

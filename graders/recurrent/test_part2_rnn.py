"""Hidden tests of part 2: a whole sequence."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.inputs import LONG, SEQUENCES, sequence_inputs
from graders.recurrent.witnesses import torch_rnn
from reference import recurrent as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    draw,
    gradients_agree,
    ops_independent_of,
    well_behaved,
)


def check_rnn(student, *inputs):
    """Check that the student's sequence is PyTorch's."""
    confirm_reference(lambda: ref.rnn(*inputs), lambda: torch_rnn(*inputs), "PyTorch's nn.RNN")
    agree(student.rnn, ref.rnn, *inputs)


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [*SEQUENCES, *LONG])
def test_rnn(student, t, n, d, h):
    """A sequence from a given state: every output and the state after the last step."""
    check_rnn(student, *sequence_inputs(t, n, d, h))


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [(4, 2, 3, 5), (1, 2, 3, 5), (3, 3, 3, 3), (11, 1, 8, 2)])
def test_rnn_without_state(student, t, n, d, h):
    """A state that is None is zero."""
    x, _, *weights = sequence_inputs(t, n, d, h)
    check_rnn(student, x, None, *weights)


@number("2.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [(4, 2, 3, 5), (1, 4, 3, 2), (2, 3, 2, 3), (3, 1, 2, 4), (2, 5, 3, 1)])
def test_rnn_with_a_learned_state(student, t, n, d, h):
    """A state of shape (H,) is that of all sequences, and its gradient is the sum over them."""
    x, h0, *weights = sequence_inputs(t, n, d, h)
    check_rnn(student, x, h0[0].clone(), *weights)
    gradients_agree(student.rnn, ref.rnn, x, h0[0].clone(), *weights)


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_rnn_gradients(student):
    """The gradients through all steps, for the input, the initial state and every parameter."""
    inputs = sequence_inputs(t=4, n=2, d=3, h=5)
    agree(student.rnn, ref.rnn, *inputs)
    gradients_agree(student.rnn, ref.rnn, *inputs)
    agree_at_extremes(student.rnn, ref.rnn, *inputs, large=(0, 1))
    for sizes in (1, 3, 2, 5), (67, 1, 2, 2), (2, 17, 8, 2):
        gradients_agree(student.rnn, ref.rnn, *sequence_inputs(*sizes))
    x, _, *weights = inputs
    gradients_agree(student.rnn, ref.rnn, x, None, *weights)


@number("2.5")
@weight(0.25)
@visibility("after_published")
def test_rnn_conduct(student):
    """The dtype and the device are those of the input, no input is changed, and any calls may come before."""
    x, h0, *weights = inputs = sequence_inputs(t=4, n=2, d=3, h=5)
    agree(student.rnn, ref.rnn, *inputs)
    for state in (h0, None, h0[0].clone()):
        well_behaved(student.rnn, ref.rnn, x, state, *weights)
    others = sequence_inputs(t=6, n=3, d=4, h=6), sequence_inputs(t=2, n=1, d=1, h=1), (40 * x, h0, *weights)
    agree_in_turn(student.rnn, ref.rnn, (x, None, *weights), inputs, (x, h0[0].clone(), *weights), *others)


@number("2.6")
@weight(0.25)
@visibility("after_published")
def test_rnn_has_no_loop_over_the_batch(student):
    """All sequences of the batch take a step together."""
    x, h0, *weights = large = sequence_inputs(t=3, n=11, d=4, h=5)
    agree(student.rnn, ref.rnn, *large)
    ops_independent_of("the number of sequences in the batch", student.rnn, (x[:, :2], h0[:2], *weights), large)
    few, many = ((draw("3 n 4", n=n), None, *weights) for n in (2, 11))
    ops_independent_of("the number of sequences in the batch", student.rnn, few, many)

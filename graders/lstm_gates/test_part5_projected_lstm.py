"""Hidden tests of part 5: a projected hidden state."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.gradients import check_function_gradients
from graders.lstm_gates.inputs import sequence_inputs
from graders.lstm_gates.pytorch import confirm_lstm
from reference import lstm_gates as ref
from softmark import agree, agree_in_turn, gradients_agree, keeps_dtype, leaves_inputs


@number("5.1")
@weight(0.5)
@visibility("after_published")
def test_projected_lstm_of_one_step(student):
    """One step from a given state: h is projected, c is not."""
    inputs = sequence_inputs(t=1, n=5, d=3, h=4, p=2)
    agree(student.projected_lstm, ref.projected_lstm, *inputs)


@number("5.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h", "p"), [(5, 3, 4, 6, 2), (3, 1, 2, 7, 4)])
def test_projected_lstm(student, t, n, d, h, p):
    """A sequence from a given state: the next step reads the projected h."""
    x, h0, c0, *weights = sequence_inputs(t, n, d, h, p)
    confirm_lstm(ref.projected_lstm, x, h0, c0, weights)
    agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights)


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("given", ["neither", "h0", "c0"])
def test_projected_lstm_without_state(student, given):
    """An initial state that is None is zero, P wide for h and H wide for c."""
    x, h0, c0, *weights = sequence_inputs(t=4, n=2, d=3, h=5, p=7)
    h0, c0 = (h0 if given == "h0" else None), (c0 if given == "c0" else None)
    agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights)


@number("5.4")
@weight(0.25)
@visibility("after_published")
def test_projected_lstm_conduct(student):
    """Gradients reach every parameter, the dtype stays, no input is changed, and any calls may come before."""
    x, h0, c0, *weights = inputs = sequence_inputs(t=4, n=2, d=3, h=5, p=7)
    check_function_gradients(student.projected_lstm, ref.projected_lstm, inputs)
    gradients_agree(student.projected_lstm, ref.projected_lstm, 40 * x, h0, c0, *weights)
    keeps_dtype(student.projected_lstm, x, None, None, *weights)
    leaves_inputs(student.projected_lstm, x, h0, c0, *weights)
    others = sequence_inputs(t=6, n=3, d=4, h=6, p=8), sequence_inputs(t=2, n=1, d=1, h=1, p=1)
    given = inputs, (x, None, c0, *weights), (x, h0, None, *weights), (40 * x, h0, c0, *weights)
    agree_in_turn(student.projected_lstm, ref.projected_lstm, (x, None, None, *weights), *others, *given)

"""Hidden tests of part 5: a projected hidden state."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.gradients import check_function_gradients
from graders.lstm_gates.inputs import sequence_inputs
from graders.lstm_gates.pytorch import confirm_lstm
from reference import lstm_gates as ref
from softmark import agree, agree_at_extremes, agree_in_turn, gradients_agree, keeps_dtype, leaves_inputs, to_float32

ALIKE = [
    *((4, 4, 4, 4, 4), (3, 2, 4, 5, 5), (3, 2, 3, 2, 8), (2, 3, 8, 2, 3), (3, 5, 3, 2, 5), (2, 8, 3, 2, 4)),
    *((4, 3, 2, 5, 4), (2, 5, 3, 5, 3), (65, 2, 3, 4, 1), (2, 67, 33, 4, 17)),
]
"""T, N, D, H and P where axes that must not be mixed up are of equal length, and where some are long."""


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
@pytest.mark.parametrize(("t", "n", "d", "h", "p"), [(5, 3, 4, 6, 2), (3, 1, 2, 7, 4), *ALIKE])
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
    for sizes in (4, 2, 3, 5, 7), (3, 3, 3, 3, 3), (11, 1, 3, 4, 2):
        x, h0, c0, *weights = sequence_inputs(*sizes)
        h0, c0 = (h0 if given == "h0" else None), (c0 if given == "c0" else None)
        agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights)
    gradients_agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights)


@number("5.4")
@weight(0.25)
@visibility("after_published")
def test_projected_lstm_conduct(student):
    """Gradients reach every parameter, the dtype stays, no input is changed, and earlier calls make no difference."""
    x, h0, c0, *weights = inputs = sequence_inputs(t=4, n=2, d=3, h=5, p=7)
    check_function_gradients(student.projected_lstm, ref.projected_lstm, inputs)
    gradients_agree(student.projected_lstm, ref.projected_lstm, 40 * x, h0, c0, *weights)
    agree_at_extremes(student.projected_lstm, ref.projected_lstm, *inputs, large=(2,))
    for sizes in (1, 3, 2, 5, 3), (35, 1, 2, 2, 1), (2, 17, 8, 2, 2):
        gradients_agree(student.projected_lstm, ref.projected_lstm, *sequence_inputs(*sizes))
    keeps_dtype(student.projected_lstm, x, None, None, *weights)
    leaves_inputs(student.projected_lstm, x, h0, c0, *weights)
    others = sequence_inputs(t=6, n=3, d=4, h=6, p=8), sequence_inputs(t=2, n=1, d=1, h=1, p=1)
    given = inputs, (x, None, c0, *weights), (x, h0, None, *weights), (40 * x, h0, c0, *weights)
    agree_in_turn(student.projected_lstm, ref.projected_lstm, (x, None, None, *weights), *others, *given)
    agree(student.projected_lstm, ref.projected_lstm, *to_float32(inputs))
    for scale in (0, 1e-3, 1000):
        agree(student.projected_lstm, ref.projected_lstm, scale * x, h0, c0, *weights)
        scaled = [scale * weight for weight in weights[:4]]
        agree(student.projected_lstm, ref.projected_lstm, x, scale * h0, c0, *scaled, weights[4])

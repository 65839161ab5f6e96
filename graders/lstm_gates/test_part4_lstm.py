"""Hidden tests of part 4: a whole sequence."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.gradients import check_function_gradients
from graders.lstm_gates.inputs import ALIKE, LONG, sequence_inputs
from graders.lstm_gates.pytorch import confirm_lstm
from reference import lstm_gates as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    repeatable,
    to_float32,
    works_on_meta,
)


@number("4.1")
@weight(0.5)
@visibility("after_published")
def test_lstm_of_one_step(student):
    """One step from a given state."""
    inputs = sequence_inputs(t=1, n=5, d=3, h=4)
    agree(student.lstm, ref.lstm, *inputs)


@number("4.2")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [(5, 3, 4, 6), (2, 7, 5, 3), (4, 1, 3, 7), (1, 2, 3, 4), *ALIKE, *LONG])
def test_lstm(student, t, n, d, h):
    """A sequence from a given state: every output and the state after the last step."""
    x, h0, c0, *weights = sequence_inputs(t, n, d, h)
    confirm_lstm(ref.lstm, x, h0, c0, weights)
    agree(student.lstm, ref.lstm, x, h0, c0, *weights)


@number("4.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("given", ["neither", "h0", "c0"])
def test_lstm_without_state(student, given):
    """An initial state that is None is zero; h0 and c0 may be None one without the other."""
    for sizes in (4, 2, 3, 5), (1, 2, 3, 5), (3, 3, 3, 3), (11, 1, 8, 2):
        x, h0, c0, *weights = sequence_inputs(*sizes)
        h0, c0 = (h0 if given == "h0" else None), (c0 if given == "c0" else None)
        agree(student.lstm, ref.lstm, x, h0, c0, *weights)
    gradients_agree(student.lstm, ref.lstm, x, h0, c0, *weights)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_lstm_gradients(student):
    """The gradients through all steps, for the input, the initial state and every parameter."""
    x, *rest = sequence_inputs(t=4, n=2, d=3, h=5)
    check_function_gradients(student.lstm, ref.lstm, (x, *rest))
    gradients_agree(student.lstm, ref.lstm, 40 * x, *rest)
    agree_at_extremes(student.lstm, ref.lstm, x, *rest, large=(2,))
    for sizes in (1, 3, 2, 5), (67, 1, 2, 2), (2, 17, 8, 2):
        gradients_agree(student.lstm, ref.lstm, *sequence_inputs(*sizes))


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_lstm_conduct(student):
    """The dtype and the device are those of the input, no input is changed, and earlier calls make no difference."""
    x, h0, c0, *weights = sequence_inputs(t=4, n=2, d=3, h=5)
    agree(student.lstm, ref.lstm, x, h0, c0, *weights)
    keeps_dtype(student.lstm, x, None, None, *weights)
    works_on_meta(student.lstm, x, None, None, *weights)
    leaves_inputs(student.lstm, x, h0, c0, *weights)
    repeatable(student.lstm, x, None, None, *weights)
    others = sequence_inputs(t=6, n=3, d=4, h=6), sequence_inputs(t=2, n=1, d=1, h=1)
    given = (x, h0, c0, *weights), (x, None, c0, *weights), (x, h0, None, *weights), (40 * x, h0, c0, *weights)
    agree_in_turn(student.lstm, ref.lstm, (x, None, None, *weights), *others, *given)
    agree(student.lstm, ref.lstm, *to_float32((x, h0, c0, *weights)))
    for scale in (0, 1e-3, 1000):
        agree(student.lstm, ref.lstm, scale * x, h0, c0, *weights)
        agree(student.lstm, ref.lstm, x, scale * h0, c0, *(scale * weight for weight in weights))


@number("4.6")
@weight(0.25)
@visibility("after_published")
def test_lstm_has_no_loop_over_the_batch(student):
    """All sequences of the batch take a step together."""
    small = sequence_inputs(t=3, n=2, d=4, h=5)
    large = sequence_inputs(t=3, n=11, d=4, h=5)
    agree(student.lstm, ref.lstm, *large)
    ops_independent_of("the number of sequences in the batch", student.lstm, small, large)

"""Hidden tests of part 3: the next state."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.inputs import gate_values
from reference import lstm_gates as ref
from softmark import agree, agree_at_extremes, agree_in_turn, gradients_agree, keeps_dtype, leaves_inputs, to_float32


@number("3.1")
@weight(0.5)
@visibility("after_published")
def test_next_state_keeps(student):
    """The cell keeps its content: the input gate is closed (i = 0)."""
    i, f, g, o, c = gate_values((5,), h=3)
    agree(student.next_state, ref.next_state, 0 * i, f, g, o, c)


@number("3.2")
@weight(0.5)
@visibility("after_published")
def test_next_state_writes(student):
    """The cell is written: the forget gate is closed (f = 0)."""
    i, f, g, o, c = gate_values((5,), h=3)
    agree(student.next_state, ref.next_state, i, 0 * f, g, o, c)


@number("3.3")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "h"),
    [((5,), 8), ((), 8), ((2, 7), 8), ((1,), 8), ((4,), 4), ((3, 3), 3), ((2, 5), 2), ((33,), 1), ((100,), 17)],
)
def test_next_state(student, batch, h):
    """Both equations, with any batch dimensions and widths."""
    agree(student.next_state, ref.next_state, *gate_values(batch, h))


@number("3.4")
@weight(0.5)
@visibility("after_published")
def test_next_state_conduct(student):
    """Gradients flow, the dtype stays, no input is changed, and earlier calls make no difference."""
    *gates, c = inputs = gate_values((5,), h=3)
    gradients_agree(student.next_state, ref.next_state, *inputs)
    gradients_agree(student.next_state, ref.next_state, *gates, 40 * c)
    for batch in (), (2, 3), (1,):
        gradients_agree(student.next_state, ref.next_state, *gate_values(batch, h=4))
    for scale in (0, 1e-3, 100):
        agree(student.next_state, ref.next_state, *gates, scale * c)
    tiny = c.new_tensor([1, 1e-30, 1e-10, 1e-5, 0])[:, None]
    agree(student.next_state, ref.next_state, *(tiny * value for value in inputs))
    agree(student.next_state, ref.next_state, *to_float32((*gates, 10 * c)))
    closed_or_open = [gate.round() for gate in gates]
    agree(student.next_state, ref.next_state, *closed_or_open, c)
    gradients_agree(student.next_state, ref.next_state, *closed_or_open, c)
    agree_at_extremes(student.next_state, ref.next_state, *inputs, large=(4,))
    keeps_dtype(student.next_state, *inputs)
    leaves_inputs(student.next_state, *inputs)
    others = gate_values((1, 3), h=6), gate_values((), h=1), (*gates, 40 * c)
    agree_in_turn(student.next_state, ref.next_state, inputs, *others)

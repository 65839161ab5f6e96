"""Hidden tests of part 3: the next state."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.inputs import gate_values
from reference import lstm_gates as ref
from softmark import agree, agree_in_turn, gradients_agree, keeps_dtype, leaves_inputs


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
@pytest.mark.parametrize("batch", [(5,), (), (2, 7), (1,)])
def test_next_state(student, batch):
    """Both equations, with any batch dimensions."""
    agree(student.next_state, ref.next_state, *gate_values(batch, h=8))


@number("3.4")
@weight(0.5)
@visibility("after_published")
def test_next_state_conduct(student):
    """Gradients pass, the dtype stays, no input is changed, and any calls may come before."""
    *gates, c = inputs = gate_values((5,), h=3)
    gradients_agree(student.next_state, ref.next_state, *inputs)
    gradients_agree(student.next_state, ref.next_state, *gates, 40 * c)
    keeps_dtype(student.next_state, *inputs)
    leaves_inputs(student.next_state, *inputs)
    others = gate_values((1, 3), h=6), gate_values((), h=1), (*gates, 40 * c)
    agree_in_turn(student.next_state, ref.next_state, inputs, *others)

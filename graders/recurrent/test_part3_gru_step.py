"""Hidden tests of part 3: a gated step."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.inputs import ALIKE, gated_inputs
from graders.recurrent.witnesses import torch_gru_step
from reference import recurrent as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    gradients_agree,
    to_float32,
    well_behaved,
)


def check_step(student, *inputs):
    """Check that the student's step is PyTorch's."""
    confirm_reference(lambda: ref.gru_step(*inputs), lambda: torch_gru_step(*inputs), "PyTorch's nn.GRUCell")
    agree(student.gru_step, ref.gru_step, *inputs)


def with_gates_at(r, z, *inputs):
    """Return the inputs with a reset and an update gate that are shut (-1), open (+1), or left alone (0)."""
    x, h, W_ih, W_hh, b_ih, b_hh = inputs
    far = 60.0 * torch.tensor([r, z, 0.0]).double().repeat_interleave(h.shape[-1])
    return x, h, W_ih, W_hh, b_ih + far, b_hh


@number("3.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("z", [1.0, -1.0], ids=["kept", "written"])
def test_update_gate(student, z):
    """z = 1 keeps the old state, z = 0 writes the new one."""
    check_step(student, *with_gates_at(0.0, z, *gated_inputs((5,), 3, 4)))


@number("3.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("r", [1.0, -1.0], ids=["open", "shut"])
def test_reset_gate(student, r):
    """r = 0 leaves the product with h and its bias out of the new state, r = 1 has both in it."""
    check_step(student, *with_gates_at(r, -1.0, *gated_inputs((5,), 3, 4)))


@number("3.3")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "d", "h"), [((), 4, 6), ((5,), 3, 4), ((2, 7), 5, 3), ((1,), 2, 7), ((35,), 33, 17), ((9,), 1, 1), *ALIKE]
)
def test_gru_step(student, batch, d, h):
    """The whole step, with any batch dimensions and widths."""
    *inputs, b_hh = gated_inputs(batch, d, h)
    check_step(student, *inputs, 2 * b_hh)  # large enough that no step is nearly right without a piece of it


@number("3.4")
@weight(0.25)
@visibility("after_published")
def test_gru_step_gradients(student):
    """Gradients pass, also where gates are nearly shut or open, and large numbers stay finite."""
    inputs = gated_inputs((5,), 3, 4)
    gradients_agree(student.gru_step, ref.gru_step, *inputs)
    agree_at_extremes(student.gru_step, ref.gru_step, *inputs, large=(0, 1))
    for sizes in ((), 4, 5), ((2, 3), 8, 2), ((1,), 1, 1):
        gradients_agree(student.gru_step, ref.gru_step, *gated_inputs(*sizes))
    for scale in (0, 1e-3, 10):
        gradients_agree(student.gru_step, ref.gru_step, *(scale * value for value in inputs))


@number("3.5")
@weight(0.5)
@visibility("after_published")
def test_gru_step_conduct(student):
    """The dtype stays, no input is changed, and any calls may come before."""
    inputs = gated_inputs((5,), 3, 4)
    agree(student.gru_step, ref.gru_step, *inputs)
    well_behaved(student.gru_step, ref.gru_step, *inputs)
    others = gated_inputs((1, 3), 6, 7), gated_inputs((), 1, 1), [40 * value for value in inputs]
    agree_in_turn(student.gru_step, ref.gru_step, inputs, *others)
    agree(student.gru_step, ref.gru_step, *to_float32([1000 * value for value in inputs[:2]]), *to_float32(inputs[2:]))

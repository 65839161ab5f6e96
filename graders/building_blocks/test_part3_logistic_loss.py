"""Hidden tests of part 3: the loss of logistic regression."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BOTH_DTYPES, NAMES_OF_DTYPES
from reference import building_blocks as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    draw_integers,
    gradients_agree,
    raises,
    well_behaved,
)

DIFFERENT = [((5,), (5, 1)), ((5, 1), (5,)), ((5,), (1,)), ((1,), (5,)), ((4,), (5,)), ((1, 5), (5,)), ((1,), (1, 1))]


def draw_logits(N, dtype=torch.float64):
    """Draw logits, and classes of both kinds; the logits of class 1 are higher."""
    y = draw_integers(0, 2, "N", N=N)
    y[:2] = torch.tensor([1, 0])[:N]
    return draw("N", N=N, dtype=dtype) + 2 * y - 1, y


@number("3.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("N", [7, 1, 2, 100])
def test_logistic_loss(student, N):
    """The loss of logistic regression, at logits of ordinary size"""
    z, y = draw_logits(N)
    for classes in y, 1 - y:
        agree(student.logistic_loss, ref.logistic_loss, z, classes)


@number("3.5")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
@pytest.mark.parametrize("level", [40, 200, 1000])
def test_logistic_loss_far_out(student, level, dtype):
    """The loss and its gradient at logits far out, up to ±1000"""
    z, _ = draw_logits(6, dtype)
    z = z + level * torch.tensor([0.9, -0.5, 1, -0.3, 0, 0], dtype=dtype)
    for classes in (torch.tensor([0, 1, 1, 0, 1, 0]), torch.tensor([1, 0, 0, 1, 0, 1])):
        agree(student.logistic_loss, ref.logistic_loss, z, classes)
        gradients_agree(student.logistic_loss, ref.logistic_loss, z, classes)


@number("3.6")
@weight(0.25)
@visibility("after_published")
def test_logistic_loss_of_other_shapes(student):
    """Logits and classes of different shapes raise ValueError"""
    agree(student.logistic_loss, ref.logistic_loss, *draw_logits(5))
    for shape, other in DIFFERENT:
        for dtype in BOTH_DTYPES:
            z, y = draw("shape", shape=shape, dtype=dtype), draw_integers(0, 2, "other", other=other)
            raises(ValueError, student.logistic_loss, z, y)


@number("3.7")
@weight(0.25)
@visibility("after_published")
def test_logistic_loss_behaviour(student):
    """Gradients reach the logits, float32 stays float32, inputs stay, and any calls may come before"""
    for N in (1, 2, 6):
        z, y = draw_logits(N)
        for logits in z, 0 * z:
            agree(student.logistic_loss, ref.logistic_loss, logits, y)
            gradients_agree(student.logistic_loss, ref.logistic_loss, logits, y)
        agree(student.logistic_loss, ref.logistic_loss, *draw_logits(N, torch.float32))
    z, y = draw_logits(6)
    well_behaved(student.logistic_loss, ref.logistic_loss, z, y)
    agree_at_extremes(student.logistic_loss, ref.logistic_loss, z / z.abs().max(), y)
    calls = (z, y), draw_logits(9), draw_logits(3), (z, 1 - y), (40 * z, y)
    agree_in_turn(student.logistic_loss, ref.logistic_loss, *calls)

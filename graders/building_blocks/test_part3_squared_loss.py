"""Hidden tests of part 3: the squared loss."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, raises, well_behaved

SHAPES = [(5,), (6, 4), (3, 8), (4, 4), (1,), (1, 3), (7, 1), (100,), (40, 3)]
DIFFERENT = [((5,), (5, 1)), ((5, 1), (5,)), ((5, 1), (1, 5)), ((5, 3), (5, 1)), ((5, 3), (3,)), ((5,), (1,))]
DIFFERENT += [((4,), (5,)), ((5, 3), (5, 2)), ((1,), (1, 1)), ((5, 3), (1, 3)), ((1, 3), (5, 3)), ((1,), (5,))]
DIFFERENT += [((3, 3), (3,)), ((5, 1), (1,)), ((1, 1), (1,)), ((1, 4), (1,)), ((6, 2), (2, 6)), ((4, 3), (12,))]


def draw_pair(shape, other=None, dtype=torch.float64):
    """Draw predictions and right numbers."""
    return draw("first", "second", first=shape, second=other or shape, dtype=dtype)


@number("3.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_squared_loss(student, shape):
    """The squared loss of one number or several for each example"""
    agree(student.squared_loss, ref.squared_loss, *draw_pair(shape))


@number("3.2")
@weight(0.5)
@visibility("after_published")
def test_squared_loss_of_other_shapes(student):
    """Predictions and right numbers of different shapes raise ValueError"""
    agree(student.squared_loss, ref.squared_loss, *draw_pair((5,)))
    agree(student.squared_loss, ref.squared_loss, *draw_pair((5, 1)))
    for shape, other in DIFFERENT:
        raises(ValueError, student.squared_loss, *draw_pair(shape, other))
    raises(ValueError, student.squared_loss, *draw_pair((5,), (5, 1), torch.float32))


@number("3.3")
@weight(0.25)
@visibility("after_published")
def test_squared_loss_behaviour(student):
    """Gradients reach both, float32 stays float32, inputs stay, and any calls may come before"""
    for shape in (5,), (6, 4), (1,), (1, 1), (4, 1), (1, 3):
        gradients_agree(student.squared_loss, ref.squared_loss, *draw_pair(shape))
        agree(student.squared_loss, ref.squared_loss, *draw_pair(shape, dtype=torch.float32))
    for shape in (5,), (6, 4):
        well_behaved(student.squared_loss, ref.squared_loss, *draw_pair(shape))
        y_pred, y = draw_pair(shape)
        agree_at_extremes(student.squared_loss, ref.squared_loss, y_pred, y)
        gradients_agree(student.squared_loss, ref.squared_loss, 40 * y_pred, y)
    y_pred, y = draw_pair((6, 4))
    others = draw_pair((7, 5)), draw_pair((3,)), draw_pair((8,)), draw_pair((2, 2))
    agree_in_turn(student.squared_loss, ref.squared_loss, (y_pred, y), *others, (40 * y_pred, y), (y, y))

"""Hidden tests: building blocks, 20 points in all. Part 1, the linear layer."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BATCHES
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved

SIZES = [(5, 3), (3, 7), (4, 4), (1, 6), (6, 1), (65, 2), (2, 65)]


def draw_layer(d_in, d_out, batch=(), dtype=torch.float64):
    """Draw X, W and b."""
    return draw("batch d_in", "d_out d_in", "d_out", batch=batch, d_in=d_in, d_out=d_out, dtype=dtype)


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("d_in", "d_out"), SIZES)
def test_one_row(student, d_in, d_out):
    """One row: y = W x + b"""
    agree(student.linear, ref.linear, *draw_layer(d_in, d_out))


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [*BATCHES, (5,), (4, 4), (33,)], ids=str)
def test_batch(student, batch):
    """Rows with batch dimensions in front"""
    for d_in, d_out in (5, 3), (4, 4):
        agree(student.linear, ref.linear, *draw_layer(d_in, d_out, batch))


@number("1.3")
@weight(0.25)
@visibility("after_published")
def test_linear_gradients(student):
    """Gradients reach the rows, the weight and the bias"""
    for batch in BATCHES:
        inputs = draw_layer(5, 3, batch)
        agree(student.linear, ref.linear, *inputs)
        gradients_agree(student.linear, ref.linear, *inputs)
    for d_in, d_out in (1, 4), (4, 1), (4, 4):
        gradients_agree(student.linear, ref.linear, *draw_layer(d_in, d_out, 3))
    agree_at_extremes(student.linear, ref.linear, *draw_layer(5, 3, (2, 4)))


@number("1.4")
@weight(0.25)
@visibility("after_published")
def test_linear_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    well_behaved(student.linear, ref.linear, *draw_layer(5, 3, (2,)))
    calls = draw_layer(5, 3, (2,)), draw_layer(7, 6, (1, 3)), draw_layer(2, 1)
    agree_in_turn(student.linear, ref.linear, *calls, [40 * value for value in calls[0]])
    for batch in BATCHES:
        agree(student.linear, ref.linear, *draw_layer(3, 4, batch, torch.float32))

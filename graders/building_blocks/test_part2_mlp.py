"""Hidden tests of part 2: the multi-layer perceptron."""

from itertools import pairwise

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BATCHES, NAMES_OF_BATCHES
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, lend, well_behaved

FUNCTIONS = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "cos": torch.cos}
"""The last one is never used as a non-linearity, so nobody writes it down."""
WIDTHS = [(4, 6, 3), (3, 2, 5), (4, 4, 4), (5, 1, 2), (1, 3, 1)]
DEEP = [(4, 6, 3, 2), (3, 5, 4, 2, 6), (4, 4, 4, 4), (2, 3, 1, 3, 2)]


def draw_network(widths, g="tanh", batch=(3,), dtype=torch.float64):
    """Draw X, and a layer between any two widths; lend a function between the layers."""
    X = draw("batch d_in", batch=batch, d_in=widths[0], dtype=dtype)
    layers = [draw("a b", "b", a=a, b=b, dtype=dtype) for a, b in pairwise(widths)]
    return X, layers, lend(FUNCTIONS[g], calls=100)


@number("2.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_one_hidden_layer(student, widths):
    """One hidden layer, and g after it"""
    for g in "relu", "cos":
        agree(student.mlp, ref.mlp, *draw_network(widths, g))


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("widths", DEEP, ids=str)
def test_more_hidden_layers(student, widths):
    """More hidden layers, and g after each of them"""
    for g in "tanh", "sigmoid":
        agree(student.mlp, ref.mlp, *draw_network(widths, g))


@number("2.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("widths", [(4, 3), (3, 5), (4, 4), (1, 1)], ids=str)
def test_no_hidden_layer(student, widths):
    """A single layer, without g"""
    for batch in (3,), (2, 4):
        agree(student.mlp, ref.mlp, *draw_network(widths, "cos", batch))


@number("2.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_mlp_batch(student, batch):
    """Rows with batch dimensions in front"""
    for widths in (4, 6, 3), (3, 2, 5, 4), (3, 3, 3):
        agree(student.mlp, ref.mlp, *draw_network(widths, "tanh", batch))


@number("2.5")
@weight(0.25)
@visibility("after_published")
def test_mlp_gradients(student):
    """Gradients reach the rows and every weight and bias"""
    for widths, g, batch in ((4, 6, 3), "tanh", ()), ((3, 5, 4, 2), "relu", (3,)), ((4, 3), "cos", (2, 3)):
        inputs = draw_network(widths, g, batch)
        agree(student.mlp, ref.mlp, *inputs)
        gradients_agree(student.mlp, ref.mlp, *inputs)
    agree_at_extremes(student.mlp, ref.mlp, *draw_network((4, 6, 3), "tanh", (2,)), large=(0,))


@number("2.6")
@weight(0.25)
@visibility("after_published")
def test_mlp_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    well_behaved(student.mlp, ref.mlp, *draw_network((4, 6, 3), "relu"))
    X, layers, g = draw_network((4, 6, 3), "relu")
    calls = (X, layers, g), draw_network((6, 2, 5), "tanh", (2, 4)), draw_network((1, 2), "cos", ())
    agree_in_turn(student.mlp, ref.mlp, *calls, (X, layers[:1], g), (40 * X, layers, g))
    for batch in BATCHES:
        agree(student.mlp, ref.mlp, *draw_network((3, 4, 2), "relu", batch, torch.float32))

"""Hidden tests of part 7: causal convolution over time."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BATCHES
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, causal, draw, gradients_agree, well_behaved

SIZES = [(8, 3, 3, 4), (7, 2, 2, 5), (6, 4, 4, 4), (5, 1, 3, 2), (5, 2, 4, 1), (1, 3, 2, 4), (3, 2, 7, 3), (3, 3, 3, 3)]
SIZES += [(6, 3, 1, 4), (100, 2, 3, 2), (1, 1, 1, 1), (2, 3, 2, 3)]


def draw_sequence(T, n_in, k, n_out, batch=(), dtype=torch.float64):
    """Draw X, K and b."""
    return draw("batch T p", "k p q", "q", batch=batch, T=T, p=n_in, k=k, q=n_out, dtype=dtype)


@number("7.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_dilation_1(student, sizes):
    """One sequence, dilation 1"""
    agree(student.causal_conv1d, ref.causal_conv1d, *draw_sequence(*sizes), 1)


@number("7.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("dilation", [2, 3, 5, 12])
def test_dilations(student, dilation):
    """Larger dilations, up to more than the sequence is long"""
    for sizes in (9, 3, 3, 4), (8, 2, 2, 2), (6, 2, 1, 3), (30, 1, 4, 2):
        agree(student.causal_conv1d, ref.causal_conv1d, *draw_sequence(*sizes), dilation)


@number("7.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("batch", [*BATCHES, (5,), (7,)], ids=str)
def test_batches_of_sequences(student, batch):
    """Sequences with batch dimensions in front"""
    for sizes, dilation in ((7, 3, 3, 2), 1), ((4, 4, 2, 4), 2), ((1, 2, 2, 3), 1):
        agree(student.causal_conv1d, ref.causal_conv1d, *draw_sequence(*sizes, batch), dilation)


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_time_gradients(student):
    """No output changes with later tokens, and gradients reach the sequence, the kernel and the bias"""
    for dilation in (1, 2):
        inputs = draw_sequence(8, 2, 3, 4, (2,))
        causal(student.causal_conv1d, *inputs, dilation)
        agree(student.causal_conv1d, ref.causal_conv1d, *inputs, dilation)
        gradients_agree(student.causal_conv1d, ref.causal_conv1d, *inputs, dilation)
    for *sizes, batch in (1, 1, 1, 1, ()), (3, 3, 2, 1, (1, 2)), (2, 1, 5, 2, (1,)), (4, 2, 2, 2, (2, 3)):
        gradients_agree(student.causal_conv1d, ref.causal_conv1d, *draw_sequence(*sizes, batch), 3)
    agree_at_extremes(student.causal_conv1d, ref.causal_conv1d, *draw_sequence(8, 2, 3, 4, (2,)), 2)


@number("7.5")
@weight(0.25)
@visibility("after_published")
def test_time_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    inputs, larger, smaller = (
        draw_sequence(8, 2, 3, 4, (2,)),
        draw_sequence(11, 5, 4, 6, (1, 3)),
        draw_sequence(2, 1, 1, 1),
    )
    well_behaved(student.causal_conv1d, ref.causal_conv1d, *inputs, 2)
    calls = (*inputs, 2), (*larger, 3), (*smaller, 1), (*inputs, 3), (*inputs, 1)
    agree_in_turn(student.causal_conv1d, ref.causal_conv1d, *calls, (40 * inputs[0], *inputs[1:], 2))
    for row, batch in enumerate(BATCHES):
        single = draw_sequence(4, 1 + row % 2, 2, 3, batch, torch.float32)
        agree(student.causal_conv1d, ref.causal_conv1d, *single, 1 + row % 3)

"""Hidden tests of part 3: the loss of softmax regression."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BOTH_DTYPES, NAMES_OF_DTYPES, draw_examples
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, draw_integers, gradients_agree, raises, well_behaved

SIZES = [(6, 4), (3, 5), (4, 4), (1, 3), (5, 1), (1, 1), (7, 2), (40, 3), (2, 33)]
DIFFERENT = [(5, 1), (4,), (6,), (1,), (1, 5), (5, 3), ()]


@number("3.8")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("N", "C"), SIZES)
def test_softmax_loss(student, N, C):
    """The loss of softmax regression, at logits of ordinary size"""
    logits, y = draw_examples(N, C)
    agree(student.softmax_loss, ref.softmax_loss, logits, y)
    agree(student.softmax_loss, ref.softmax_loss, logits, (y + 1) % C)


@number("3.9")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
@pytest.mark.parametrize("level", [150, 990])
def test_softmax_loss_far_out(student, level, dtype):
    """The loss and its gradient at logits far out, up to ±1000, each example at a height of its own"""
    logits, y = draw_examples(100, 6, dtype)  # most examples are ordinary: many large numbers would hide small slips
    heights = torch.zeros(100, 6, dtype=dtype)
    heights[2], heights[9], heights[30], y[17] = level, -level, -level, 0
    heights[17] = level * torch.tensor([-1, 0.5, 1, -0.5, 0, -0.2], dtype=dtype)
    for far_out in heights.clamp(max=0), heights, -heights:
        agree(student.softmax_loss, ref.softmax_loss, logits + far_out, y)
        gradients_agree(student.softmax_loss, ref.softmax_loss, logits + far_out, y)


@number("3.10")
@weight(0.25)
@visibility("after_published")
def test_softmax_loss_of_other_shapes(student):
    """Classes of another shape than (N,) raise ValueError"""
    agree(student.softmax_loss, ref.softmax_loss, *draw_examples(5, 3))
    for shape in DIFFERENT:
        for dtype in BOTH_DTYPES:
            logits, y = draw("5 3", dtype=dtype), draw_integers(0, 3, "shape", shape=shape)
            raises(ValueError, student.softmax_loss, logits, y)
    for N in 1, 3, 4:
        raises(ValueError, student.softmax_loss, draw("N 3", N=N), draw_integers(0, 3, "N 1", N=N))
        raises(ValueError, student.softmax_loss, draw("N 3", N=N), draw_integers(0, 3, "N", N=N + 1))


@number("3.11")
@weight(0.25)
@visibility("after_published")
def test_softmax_loss_behaviour(student):
    """Gradients reach the logits, float32 stays float32, inputs stay, and any calls may come before"""
    for N, C in (6, 4), (1, 3), (5, 1), (4, 4), (2, 3):
        logits, y = draw_examples(N, C)
        for given in logits, 0 * logits:
            gradients_agree(student.softmax_loss, ref.softmax_loss, given, y)
        agree(student.softmax_loss, ref.softmax_loss, *draw_examples(N, C, torch.float32))
    logits, y = draw_examples(6, 4)
    well_behaved(student.softmax_loss, ref.softmax_loss, logits, y)
    agree_at_extremes(student.softmax_loss, ref.softmax_loss, logits / logits.abs().max(), y)
    calls = (logits, y), draw_examples(9, 7), draw_examples(3, 2), (logits, (y + 1) % 4), (40 * logits, y)
    agree_in_turn(student.softmax_loss, ref.softmax_loss, *calls)

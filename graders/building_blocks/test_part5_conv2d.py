"""Hidden tests of part 5: the convolution of a picture."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BATCHES
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved

PLAIN = [(6, 8, 2, 3, 4), (7, 5, 3, 2, 2), (5, 4, 1, 3, 2), (4, 4, 4, 3, 4), (3, 3, 3, 3, 3), (5, 6, 2, 4, 1)]
PLAIN += [(5, 3, 2, 1, 3), (1, 1, 3, 1, 2), (1, 6, 2, 1, 2), (6, 1, 2, 1, 3), (33, 3, 1, 2, 2), (5, 6, 3, 2, 3)]


def draw_picture(h, w, n_in, k, n_out, batch=(), dtype=torch.float64):
    """Draw X, K and b."""
    sizes = {"h": h, "w": w, "p": n_in, "k": k, "q": n_out}
    return draw("batch h w p", "k k p q", "q", batch=batch, dtype=dtype, **sizes)


def check_convolution(student, inputs, stride=1, padding=0):
    agree(student.conv2d, ref.conv2d, *inputs, stride, padding)


@number("5.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", PLAIN, ids=str)
def test_stride_1(student, sizes):
    """One picture, stride 1, no padding"""
    check_convolution(student, draw_picture(*sizes))


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("stride", [2, 3, 5])
def test_strides(student, stride):
    """Larger strides, whether they divide or not"""
    for h, w, k in (6, 7, 3), (9, 8, 2), (5, 5, 1), (7, 4, 4):
        check_convolution(student, draw_picture(h, w, 2, k, 3), stride)


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("padding", [1, 2, 4])
def test_paddings(student, padding):
    """Rows and columns of zeros on each side, at stride 1 and at larger ones"""
    for h, w, k, stride in (4, 6, 3, 1), (5, 3, 2, 2), (3, 4, 1, 3), (4, 4, 3, 2), (2, 2, 3, 1):
        check_convolution(student, draw_picture(h, w, 2, k, 3), stride, padding)


@number("5.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [*BATCHES, (5,), (6,)], ids=str)
def test_batches_of_pictures(student, batch):
    """Pictures with batch dimensions in front"""
    check_convolution(student, draw_picture(6, 5, 2, 3, 4, batch))
    check_convolution(student, draw_picture(4, 4, 4, 2, 4, batch), 2, 1)


@number("5.5")
@weight(0.25)
@visibility("after_published")
def test_convolution_gradients(student):
    """Gradients reach the picture, the kernel and the bias"""
    inputs = draw_picture(5, 6, 2, 3, 4, (2,))
    check_convolution(student, inputs)
    for stride, padding in (1, 0), (2, 1), (1, 2), (3, 0):
        gradients_agree(student.conv2d, ref.conv2d, *inputs, stride, padding)
    for *sizes, batch in (1, 1, 1, 1, 1, ()), (3, 3, 3, 2, 1, (1, 2)), (4, 1, 1, 1, 2, (1,)), (1, 3, 2, 1, 2, (2, 3)):
        gradients_agree(student.conv2d, ref.conv2d, *draw_picture(*sizes, batch), 1, 0)
    agree_at_extremes(student.conv2d, ref.conv2d, *inputs, 1, 1)


@number("5.6")
@weight(0.25)
@visibility("after_published")
def test_convolution_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    inputs, larger, smaller = (
        draw_picture(5, 6, 2, 3, 4, (2,)),
        draw_picture(7, 9, 5, 4, 6, (1, 3)),
        draw_picture(3, 2, 1, 1, 1),
    )
    well_behaved(student.conv2d, ref.conv2d, *inputs, 2, 1)
    calls = (*inputs, 2, 1), (*larger, 3, 2), (*smaller, 1, 0), (*inputs, 1, 1), (*inputs, 2, 0)
    agree_in_turn(student.conv2d, ref.conv2d, *calls, (40 * inputs[0], *inputs[1:], 2, 1))
    for row, batch in enumerate(BATCHES):
        single = draw_picture(4, 5, 1 + row % 2, 2, 3, batch, torch.float32)
        check_convolution(student, single, 1 + row % 2, row % 3)

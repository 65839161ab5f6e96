"""Hidden tests of part 6: max pooling."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BATCHES
from reference import building_blocks as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved

FITTING = [(4, 6, 3, 2), (6, 3, 2, 3), (8, 4, 4, 4), (4, 4, 4, 2), (5, 3, 2, 1), (2, 2, 1, 2), (1, 1, 3, 1)]
LEFT_OVER = [(5, 6, 3, 2), (4, 7, 2, 2), (7, 5, 2, 3), (8, 8, 3, 3), (5, 7, 1, 4), (3, 3, 5, 2), (2, 33, 2, 2)]


def draw_picture(h, w, n, batch=(), dtype=torch.float64):
    return draw("batch h w n", batch=batch, h=h, w=w, n=n, dtype=dtype)


def check_pool(student, X, size):
    agree(student.max_pool, ref.max_pool, X, size)


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("h", "w", "n", "size"), FITTING)
def test_whole_patches(student, h, w, n, size):
    """Patches that fill the picture"""
    X = draw_picture(h, w, n)
    for numbers in X, -X.abs(), X.abs():
        check_pool(student, numbers, size)
    check_pool(student, draw_picture(2, 4, n), 2)


@number("6.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("h", "w", "n", "size"), LEFT_OVER)
def test_left_over(student, h, w, n, size):
    """Rows and columns that fill no patch are left out, whatever stands there"""
    X = draw_picture(h, w, n)
    X[h // size * size :] += 5  # larger than everything else
    X[:, w // size * size :] += 5
    check_pool(student, X, size)
    check_pool(student, X - 20, size)


@number("6.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("batch", [*BATCHES, (2,), (6, 4)], ids=str)
def test_pool_batches(student, batch):
    """Pictures with batch dimensions in front"""
    for h, w, n, size in (6, 4, 3, 2), (7, 4, 2, 3), (4, 4, 4, 2), (3, 2, 2, 1):
        check_pool(student, draw_picture(h, w, n, batch), size)


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_pool_gradients(student):
    """The gradient goes to the place of the maximum"""
    for h, w, n, size, batch in (4, 6, 3, 2, (2,)), (7, 5, 2, 3, ()), (3, 2, 1, 1, (1, 2)), (2, 3, 2, 2, (1,)):
        X = draw_picture(h, w, n, batch)
        check_pool(student, X, size)
        gradients_agree(student.max_pool, ref.max_pool, X, size)
    agree_at_extremes(student.max_pool, ref.max_pool, draw_picture(5, 4, 3, (2,)), 2)
    gradients_agree(student.max_pool, ref.max_pool, draw_picture(1, 1, 2), 1)


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_pool_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    X, larger, smaller = draw_picture(5, 6, 3, (2,)), draw_picture(9, 8, 5, (1, 3)), draw_picture(2, 3, 1)
    well_behaved(student.max_pool, ref.max_pool, X, 2)
    agree_in_turn(student.max_pool, ref.max_pool, (X, 2), (larger, 3), (smaller, 1), (X, 3), (X, 1), (40 * X, 2))
    for row, batch in enumerate(BATCHES):
        check_pool(student, draw_picture(5, 4, 1 + row % 2, batch, torch.float32), 1 + row % 3)

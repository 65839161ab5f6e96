"""Hidden tests: the vision transformer, 20 points. Part 1: patches.

Axes have sizes that all differ where they can, and pictures are not square. PyTorch's unfold and fold are a second
witness. The tests on pictures are visible: they show students the patches beside the right ones.
"""

import pytest
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.pictures import blob, digit, stripes
from reference import vision_transformer as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    draw,
    gradients_agree,
    raises,
    well_behaved,
)

SIZES = [
    *((2, 3, 4, 6, 2), (1, 2, 6, 3, 3), (3, 1, 2, 8, 2), (2, 2, 1, 5, 1), (4, 3, 5, 1, 1), (1, 1, 1, 1, 1)),
    *((5, 2, 4, 4, 4), (2, 4, 8, 4, 2), (3, 3, 3, 9, 3), (4, 4, 4, 4, 2), (1, 3, 33, 2, 1), (2, 1, 8, 12, 4)),
]
"""N, C, H, W and p."""
NO_PATCHES = [(6, 12, (2, 2)), (6, 12, (3, 3)), (6, 10, (2, 3)), (6, 2, (3, 2))]
"""Patches, their length and a grid for p = 2."""
NOT_DIVISIBLE = [(4, 5, 2), (5, 4, 2), (4, 9, 6), (2, 6, 4), (7, 9, 3), (1, 1, 2), (8, 2, 4)]
"""H, W and p; in two of them H·W is a multiple of p·p."""
PICTURES = {
    "digits": ([digit(7), digit(4), digit(2)], 2, (4, 3)),
    "stripes": ([stripes(6, 9, 4, 2), stripes(6, 9, 6, 2)], 3, (2, 3)),
    "blob": ([blob(4, 12, 1, 8, 2)], 4, (1, 3)),
}


def draw_rows(n, c, height, width, p):
    """Draw what `unpatch` takes for pictures of these sizes: rows, p and the grid."""
    grid = height // p, width // p
    return draw("n hw k", n=n, hw=grid[0] * grid[1], k=c * p * p), p, grid


@number("1.1")
@weight(0.25)
@visibility("visible")
@pytest.mark.parametrize(("drawn", "p", "grid"), PICTURES.values(), ids=PICTURES)
def test_patches_of_pictures(student, drawn, p, grid):
    """Digits, stripes and a blob are cut into patches."""
    for picture in drawn:
        agree(student.patches, ref.patches, picture[None], p)


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "c", "height", "width", "p"), SIZES)
def test_patches(student, n, c, height, width, p):
    """Each patch is a row: patches row by row, and in each of them channel, row, column."""
    images = draw("n c h w", n=n, c=c, h=height, w=width)
    unfolded = F.unfold(images, p, stride=p).transpose(1, 2)
    confirm_reference(lambda: ref.patches(images, p), lambda: unfolded, "PyTorch's F.unfold")
    agree(student.patches, ref.patches, images, p)


@number("1.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("height", "width", "p"), NOT_DIVISIBLE)
def test_patches_that_do_not_fit(student, height, width, p):
    """Rows or columns that are no multiple of p raise ValueError, and others do not."""
    student.patches(draw("2 3 h w", h=2 * p, w=3 * p), p)
    raises(ValueError, student.patches, draw("2 3 h w", h=height, w=width), p)


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_patches_conduct(student):
    """Gradients pass, float32 stays, inputs stay as they were, any device will do, and so will any calls before."""
    images = draw("2 3 4 6")
    agree(student.patches, ref.patches, images, 2)
    for n, c, height, width, p in SIZES[:6]:
        gradients_agree(student.patches, ref.patches, draw("n c h w", n=n, c=c, h=height, w=width), p)
    agree_at_extremes(student.patches, ref.patches, images, 2)
    well_behaved(student.patches, ref.patches, images, 2)
    calls = (images, 2), (draw("3 4 6 9"), 3), (draw("1 1 1 1"), 1), (images, 1), (draw("2 3 4 6"), 2)
    agree_in_turn(student.patches, ref.patches, *calls)


@number("1.5")
@weight(0.25)
@visibility("visible")
@pytest.mark.parametrize(("drawn", "p", "grid"), PICTURES.values(), ids=PICTURES)
def test_unpatch_pictures(student, drawn, p, grid):
    """Digits, stripes and a blob come back from their patches."""
    for picture in drawn:
        rows = ref.patches(picture[None], p)
        agree(student.unpatch, ref.unpatch, rows, p, grid)


@number("1.6")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_unpatch(student, sizes):
    """Patches are put together again, on a grid of any shape."""
    rows, p, grid = draw_rows(*sizes)
    folded = F.fold(rows.transpose(1, 2), sizes[2:4], p, stride=p)
    confirm_reference(lambda: ref.unpatch(rows, p, grid), lambda: folded, "PyTorch's F.fold")
    agree(student.unpatch, ref.unpatch, rows, p, grid)


@number("1.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("tokens", "width", "grid"), [(6, 12, (2, 2)), (6, 12, (3, 3)), (6, 10, (2, 3)), (6, 2, (3, 2))]
)
def test_unpatch_what_does_not_fit(student, tokens, width, grid):
    """Too many or too few patches, and rows of a length that makes no patch, raise ValueError."""
    student.unpatch(draw("2 6 12"), 2, (2, 3))
    raises(ValueError, student.unpatch, draw("2 t k", t=tokens, k=width), 2, grid)


@number("1.8")
@weight(0.5)
@visibility("after_published")
def test_unpatch_conduct(student):
    """Gradients pass, float32 stays, inputs stay as they were, any device will do, and so will any calls before."""
    given = draw_rows(2, 3, 4, 6, 2)
    agree(student.unpatch, ref.unpatch, *given)
    for sizes in SIZES[:6]:
        gradients_agree(student.unpatch, ref.unpatch, *draw_rows(*sizes))
    agree_at_extremes(student.unpatch, ref.unpatch, *given)
    well_behaved(student.unpatch, ref.unpatch, *given)
    other_grid, other_size = (given[0], 2, (3, 2)), (draw("2 6 12"), 1, (1, 6))
    calls = given, draw_rows(3, 4, 6, 9, 3), draw_rows(1, 1, 1, 1, 1), other_grid, other_size
    agree_in_turn(student.unpatch, ref.unpatch, *calls)

"""Hidden tests of part 5: positions for pictures of another size."""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.pictures import blob, digit
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

GRIDS = [
    *(((2, 3), (4, 5)), ((4, 5), (2, 3)), ((3, 2), (2, 7)), ((2, 6), (5, 3)), ((1, 3), (4, 6)), ((5, 1), (2, 3))),
    *(((1, 1), (3, 2)), ((3, 4), (1, 1)), ((2, 3), (3, 2)), ((3, 3), (6, 6)), ((3, 3), (4, 2))),
    *(((1, 33), (2, 20)), ((7, 2), (3, 9))),
]
"""The old grid and the new one."""


def draw_table(old, d=3):
    return draw("n d", n=1 + old[0] * old[1], d=d)


def witness(table, old, new):
    """Return what PyTorch's interpolation makes of the patches' rows."""
    grid = table[1:].reshape(1, *old, -1).permute(0, 3, 1, 2)
    resized = F.interpolate(grid, size=new, mode="bilinear", align_corners=False)
    return torch.cat([table[:1], resized[0].flatten(1).T])


@number("5.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("old", "new"), GRIDS)
def test_resize(student, old, new):
    """Larger and smaller grids, none of them square; the class token's row stays."""
    given = draw_table(old, 1 + (old[0] + new[1]) % 4), old, new
    confirm_reference(lambda: ref.resize_positions(*given), lambda: witness(*given), "PyTorch's F.interpolate")
    agree(student.resize_positions, ref.resize_positions, *given)


@number("5.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("new", [(4, 9), (6, 8), (3, 4), (11, 5)], ids=str)
def test_resize_pictures(student, new):
    """Positions that are a picture: a digit and a blob are made larger and smaller."""
    grid = torch.cat([digit(2), blob(8, 6, 2, 4)])
    table = torch.cat([torch.tensor([[5.0, -5.0]], dtype=grid.dtype), grid.flatten(1).T])
    agree(student.resize_positions, ref.resize_positions, table, (8, 6), new)


@number("5.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("rows", "old"), [(6, (2, 3)), (8, (2, 3)), (4, (2, 2)), (1, (1, 1)), (13, (3, 5))])
def test_table_of_another_size(student, rows, old):
    """A table that has not 1 + h·w rows raises ValueError."""
    student.resize_positions(draw_table(old), old, (2, 2))
    raises(ValueError, student.resize_positions, draw("rows 3", rows=rows), old, (2, 2))


@number("5.4")
@weight(0.25)
@visibility("after_published")
def test_resize_gradients(student):
    """Gradients reach the table."""
    for old, new in GRIDS[:10]:
        agree(student.resize_positions, ref.resize_positions, draw_table(old), old, new)
        gradients_agree(student.resize_positions, ref.resize_positions, draw_table(old, 1 + new[0] % 3), old, new)
    agree_at_extremes(student.resize_positions, ref.resize_positions, draw_table((2, 3)), (2, 3), (4, 5))


@number("5.5")
@weight(0.5)
@visibility("after_published")
def test_resize_conduct(student):
    """float32 stays, inputs stay as they were, any device will do, and so will any calls before."""
    given = draw_table((2, 3)), (2, 3), (4, 5)
    agree(student.resize_positions, ref.resize_positions, *given)
    well_behaved(student.resize_positions, ref.resize_positions, *given)
    larger, smaller = (draw_table((4, 3), 5), (4, 3), (5, 6)), (draw_table((1, 1), 1), (1, 1), (1, 2))
    turned, other = (given[0], (3, 2), (4, 5)), (given[0], (2, 3), (5, 4))
    same = given[0], (2, 3), (2, 3)
    agree_in_turn(student.resize_positions, ref.resize_positions, given, larger, smaller, turned, other, same)

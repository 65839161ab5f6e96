"""Other right ways to resize a table of positions."""

import math

import torch
import torch.nn.functional as F

from reference import vision_transformer as ref
from softmark import equivalent


@equivalent(ref.resize_positions)
def positions_by_library(table, old, new):
    class_row, grid = table[:1], table[1:]
    if grid.shape[0] != old[0] * old[1]:
        raise ValueError("the table does not fit")
    grid = grid.T.reshape(1, -1, *old)
    grid = F.interpolate(grid, size=tuple(new), mode="bilinear")
    return torch.cat([class_row, grid[0].flatten(1).T])


def neighbours(i, n, m):
    """Return the two old places of a new one, and the share of the second."""
    u = min(max((i + 0.5) * n / m - 0.5, 0), n - 1)
    low = math.floor(u)
    return low, min(low + 1, n - 1), u - low


@equivalent(ref.resize_positions)
def positions_one_by_one(table, old, new):
    if table.shape[0] != old[0] * old[1] + 1:
        raise ValueError("the table does not fit")
    grid, rows = table[1:].reshape(*old, -1), [table[0]]
    for i in range(new[0]):
        top, bottom, down = neighbours(i, old[0], new[0])
        for j in range(new[1]):
            left, right, across = neighbours(j, old[1], new[1])
            upper = (1 - across) * grid[top, left] + across * grid[top, right]
            lower = (1 - across) * grid[bottom, left] + across * grid[bottom, right]
            rows.append((1 - down) * upper + down * lower)
    return torch.stack(rows)


@equivalent(ref.resize_positions)
def positions_by_two_matrices(table, old, new):
    if len(table) - 1 != math.prod(old):
        raise ValueError("the table does not fit")
    both = []
    for n, m in zip(old, new, strict=True):
        eye = torch.eye(n, dtype=table.dtype, device=table.device)
        both.append(F.interpolate(eye[None], size=m, mode="linear")[0].T)
    resized = torch.einsum("ih,jw,hwd->ijd", *both, table[1:].reshape(*old, -1))
    return torch.cat([table[:1], resized.flatten(0, 1)])

"""Inputs that the hidden tests of several parts draw, and their cases."""

import torch

from softmark import draw, random_mask

ONE_AND_TWO = [(3,), (2, 3)]
NONE_ONE_TWO = [(), (3,), (2, 3)]
BOTH_DTYPES = [torch.float64, torch.float32]


def name_of(value):
    """Return the id of a case."""
    return f"batch{len(value)}" if isinstance(value, tuple) else str(value).removeprefix("torch.")


def draw_large_scores(dtype=torch.float64):
    """Return scores with rows around +1000 and around -1000, a row that holds both, and an ordinary one."""
    level = torch.tensor([1000.0, -1000.0, 1000.0, 900.0, 0.0], dtype=dtype).unsqueeze(-1).repeat(1, 7)
    level[2, 3:] = -1000
    return 2 * draw("batch heads m n", batch=2, heads=3, m=5, n=7, dtype=dtype) + level


def sparse_mask(*sizes):
    """Return a mask: the first query may look everywhere, each other query at some keys, but not at all of them."""
    mask = random_mask(*sizes)
    if len(sizes) > 1 and sizes[-2] > 1:
        mask[..., 0, :] = True
    return mask

"""Right pieces of the angles: wrong angles and wrong tables are made of them."""

import torch


def positions(n):
    """Return the positions 0 … n-1 as a column."""
    return torch.arange(n, dtype=torch.float64)[:, None]  # (n, 1)


def pairs(d):
    """Return the index i of every pair of columns, the lone sine of an odd width included."""
    return torch.arange((d + 1) // 2, dtype=torch.float64)  # (⌈d/2⌉,)

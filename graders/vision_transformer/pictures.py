"""Draws pictures: stripes, a blob, a digit. They have a pattern, which random numbers have not."""

import torch

SEGMENTS = {0: "abcdef", 1: "bc", 2: "abdeg", 4: "bcfg", 7: "abc"}
"""The lit segments of a digit, as on a pocket calculator: a is the top, then clockwise to f, and g is the middle."""


def stripes(H, W, period, C=1):
    """Return a picture (C, H, W) with slanting stripes; each channel's begin one column later."""
    row, column = torch.arange(H)[:, None], torch.arange(W)
    return torch.stack([((row + column + c) % period < period / 2).double() for c in range(C)])


def blob(H, W, row, column, C=1):
    """Return a picture (C, H, W) that is bright around one place; each channel's light is wider than the last."""
    distance = (torch.arange(H)[:, None] - row) ** 2 + (torch.arange(W) - column) ** 2
    return torch.stack([torch.exp(-distance.double() / (2 + c)) for c in range(C)])


def digit(number, H=8, W=6):
    """Return a picture (1, H, W) of a digit in thin lines."""
    middle, left, right = (H - 1) // 2, 1, W - 2
    across, upper, lower = slice(left, right + 1), slice(0, middle + 1), slice(middle, H)
    lines = dict(zip("agd", ((row, across) for row in (0, middle, H - 1)), strict=True))
    lines |= dict(zip("bcef", ((upper, right), (lower, right), (lower, left), (upper, left)), strict=True))
    picture = torch.zeros(1, H, W, dtype=torch.float64)
    for segment in SEGMENTS[number]:
        picture[0][lines[segment]] = 1
    return picture

"""The inputs that hidden tests draw."""

import math

import torch

from softmark import draw

ALIKE = [
    *(((5,), 3, 3), ((4,), 4, 2), ((3,), 5, 3), ((2, 3), 6, 3), ((3, 2), 3, 3), ((), 4, 4)),
    *(((6,), 12, 4), ((4, 4), 4, 4), ((9,), 3, 9), ((12,), 5, 4)),
]
"""Batch, D and H where axes that must not be mixed up are of equal length, such as D and H, N and 3H."""
SEQUENCES = [
    *((5, 3, 4, 6), (2, 7, 5, 3), (4, 1, 3, 7), (1, 2, 3, 4), (3, 3, 2, 3), (4, 2, 4, 3), (5, 2, 3, 5), (3, 4, 4, 2)),
    *((2, 3, 6, 3), (3, 3, 3, 3), (6, 2, 1, 4), (4, 5, 3, 1), (1, 1, 1, 1)),
]
"""T, N, D and H: all different, some of equal length, and some 1."""
LONG = [(33, 2, 3, 4), (100, 1, 2, 2), (16, 65, 2, 3), (3, 2, 33, 17)]
"""T, N, D and H with a long sequence, many sequences, many features and units."""


def step_inputs(batch, d, h):
    """Draw x, h, W_x, W_h and b of part 1; W_h makes numbers of order one."""
    x, state, W_x, W_h, b = draw("batch d", "batch h", "h d", "h h", "h", batch=batch, d=d, h=h)
    return x, state, W_x / math.sqrt(d), W_h / math.sqrt(h), b


def sequence_inputs(t, n, d, h):
    """Draw x, h0, W_x, W_h and b of part 2."""
    _, h0, *weights = step_inputs((n,), d, h)
    return draw("t n d", t=t, n=n, d=d), h0, *weights


def gated_inputs(batch, d, h):
    """Draw x, h and the parameters of part 3."""
    return draw("batch d", "batch h", "h3 d", "h3 h", "h3", "h3", batch=batch, d=d, h=h, h3=3 * h)


def padded(t, lengths, h, padding=None):
    """Draw the outputs of part 5, with this number in the padding or with random ones; return the lengths, too."""
    lengths = torch.tensor(lengths)
    outputs = draw("t n h", t=t, n=len(lengths), h=h)
    if padding is not None:
        outputs = outputs.masked_fill(torch.arange(t)[:, None, None] >= lengths[:, None], padding)
    return outputs, lengths

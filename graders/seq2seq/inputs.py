"""Draws the inputs of hidden tests."""

import torch

from softmark import draw, draw_integers

SIZES = [
    *((3, 5, 4, 6, 7), (2, 7, 6, 3, 4), (1, 4, 3, 5, 2), (4, 1, 5, 2, 3), (3, 2, 1, 4, 5), (2, 3, 4, 1, 6)),
    *((3, 4, 2, 5, 1), (1, 1, 1, 1, 1), (4, 4, 4, 4, 4), (5, 5, 3, 3, 5), (2, 33, 3, 2, 4), (1, 100, 2, 3, 2)),
    (2, 3, 40, 17, 33),
]
"""N, S and the widths d, C, A: all different, one of them 1, equal ones, long ones."""


def source(n, s, d, c):
    """Draw a query and the states that it looks at."""
    return draw("n d", "n s c", n=n, s=s, d=d, c=c)


def some_lengths(n, s):
    """Return lengths from 1 to s that differ where they can, not in order; the longest is s if n is odd."""
    longest = s if n % 2 or s == 1 else s - 1
    return 1 + (torch.arange(n) * 2 + n // 2 + longest - 1) % longest


def some_ids(vocab_size, *shape):
    """Draw token ids, with 0 among them."""
    ids = draw_integers(0, vocab_size, "shape", shape=shape)
    ids[..., 0] = 0
    return ids


def tables(n, v, end, of_end):
    """Draw the state of `step` for n sentences: tables of logits, those of END moved by a number."""
    logits = 2 * draw("n v v", n=n, v=v)
    logits[..., end] += of_end
    return logits.flatten(1)


def tables_with_ties(n, v):
    """Draw tables in which the first and the last token are equally likely everywhere, and likelier than most."""
    logits = 2 * draw("n v v", n=n, v=v)
    logits[..., 0] += 2
    logits[..., -1] = logits[..., 0]
    return logits.flatten(1)

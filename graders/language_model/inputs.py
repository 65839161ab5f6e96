"""Draws the inputs of hidden tests."""

import torch

from softmark import draw, draw_integers


def some_ids(vocab_size, *shape):
    """Draw token ids; 0 and the largest are among them where there is room."""
    ids = draw_integers(0, vocab_size, "shape", shape=shape)
    ids[..., 0] = vocab_size - 1
    ids[..., -1] = 0
    return ids


def some_starts(last, n):
    """Return n starts from 0 to `last` in no order; both ends are among them where there is room."""
    return torch.arange(n).flip(0) * last // max(n - 1, 1)


def loss_inputs(batch, t, v, ignore=None):
    """Draw logits, and targets of which about a half are `ignore`; without it all count."""
    logits = 2 * draw("shape", shape=(*batch, t, v))
    targets = draw_integers(0, v, "shape", shape=(*batch, t))
    if ignore is None:
        return logits, targets, -1
    others = torch.where(targets == ignore, (targets + 1) % v, targets)
    place = torch.arange(others.numel()).view(others.shape)
    out = (place % 3 == 1) | (place < others.numel() // 4)  # in the first row more than in the others
    return logits, torch.where(out, ignore, others), ignore


def some_uniforms(*shape):
    """Draw numbers from [0, 1)."""
    return draw_integers(0, 1000, "shape", shape=shape).double() / 1000 + 0.0003


def some_probabilities(*shape):
    """Draw probabilities, sharp and flat ones."""
    return torch.softmax(2 * draw("shape", shape=shape), dim=-1)


def with_blocked(logits):
    """Return the logits with every third of a row -inf, but never a whole row."""
    out = torch.arange(logits.shape[-1]) % 3 == 1
    return logits.masked_fill(out, -torch.inf)

"""Inputs that the hidden tests of several parts draw, and their cases."""

import torch

from softmark import draw, draw_integers

NONE_ONE_TWO = [(), (3,), (2, 4)]
BATCHES = [*NONE_ONE_TWO, (1,), (1, 3)]
BOTH_DTYPES = [torch.float64, torch.float32]
NAMES_OF_BATCHES = [f"batch{len(batch)}" for batch in BATCHES]
NAMES_OF_DTYPES = ["float64", "float32"]


def draw_examples(N, C, dtype=torch.float64):
    """Draw logits and the right classes, whose logits are a little higher. Each class is right somewhere."""
    y = draw_integers(0, C, "N", N=N)
    y[: min(N, C)] = torch.randperm(C, generator=torch.Generator().manual_seed(N))[:N]
    return draw("N C", N=N, C=C, dtype=dtype) + torch.nn.functional.one_hot(y, C), y

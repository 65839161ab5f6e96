"""Inputs that the hidden tests draw for routers and mixtures."""

import torch

from softmark import draw_integers

BATCHES = [(), (7,), (2, 4), (1,), (1, 3)]
NAMES_OF_BATCHES = [f"batch{'x'.join(map(str, batch))}" for batch in BATCHES]
ROUTERS = [(5, 4, 2), (3, 6, 3), (4, 4, 4), (6, 2, 1), (1, 3, 2), (3, 5, 1), (5, 7, 7), (3, 2, 2)]
"""d, the number of experts, and k."""


def draw_router(d, n_experts, batch=(), dtype=torch.float64):
    """Draw X and W_router: multiples of 1/16, so scores are exact in any precision, and equal or clearly different."""
    X = draw_integers(-24, 25, "batch d", batch=batch, d=d)
    W_router = draw_integers(-10, 11, "d E", d=d, E=n_experts)
    return (X / 16).to(dtype), (W_router / 16).to(dtype)

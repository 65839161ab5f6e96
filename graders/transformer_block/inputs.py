"""Draws of the hidden tests of several parts: masks, and the inputs and weights of a block."""

import math

import torch

from softmark import causal_mask, draw, padding_mask, random_mask

EPS = 1e-5


WEIGHTS = {
    **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), "D D"),
    **dict.fromkeys(("b_Q", "b_K", "b_V", "b_O", "b2", "gain1", "bias1", "gain2", "bias2"), "D"),
    "W1": "D d_ff",
    "b1": "d_ff",
    "W2": "d_ff D",
}
BLOCKS = {
    "three_heads": {"T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "one_head": {"T": 9, "D": 6, "n_heads": 1, "d_ff": 10},
    "one_token": {"T": 1, "D": 10, "n_heads": 2, "d_ff": 16},
    "square": {"T": 7, "D": 8, "n_heads": 2, "d_ff": 8},
    "all_alike": {"T": 4, "D": 4, "n_heads": 4, "d_ff": 4},
    "as_many_tokens_as_heads": {"T": 3, "D": 6, "n_heads": 3, "d_ff": 24},
    "as_many_tokens_as_features": {"T": 6, "D": 6, "n_heads": 2, "d_ff": 5},
    "long": {"T": 33, "D": 6, "n_heads": 3, "d_ff": 5},
    "very_long": {"T": 100, "D": 4, "n_heads": 2, "d_ff": 3},
    "broad": {"T": 2, "D": 36, "n_heads": 4, "d_ff": 65},
}
USUAL = BLOCKS["three_heads"]


def draw_block(batch=(), *, T, D, n_heads, d_ff):
    """Draw X, p and n_heads; the outputs of the sublayers are of order one."""
    X = draw("batch T D", batch=batch, T=T, D=D)
    p = {name: draw(spec, D=D, d_ff=d_ff) for name, spec in WEIGHTS.items()}
    return X, {name: of_order_one(w, fan_in=w.shape[0]) for name, w in p.items()}, n_heads


def of_order_one(w, fan_in):
    return w / math.sqrt(fan_in) if w.dim() == 2 else w


def scaled(p, names, factor):
    return {name: factor * w if name in names.split() else w for name, w in p.items()}


def draw_tiny_block(small, large=""):
    """Draw a problem in which ε matters: the tokens are small, and so are the numbers added to them."""
    X, p, n_heads = draw_block((6,), **USUAL)
    return 3e-3 * X, scaled(scaled(p, small, 1e-3), large, 300.0), n_heads


MASKS = [
    "causal",
    "padding",
    "each_example",
    "two_batch_axes",
    "each_of_two_batch_axes",
    "one_row",
    "row_of_each",
    "itself",
    "long",
]


def draw_mask(kind, T):
    """Return a batch and a mask for it, with as many examples as there are heads in USUAL, or tokens."""
    return {
        "causal": ((3,), causal_mask(T)),
        "padding": ((3,), padding_mask([T - 1, 2, T], T)),
        "each_example": ((3,), random_mask(3, T, T)),
        "two_batch_axes": ((2, 3), random_mask(2, 1, T, T)),
        "each_of_two_batch_axes": ((2, 3), random_mask(2, 3, T, T)),
        "one_row": ((T, 3), random_mask(1, T)),
        "row_of_each": ((T,), random_mask(T, 1, T)),
        "itself": ((), torch.eye(T) > 0),
        "long": ((2,), random_mask(33, 33)),
    }[kind]

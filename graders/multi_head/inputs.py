"""The inputs of attention that hidden tests draw."""

import math

import torch

from softmark import causal_mask, draw, padding_mask, random_mask

UNEVEN = [(10, 4), (7, 3), (12, 5), (6, 4), (3, 6)]  # widths that the number of heads does not divide


def problem(m, n, D_q, D_kv, h, d_k, d_v, batch=()):
    """Draw X_q, X_kv, W_Q, W_K, W_V and n_heads, with scores of order one."""
    X_q, X_kv = draw("batch m D_q", "batch n D_kv", batch=batch, m=m, n=n, D_q=D_q, D_kv=D_kv)
    sizes = {"D_q": D_q, "D_kv": D_kv, "hd_k": h * d_k, "hd_v": h * d_v}
    W_Q, W_K, W_V = draw("D_q hd_k", "D_kv hd_k", "D_kv hd_v", **sizes)
    return X_q, X_kv, W_Q / math.sqrt(D_q), W_K / math.sqrt(D_kv), W_V / math.sqrt(D_kv), h


# Two conditions may have to meet before a mistake shows. The numbers of choices (3, 5, 7, and 4 of heads) have no
# common divisor, so within 35 rows each choice meets each of the others, and within 105 rows each two others: row r
# takes number r of every list, and goes on at the beginning of a list that ends.
BATCHES = [(), (2,), (2, 3)]
LENGTHS = [(4, 6), (6, 4), (5, 5), (1, 6), (6, 1)]
MASKS = ["none", "one", "one row", "causal", "padding", "per example", "all"]
COMBINATIONS = 35


def combination(row):
    """Return the batch, the numbers of queries and of keys, and the kind of mask of a row."""
    return BATCHES[row % len(BATCHES)], *LENGTHS[row % len(LENGTHS)], MASKS[row % len(MASKS)]


def mask_of_kind(kind, batch, m, n):
    """Return a mask of this kind in which every query may look at one key at least; None for "none"."""
    if kind == "none":
        return None
    if n == 1 or kind == "all":
        return torch.ones(m, n, dtype=torch.bool)
    if kind == "causal":
        return causal_mask(max(m, n))[:m, :n]
    if kind == "padding":
        lengths = [2 + example % (n - 1) for example in range(math.prod(batch))]
        return padding_mask(lengths, n).unflatten(0, batch or (1,))[() if batch else 0]
    return random_mask(*{"one": (m, n), "one row": (1, n), "per example": (*batch, m, n)}[kind])

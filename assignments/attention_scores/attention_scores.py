"""Attention scores: from dot products to attention.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

Seven small functions. Each is a line or two of the lectures; part 6 puts them together:

    X ──project──► Q, K, V
    Q, K ──scores──► S ──softmax_rows or masked_softmax──► A
    A, V ──────────► Y = A V

Conventions: tokens are rows, so a sequence is `(…, tokens, features)`, and `…` stands for none, one or two
batch dimensions. A weight is `(in, out)` and is used as `X @ W`. A mask is boolean, True = may look. Results
keep the dtype and the device of the input, and no input is ever changed.
"""

import math

import torch
import torch.nn.functional as F

# ------------------------------------------------------------------------------------------------------------
# Part 1: the parameter-free layer
# ------------------------------------------------------------------------------------------------------------


def attend(h: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
    """Return the context c = Σ_t p_t x_t with the weights p = softmax(X h). The dot products are not scaled here.

    h: (…, d)       the query, for instance the state of a decoder
    X: (…, T, d)    the vectors to attend to: keys and values at once
    returns (…, d)  the context c
    """
    raise NotImplementedError("part 1: attend")


# ------------------------------------------------------------------------------------------------------------
# Part 2: queries, keys and values
# ------------------------------------------------------------------------------------------------------------


def project(
    X: torch.Tensor, W_Q: torch.Tensor, W_K: torch.Tensor, W_V: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute queries, keys and values of every token: Q = X W_Q, K = X W_K, V = X W_V.

    X: (…, T, D)                                       the tokens
    W_Q: (D, d_k), W_K: (D, d_k), W_V: (D, d_v)        the weights
    returns the tuple (Q, K, V): (…, T, d_k), (…, T, d_k), (…, T, d_v)
    """
    raise NotImplementedError("part 2: project")


# ------------------------------------------------------------------------------------------------------------
# Part 3: scores
# ------------------------------------------------------------------------------------------------------------


def scores(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Compute the score matrix S = Q Kᵀ / √d_k: row i belongs to query i, column j to key j.

    Q: (…, m, d_k)     the queries
    K: (…, n, d_k)     the keys; n may differ from m
    returns (…, m, n)  the scores
    """
    raise NotImplementedError("part 3: scores")


# ------------------------------------------------------------------------------------------------------------
# Part 4: the softmax of every row
# ------------------------------------------------------------------------------------------------------------


def softmax_rows(S: torch.Tensor) -> torch.Tensor:
    """Turn every row of scores into weights that sum to 1: A_ij = exp(S_ij) / Σ_l exp(S_il).

    S: (…, m, n)       finite scores, as large as ±1000, in float32 as well as in float64
    returns (…, m, n)  the weights: no inf, no NaN
    """
    raise NotImplementedError("part 4: softmax_rows")


# ------------------------------------------------------------------------------------------------------------
# Part 5: softmax under a mask
# ------------------------------------------------------------------------------------------------------------


def masked_softmax(S: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Compute the softmax of every row over its allowed keys only. A blocked key gets a weight of exactly 0.

    S: (…, m, n)       finite scores
    mask               boolean, True = query i may look at key j; any shape that broadcasts to the shape of S,
                       such as (m, n), (batch, 1, n), (batch, 1, m, n), (batch, 1, 1, n)
    returns (…, m, n)  the weights; a row whose keys are all blocked is exactly 0, its gradient too (no NaN)
    """
    raise NotImplementedError("part 5: masked_softmax")


# ------------------------------------------------------------------------------------------------------------
# Part 6: attention
# ------------------------------------------------------------------------------------------------------------


def attention(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute scaled dot-product attention: Y = A V with A = softmax(Q Kᵀ / √d_k).

    Q: (…, m, d_k)    queries, from the tokens of K and V (self-attention) or from others (cross-attention)
    K: (…, n, d_k)    keys
    V: (…, n, d_v)    values; d_v may differ from d_k
    mask              None (every query may look at every key), or boolean as in part 5
    returns the tuple (Y, A): the output (…, m, d_v), then the weights (…, m, n);
                      a query that may look nowhere gets weights and an output of exactly 0
    """
    raise NotImplementedError("part 6: attention")


# ------------------------------------------------------------------------------------------------------------
# Part 7: masks
# ------------------------------------------------------------------------------------------------------------


def causal_mask(n: int) -> torch.Tensor:
    """Hide the future: reading from left to right, token i may look at itself and at earlier tokens.

    n                the number of tokens
    returns (n, n)   boolean: True where j <= i, for query i and key j
    """
    raise NotImplementedError("part 7: causal_mask")


def padding_mask(lengths: torch.Tensor, n: int) -> torch.Tensor:
    """Hide the padding: of the n places of a sequence only the first `length` hold real tokens.

    lengths: (…)        integers from 0 to n, usually (batch,)
    n                   the number of places, padding included
    returns (…, 1, n)   boolean, on the device of `lengths`: True where j < length. The 1 is the axis of the
                        queries, because padding is hidden from every query alike
    """
    raise NotImplementedError("part 7: padding_mask")

"""Attention scores: from dot products to attention.

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
    # BEGIN SOLUTION
    s = (X @ h.unsqueeze(-1)).squeeze(-1)     # (…, T)  s_t = hᵀ x_t
    p = torch.softmax(s, dim=-1)              # (…, T)  one weight per token
    return (p.unsqueeze(-1) * X).sum(dim=-2)  # (…, d)  Σ_t p_t x_t
    # END SOLUTION


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
    # BEGIN SOLUTION
    Q = X @ W_Q  # (…, T, d_k)
    K = X @ W_K  # (…, T, d_k)
    V = X @ W_V  # (…, T, d_v)
    return Q, K, V
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: scores
# ------------------------------------------------------------------------------------------------------------


def scores(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    """Compute the score matrix S = Q Kᵀ / √d_k: row i belongs to query i, column j to key j.

    Q: (…, m, d_k)     the queries
    K: (…, n, d_k)     the keys; n may differ from m
    returns (…, m, n)  the scores
    """
    # BEGIN SOLUTION
    d_k = K.shape[-1]
    S = Q @ K.transpose(-1, -2)  # (…, m, n)  q_i · k_j
    return S / math.sqrt(d_k)    # (…, m, n)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: the softmax of every row
# ------------------------------------------------------------------------------------------------------------


def softmax_rows(S: torch.Tensor) -> torch.Tensor:
    """Turn every row of scores into weights that sum to 1: A_ij = exp(S_ij) / Σ_l exp(S_il).

    S: (…, m, n)       finite scores, as large as ±1000, in float32 as well as in float64
    returns (…, m, n)  the weights: no inf, no NaN
    """
    # BEGIN SOLUTION
    S_max = S.amax(dim=-1, keepdim=True)    # (…, m, 1)  the largest score of each row
    E = torch.exp(S - S_max)                # (…, m, n)  at most 1, so nothing overflows
    return E / E.sum(dim=-1, keepdim=True)  # (…, m, n)  the factor exp(-S_max) cancels
    # END SOLUTION


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
    # BEGIN SOLUTION
    blocked = ~mask                              # broadcasts to (…, m, n)
    nowhere = blocked.all(dim=-1, keepdim=True)  # (…, m, 1)  queries without any allowed key
    lowest = torch.finfo(S.dtype).min            # far below any score: exp makes 0 of it
    S = S.masked_fill(blocked & ~nowhere, lowest)  # (…, m, n)  rows of `nowhere` stay: no 0 / 0 can arise
    A = softmax_rows(S)                            # (…, m, n)
    return A.masked_fill(blocked, 0.0)             # (…, m, n)  rows of `nowhere` are exactly 0
    # END SOLUTION


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
    # BEGIN SOLUTION
    S = scores(Q, K)                                                  # (…, m, n)
    A = softmax_rows(S) if mask is None else masked_softmax(S, mask)  # (…, m, n)
    Y = A @ V                                                         # (…, m, d_v)  y_i = Σ_j A_ij v_j
    return Y, A
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: masks
# ------------------------------------------------------------------------------------------------------------


def causal_mask(n: int) -> torch.Tensor:
    """Hide the future: reading from left to right, token i may look at itself and at earlier tokens.

    n                the number of tokens
    returns (n, n)   boolean: True where j <= i, for query i and key j
    """
    # BEGIN SOLUTION
    i = torch.arange(n).unsqueeze(-1)  # (n, 1)  the position of the query
    j = torch.arange(n)                # (n,)    the position of the key
    return j <= i                      # (n, n)
    # END SOLUTION


def padding_mask(lengths: torch.Tensor, n: int) -> torch.Tensor:
    """Hide the padding: of the n places of a sequence only the first `length` hold real tokens.

    lengths: (…)        integers from 0 to n, usually (batch,)
    n                   the number of places, padding included
    returns (…, 1, n)   boolean, on the device of `lengths`: True where j < length. The 1 is the axis of the
                        queries, because padding is hidden from every query alike
    """
    # BEGIN SOLUTION
    j = torch.arange(n, device=lengths.device)      # (n,)       the position of the key
    return j < lengths.unsqueeze(-1).unsqueeze(-1)  # (…, 1, n)
    # END SOLUTION

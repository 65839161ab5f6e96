"""Multi-head attention: split the width into heads, let every head attend, concatenate.

    X_q  ──W_Q──► Q ──split_heads──► Q⁽¹⁾ … Q⁽ʰ⁾ ─┐
    X_kv ──W_K──► K ──split_heads──► K⁽¹⁾ … K⁽ʰ⁾ ─┼─ softmax(Q⁽ⁱ⁾ K⁽ⁱ⁾ᵀ / √d_k) V⁽ⁱ⁾ ──merge_heads──► H
    X_kv ──W_V──► V ──split_heads──► V⁽¹⁾ … V⁽ʰ⁾ ─┘

Conventions: tokens are rows, so a sequence is `(…, tokens, features)`, and `…` stands for none, one or two
batch dimensions. A weight is `(in, out)` and is used as `X @ W`; only the module of part 4, which must load
PyTorch's weights, keeps them as PyTorch does, `(out, in)`. A mask is boolean, True = may look. Results keep
the dtype and the device of the input, and no input is ever changed.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

# ----------------------------------------------------------------------------------------------------------
# Part 1: split the width into heads
# ----------------------------------------------------------------------------------------------------------


def split_heads(X: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Give every head its own block of features: the first D/n_heads go to head 0, the next to head 1, …

    X: (…, T, D)                           T tokens of width D
    returns (…, n_heads, T, D / n_heads)   the head axis stands directly before the tokens
    raises ValueError if D is not a multiple of n_heads
    """
    # BEGIN SOLUTION
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError(f"a width of {D} does not divide into {n_heads} heads")
    d_head = D // n_heads
    blocks = X.reshape(*X.shape[:-1], n_heads, d_head)          # (…, T, n_heads, d_head)  cut every row
    return blocks.transpose(-3, -2)                             # (…, n_heads, T, d_head)
    # END SOLUTION


# ----------------------------------------------------------------------------------------------------------
# Part 2: merge the heads
# ----------------------------------------------------------------------------------------------------------


def merge_heads(H: torch.Tensor) -> torch.Tensor:
    """Concatenate the heads of every token in order: H = [H⁽¹⁾, …, H⁽ʰ⁾]. The inverse of split_heads.

    H: (…, n_heads, T, d_head)
    returns (…, T, n_heads · d_head)
    """
    # BEGIN SOLUTION
    *batch, n_heads, T, d_head = H.shape
    blocks = H.transpose(-3, -2)                                # (…, T, n_heads, d_head)  tokens first again
    return blocks.reshape(*batch, T, n_heads * d_head)          # (…, T, n_heads·d_head)
    # END SOLUTION


# ----------------------------------------------------------------------------------------------------------
# Part 3: multi-head attention
# ----------------------------------------------------------------------------------------------------------


def multi_head_attention(
    X_q: torch.Tensor,
    X_kv: torch.Tensor,
    W_Q: torch.Tensor,
    W_K: torch.Tensor,
    W_V: torch.Tensor,
    n_heads: int,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Let every head attend on its own, H⁽ⁱ⁾ = softmax(Q⁽ⁱ⁾ K⁽ⁱ⁾ᵀ / √d_k) V⁽ⁱ⁾; the result is [H⁽¹⁾, …, H⁽ʰ⁾].

    X_q: (…, m, D_q)               the tokens that ask
    X_kv: (…, n, D_kv)             the tokens that are asked; self-attention passes the same tensor twice
    W_Q: (D_q, n_heads · d_k)      the columns of head 0 come first, then those of head 1, …
    W_K: (D_kv, n_heads · d_k)
    W_V: (D_kv, n_heads · d_v)     d_v may differ from d_k
    mask: None, or boolean (m, n) or (…, m, n), True = query i may look at key j. No head axis: all heads have
          the same one. An axis may have length 1 (broadcast). Every query may look at one key at least.
    returns (…, m, n_heads · d_v)  no output projection here
    """
    # BEGIN SOLUTION
    Q = split_heads(X_q @ W_Q, n_heads)                         # (…, n_heads, m, d_k)
    K = split_heads(X_kv @ W_K, n_heads)                        # (…, n_heads, n, d_k)
    V = split_heads(X_kv @ W_V, n_heads)                        # (…, n_heads, n, d_v)
    d_k = K.shape[-1]
    S = Q @ K.transpose(-1, -2) / math.sqrt(d_k)                # (…, n_heads, m, n)
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)       # (…, 1, m, n) broadcasts over the heads
    A = torch.softmax(S, dim=-1)                                # (…, n_heads, m, n)  every row sums to 1
    H = A @ V                                                   # (…, n_heads, m, d_v)
    return merge_heads(H)                                       # (…, m, n_heads·d_v)
    # END SOLUTION


# ----------------------------------------------------------------------------------------------------------
# Part 4: the module
# ----------------------------------------------------------------------------------------------------------


class MultiHeadAttention(nn.Module):
    """Multi-head attention with biases and an output projection. Loads an `nn.MultiheadAttention`'s weights.

    Its parameters, and it has no others, have PyTorch's names, shapes and layout (`(out, in)`, D = d_model):

        in_proj_weight   (3D, D)   rows 0 … D-1 make the queries, the next D the keys, the last D the values
        in_proj_bias     (3D,)     in the same order
        out_proj.weight  (D, D)    applied to the concatenated heads
        out_proj.bias    (D,)
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        """Make the parameters; raise ValueError if d_model is not a multiple of n_heads.

        How they are initialised is up to you: every test loads its own weights.
        """
        super().__init__()
        # BEGIN SOLUTION
        if d_model % n_heads != 0:
            raise ValueError(f"a width of {d_model} does not divide into {n_heads} heads")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))   # (3D, D)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))              # (3D,)
        self.out_proj = nn.Linear(d_model, d_model)                             # weight (D, D), bias (D,)
        nn.init.xavier_uniform_(self.in_proj_weight)
        # END SOLUTION

    def forward(
        self, X_q: torch.Tensor, X_kv: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the same numbers as `nn.MultiheadAttention(d_model, n_heads, batch_first=True)`.

        X_q: (…, m, D)
        X_kv: (…, n, D), or None for self-attention
        mask: as in part 3, True = may look
        returns (…, m, D), the output only
        """
        # BEGIN SOLUTION
        if X_kv is None:
            X_kv = X_q                                          # (…, n, D) with n = m
        W_q, W_k, W_v = self.in_proj_weight.chunk(3)            # (D, D) each, as (out, in)
        b_q, b_k, b_v = self.in_proj_bias.chunk(3)              # (D,) each
        Q = split_heads(X_q @ W_q.T + b_q, self.n_heads)        # (…, n_heads, m, d_head)
        K = split_heads(X_kv @ W_k.T + b_k, self.n_heads)       # (…, n_heads, n, d_head)
        V = split_heads(X_kv @ W_v.T + b_v, self.n_heads)       # (…, n_heads, n, d_head)
        S = Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])    # (…, n_heads, m, n)
        if mask is not None:
            S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)   # (…, 1, m, n) broadcasts over the heads
        A = torch.softmax(S, dim=-1)                            # (…, n_heads, m, n)
        H = merge_heads(A @ V)                                  # (…, m, D)  heads side by side
        return self.out_proj(H)                                 # (…, m, D)  and only now mixed
        # END SOLUTION


# ----------------------------------------------------------------------------------------------------------
# Part 5: nothing new to write. What you wrote above must do all tokens and all heads at once, without a loop.
# ----------------------------------------------------------------------------------------------------------

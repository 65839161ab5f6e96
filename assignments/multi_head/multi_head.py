"""Multi-head attention: split the width into heads, let every head attend, concatenate.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

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
    raise NotImplementedError("part 1: split_heads")


# ----------------------------------------------------------------------------------------------------------
# Part 2: merge the heads
# ----------------------------------------------------------------------------------------------------------


def merge_heads(H: torch.Tensor) -> torch.Tensor:
    """Concatenate the heads of every token in order: H = [H⁽¹⁾, …, H⁽ʰ⁾]. The inverse of split_heads.

    H: (…, n_heads, T, d_head)
    returns (…, T, n_heads · d_head)
    """
    raise NotImplementedError("part 2: merge_heads")


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
    raise NotImplementedError("part 3: multi_head_attention")


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
        raise NotImplementedError("part 4: MultiHeadAttention.__init__")

    def forward(
        self, X_q: torch.Tensor, X_kv: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the same numbers as `nn.MultiheadAttention(d_model, n_heads, batch_first=True)`.

        X_q: (…, m, D)
        X_kv: (…, n, D), or None for self-attention
        mask: as in part 3, True = may look
        returns (…, m, D), the output only
        """
        raise NotImplementedError("part 4: MultiHeadAttention.forward")


# ----------------------------------------------------------------------------------------------------------
# Part 5: nothing new to write. What you wrote above must do all tokens and all heads at once, without a loop.
# ----------------------------------------------------------------------------------------------------------

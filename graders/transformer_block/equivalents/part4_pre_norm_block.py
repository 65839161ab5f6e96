"""Other right pre-norm blocks."""

import torch
import torch.nn.functional as F

from graders.transformer_block.block_by_hand import attention_from_scratch, heads, normalised
from reference import transformer_block as ref
from softmark import equivalent


def attention_of_the_library(X, p, n_heads, mask):
    W = torch.cat([p["W_Q"], p["W_K"], p["W_V"]], dim=1)
    b = torch.cat([p["b_Q"], p["b_K"], p["b_V"]])
    Q, K, V = (heads(Y, n_heads) for Y in (X @ W + b).chunk(3, dim=-1))
    mask = None if mask is None else mask.unsqueeze(-3)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


@equivalent(ref.pre_norm_block)
def pre_of_the_library(X, p, n_heads, mask=None):
    X = X + attention_of_the_library(normalised(X, p, 1), p, n_heads, mask)
    Z = normalised(X, p, 2)
    return X + F.relu(Z @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]


@equivalent(ref.pre_norm_block)
def pre_with_a_running_sum(X, p, n_heads, mask=None):
    stream = X.clone()
    stream = stream.add(attention_from_scratch(normalised(stream, p, 1), p, n_heads, mask))
    return stream.add(ref.feed_forward(normalised(stream, p, 2), p["W1"], p["b1"], p["W2"], p["b2"]))


@equivalent(ref.pre_norm_block)
def pre_without_key_bias(X, p, n_heads, mask=None):
    q = {**p, "b_K": torch.zeros_like(p["b_K"])}  # it adds the same to every score of a row
    Y = X + ref.self_attention(normalised(X, p, 1), q, n_heads, mask)
    return Y + ref.feed_forward(normalised(Y, p, 2), p["W1"], p["b1"], p["W2"], p["b2"])

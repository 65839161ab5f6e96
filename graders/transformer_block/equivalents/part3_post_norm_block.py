"""Other right post-norm blocks."""

import torch

from graders.transformer_block.block_by_hand import attention_from_scratch, normalised
from reference import transformer_block as ref
from softmark import equivalent


def attention_head_by_head(X, p, n_heads, mask):
    total = p["b_O"]
    roles = [[Y.chunk(n_heads, dim=-1) for Y in (p[f"W_{r}"], p[f"b_{r}"])] for r in "QKV"]
    for i, W_o in enumerate(p["W_O"].chunk(n_heads, dim=0)):
        Q, K, V = (X @ W[i] + b[i] for W, b in roles)
        S = Q @ K.transpose(-1, -2) * K.shape[-1] ** -0.5
        if mask is not None:
            S = torch.where(mask, S, torch.full_like(S, -1e9))
        total = total + torch.softmax(S, dim=-1) @ V @ W_o
    return total


@equivalent(ref.post_norm_block)
def post_from_scratch(X, p, n_heads, mask=None):
    Y = normalised(X + attention_from_scratch(X, p, n_heads, mask), p, 1)
    H = (Y @ p["W1"] + p["b1"]).relu()
    return normalised(Y + H @ p["W2"] + p["b2"], p, 2)


@equivalent(ref.post_norm_block)
def post_with_a_loop_over_sublayers(X, p, n_heads, mask=None):
    sublayers = [
        lambda Z: ref.self_attention(Z, p, n_heads, mask),
        lambda Z: ref.feed_forward(Z, p["W1"], p["b1"], p["W2"], p["b2"]),
    ]
    for i, sublayer in enumerate(sublayers, start=1):
        X = ref.layer_norm(X + sublayer(X), p[f"gain{i}"], p[f"bias{i}"], ref.EPS)
    return X


@equivalent(ref.post_norm_block)
def post_head_by_head(X, p, n_heads, mask=None):
    Y = normalised(X + attention_head_by_head(X, p, n_heads, mask), p, 1)
    return normalised(Y + ref.feed_forward(Y, p["W1"], p["b1"], p["W2"], p["b2"]), p, 2)

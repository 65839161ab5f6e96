"""Right pieces of several parts: a mistake is made of them, and shows its one wrong line."""

import torch

from reference import transformer_block as ref


def standardised(X, eps):
    """Return (x - μ) / √(σ² + ε)."""
    mu = X.mean(dim=-1, keepdim=True)
    var = ((X - mu) ** 2).mean(dim=-1, keepdim=True)
    return (X - mu) / torch.sqrt(var + eps)


def norm1(X, p, eps=ref.EPS):
    return ref.layer_norm(X, p["gain1"], p["bias1"], eps)


def norm2(X, p, eps=ref.EPS):
    return ref.layer_norm(X, p["gain2"], p["bias2"], eps)


def network(X, p):
    return ref.feed_forward(X, p["W1"], p["b1"], p["W2"], p["b2"])


def post_norm(X, p, attention):
    """Run part 3 around any attention."""
    Y = norm1(X + attention(X), p)
    return norm2(Y + network(Y, p), p)


def pre_norm(X, p, attention):
    """Run part 4 around any attention."""
    Y = X + attention(norm1(X, p))
    return Y + network(norm2(Y, p), p)


def attend(X_q, X_kv, p, n_heads, mask, factor=1.0):
    """Return the attention of the tokens X_q to the tokens X_kv, the scores multiplied by one factor more."""
    Q, K, V = X_q @ p["W_Q"] + p["b_Q"], X_kv @ p["W_K"] + p["b_K"], X_kv @ p["W_V"] + p["b_V"]
    Q, K, V = (Y.unflatten(-1, (n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
    S = factor * Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), torch.finfo(S.dtype).min)
    H = (torch.softmax(S, dim=-1) @ V).transpose(-3, -2).flatten(-2)
    return H @ p["W_O"] + p["b_O"]


def without_output_projection(p):
    return {**p, "W_O": torch.diag(torch.ones_like(p["b_O"])), "b_O": torch.zeros_like(p["b_O"])}


def with_weights_turned(p):
    return {name: w.T if name in ("W_Q", "W_K", "W_V", "W_O") else w for name, w in p.items()}


def with_norms_exchanged(p):
    return {**p, "gain1": p["gain2"], "bias1": p["bias2"], "gain2": p["gain1"], "bias2": p["bias1"]}


def with_first_norm_twice(p):
    return {**p, "gain2": p["gain1"], "bias2": p["bias1"]}


def blocking(mask):
    """Return the mask read the wrong way round; a row that would see nothing sees everything, as with a fill value."""
    if mask is None:
        return None
    return ~mask | mask.all(dim=-1, keepdim=True)

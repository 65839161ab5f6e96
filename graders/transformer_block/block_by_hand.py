"""Pieces of a block in another style than the reference's, for the equivalents of several parts."""

from reference import transformer_block as ref


def heads(Y, n_heads):
    return Y.reshape(*Y.shape[:-1], n_heads, -1).transpose(-3, -2)


def attention_from_scratch(X, p, n_heads, mask):
    Q, K, V = (heads(X @ p[f"W_{role}"] + p[f"b_{role}"], n_heads) for role in "QKV")
    S = Q @ K.mT / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask[..., None, :, :], float("-inf"))
    return (S.softmax(dim=-1) @ V).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


def normalised(X, p, i):
    return ref.layer_norm(X, p[f"gain{i}"], p[f"bias{i}"], 1e-5)

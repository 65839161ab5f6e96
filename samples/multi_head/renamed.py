"""A sample submission: right code under names of its own, so that only one function is found."""

import torch


def splitHeads(X, n_heads):
    return X.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def merge_heads(H):
    return H.transpose(-2, -3).flatten(-2)


def multiHeadAttention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (splitHeads(X, n_heads) for X in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.mT / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), float("-inf"))
    return merge_heads(torch.softmax(S, -1) @ V)

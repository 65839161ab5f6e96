"""A sample submission: reshape is taken for a transpose, in both directions; the two slips do not cancel.

What builds on the two keeps its marks where it is right given them.
"""

import torch


def split_heads(X, n_heads):
    *batch, T, D = X.shape
    return X.reshape(*batch, n_heads, T, D // n_heads)


def merge_heads(H):
    *batch, n_heads, T, d_head = H.shape
    return H.reshape(*batch, T, n_heads * d_head)


def multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = split_heads(X_q @ W_Q, n_heads), split_heads(X_kv @ W_K, n_heads), split_heads(X_kv @ W_V, n_heads)
    S = Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), float("-inf"))
    return merge_heads(torch.softmax(S, dim=-1) @ V)

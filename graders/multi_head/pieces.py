"""Right pieces of parts 3 and 4: a wrong solution is made of them, and shows its one wrong line."""

import math

import torch

from reference import multi_head as ref


def project(X_q, X_kv, W_Q, W_K, W_V, n_heads):
    """Return Q, K and V of every head, as the solution makes them."""
    Q = ref.split_heads(X_q @ W_Q, n_heads)
    K = ref.split_heads(X_kv @ W_K, n_heads)
    V = ref.split_heads(X_kv @ W_V, n_heads)
    return Q, K, V


def scores(Q, K):
    """Return Q Kᵀ / √d_k."""
    return Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])


def block(S, mask, fill=-math.inf):
    """Return the scores with the blocked keys filled."""
    return S if mask is None else S.masked_fill(~mask.unsqueeze(-3), fill)


def mix(S, V):
    """Return softmax(S) V, heads concatenated."""
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


def attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask):
    """Run part 3."""
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask), V)


def packed(module, X_q, X_kv):
    """Return Q, K and V of the module of part 4, full width."""
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = module.in_proj_weight.chunk(3)
    b_q, b_k, b_v = module.in_proj_bias.chunk(3)
    return X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v


def attend(Q, K, V, n_heads, mask):
    """Return the attention of full-width Q, K, V, heads concatenated."""
    Q, K, V = ref.split_heads(Q, n_heads), ref.split_heads(K, n_heads), ref.split_heads(V, n_heads)
    return mix(block(scores(Q, K), mask), V)

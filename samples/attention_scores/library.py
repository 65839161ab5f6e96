"""A sample submission: part 6 is the library's own attention under another name, which is not allowed."""

import torch
import torch.nn.functional as functions

attend_fast = getattr(functions, "scaled_dot_" + "product_attention")


def attend(h, X):
    return (torch.softmax((X * h.unsqueeze(-2)).sum(-1), dim=-1).unsqueeze(-1) * X).sum(-2)


def project(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_V


def scores(Q, K):
    return Q @ K.mT / K.shape[-1] ** 0.5


def softmax_rows(S):
    return torch.softmax(S, dim=-1)


def masked_softmax(S, mask):
    A = torch.softmax(S.masked_fill(~mask, float("-inf")), dim=-1)
    return torch.nan_to_num(A)


def attention(Q, K, V, mask=None):
    n = K.shape[-2]
    A = attend_fast(Q, K, torch.eye(n, dtype=V.dtype, device=V.device).expand(*K.shape[:-1], n), mask)
    return attend_fast(Q, K, V, mask), A


def causal_mask(n):
    return torch.ones(n, n).tril() == 1


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)

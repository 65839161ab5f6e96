"""A sample submission: parts 1 to 3 are right, part 4 overflows, part 5 is not written, part 6 forgets the scale."""

import torch


def attend(h, X):
    p = torch.softmax(X @ h.unsqueeze(-1), dim=-2).squeeze(-1)
    return (p.unsqueeze(-1) * X).sum(dim=-2)


def project(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_V


def scores(Q, K):
    return Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5


def softmax_rows(S):
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)


def masked_softmax(S, mask):
    raise NotImplementedError


def attention(Q, K, V, mask=None):
    S = Q @ K.transpose(-1, -2)
    if mask is not None:
        S = S.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(S, dim=-1).nan_to_num(0.0)
    return weights @ V, weights


def causal_mask(n):
    return torch.tril(torch.ones(n, n, dtype=torch.bool))


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(-2)

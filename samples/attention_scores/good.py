"""A sample submission: everything is right, written with einsum and PyTorch's softmax."""

import torch


def attend(h, X):
    p = torch.softmax(torch.einsum("...d,...td->...t", h, X), dim=-1)
    return torch.einsum("...t,...td->...d", p, X)


def project(X, W_Q, W_K, W_V):
    return tuple(torch.einsum("...td,dk->...tk", X, W) for W in (W_Q, W_K, W_V))


def scores(Q, K):
    return torch.einsum("...md,...nd->...mn", Q, K) * K.shape[-1] ** -0.5


def softmax_rows(S):
    return torch.softmax(S, dim=-1)


def masked_softmax(S, mask):
    mask = mask.expand(S.shape)
    safe = torch.where(mask, S, torch.finfo(S.dtype).min)
    return torch.where(mask, torch.softmax(safe, dim=-1), torch.zeros_like(S))


def attention(Q, K, V, mask=None):
    S = scores(Q, K)
    A = softmax_rows(S) if mask is None else masked_softmax(S, mask)
    return torch.einsum("...mn,...nd->...md", A, V), A


def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[..., None, None]

"""A small reference for the tests of the verdict room: a few functions that call each other, and a module."""

import math

import torch
from torch import Tensor, nn


def scores(Q: Tensor, K: Tensor) -> Tensor:
    return Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])


def softmax_rows(S: Tensor) -> Tensor:
    E = torch.exp(S - S.amax(-1, keepdim=True))
    return E / E.sum(-1, keepdim=True)


def masked_softmax(S: Tensor, mask: Tensor) -> Tensor:
    lowest = torch.finfo(S.dtype).min
    return softmax_rows(S.masked_fill(~mask, lowest)).masked_fill(~mask, 0.0)


def attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    S = scores(Q, K)
    A = softmax_rows(S) if mask is None else masked_softmax(S, mask)
    return A @ V, A


def causal_mask(n: int) -> Tensor:
    return torch.ones(n, n, dtype=torch.bool).tril()


def layer_norm(X: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    centred = X - X.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps) * gain + bias


def angles(n: int, d: int) -> Tensor:
    position = torch.arange(n).to(torch.get_default_dtype()).unsqueeze(-1)
    return position / 10000 ** (torch.arange(0, d, 2).to(torch.get_default_dtype()) / d)


def sinusoidal(n: int, d: int) -> Tensor:
    a = angles(n, d)
    return torch.stack([torch.sin(a), torch.cos(a)], -1).flatten(-2)[:, :d]


def lstm(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    outputs = []
    for step in x:
        i, f, g, o = (step @ W.T + h @ U.T + b).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    return torch.stack(outputs), c


class SelfAttention(nn.Module):
    """Single-head self-attention with an output projection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(width, width))
        self.W_K = nn.Parameter(torch.randn(width, width))
        self.bias = nn.Parameter(torch.randn(width))

    def project(self, X: Tensor) -> tuple[Tensor, Tensor]:
        return X @ self.W_Q + self.bias, X @ self.W_K

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        Q, K = self.project(X)
        return attention(Q, K, X, mask)[0]

"""A sample submission: everything is right; the frequencies are made with exp and log, the table with stack."""

import math

import torch
from torch import nn


def angles(n, d):
    i = torch.arange(0, d, 2, dtype=torch.float64)
    return torch.outer(torch.arange(n, dtype=torch.float64), torch.exp(-i / d * math.log(10000)))


def sinusoidal(n, d):
    A = angles(n, d)
    return torch.stack([A.sin(), A.cos()], dim=-1).flatten(1)[:, :d]


def add_positions(X):
    return X + sinusoidal(*X.shape[-2:]).to(X)


def shift_matrix(k, d):
    if d % 2:
        raise ValueError("an odd width has a sine without its cosine")
    turns = []
    for a in (k * angles(2, d)[1]).tolist():
        turns.append(torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64))
    return torch.block_diag(*turns)


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d))

    def forward(self, X):
        n = X.shape[-2]
        if n > len(self.table):
            raise ValueError(f"there are {len(self.table)} positions, and {n} tokens")
        return X + self.table[:n].to(X.dtype)


def relative_bias(n, m, table):
    L = (table.shape[-1] - 1) // 2
    offset = torch.arange(m, device=table.device) - torch.arange(n, device=table.device).unsqueeze(-1)
    return table[..., torch.clamp(offset, min=-L, max=L) + L]

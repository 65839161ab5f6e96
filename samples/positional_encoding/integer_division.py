"""A sample submission: // where / is meant gives all columns one frequency, and part 3 writes into its input."""

import torch


def angles(n, d):
    t = torch.arange(n, dtype=torch.float64).unsqueeze(-1)
    i = torch.arange((d + 1) // 2)
    return t / 10000 ** (2 * i // d)


def sinusoidal(n, d):
    A = angles(n, d)
    P = torch.zeros(n, d, dtype=torch.float64)
    P[:, 0::2] = torch.sin(A)
    P[:, 1::2] = torch.cos(A[:, : d // 2])
    return P


def add_positions(X):
    X += sinusoidal(X.shape[-2], X.shape[-1]).to(X.dtype)
    return X


def shift_matrix(k, d):
    raise NotImplementedError("part 4: shift_matrix")

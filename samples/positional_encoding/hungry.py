"""A hostile sample submission: a table of a hundred gigabytes, a recursion without an end, a text too long."""

import torch


def angles(n, d):
    return sinusoidal(n, d)[:, ::2]


def sinusoidal(n, d):
    return torch.ones(100 * 1024**3, dtype=torch.uint8)[: n * d].reshape(n, d)


def add_positions(X):
    return add_positions(X + 0)


def relative_bias(n, m, table):
    return "bias " * 10**12

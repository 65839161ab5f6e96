"""A sample submission that Python cannot read: an indentation is wrong."""

import torch


def linear(X, W, b):
    Y = X @ W.T
      return Y + b


def max_pool(X, size):
    return torch.stack([X], dim=0)

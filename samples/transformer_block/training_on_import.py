"""A sample submission that fails while it is imported: it reads a file that was not handed in."""

import torch

weights = torch.load("my_weights.pt")


def layer_norm(X, gain, bias, eps):
    mu = X.mean(-1, keepdim=True)
    return gain * (X - mu) / torch.sqrt(X.var(-1, correction=0, keepdim=True) + eps) + bias

"""A sample submission that Python cannot read: a bracket is missing."""

import torch


def attend(h, X):
    return torch.softmax(X @ h, dim=-1 @ X


def scores(Q, K):
    return Q @ K.mT / K.shape[-1] ** 0.5

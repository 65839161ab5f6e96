"""A sample submission that cannot be read: it was saved in the middle of a line."""

import torch


def rnn_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)


def joined(W_h, W_x):
    return torch.cat([W_h, W_x], dim=1)


def rnn(x, h0, W_x, W_h, b):
    T, N, _ = x.shape
    h = x.new_zeros(N, len(b)) if h0 is None else h0.expand(N, len(

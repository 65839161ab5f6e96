"""A sample submission: everything is right, written with einsum, windows and PyTorch's logarithms."""

import torch
import torch.nn.functional as F


def linear(X, W, b):
    return torch.einsum("...i,oi->...o", X, W) + b


def mlp(X, layers, g):
    for number, (W, b) in enumerate(layers):
        X = (g(X) if number else X) @ W + b
    return X


def same(a, b):
    if a != b:
        raise ValueError(f"{tuple(a)} and {tuple(b)} do not fit")


def squared_loss(y_pred, y):
    same(y_pred.shape, y.shape)
    return (y_pred - y).square().reshape(len(y), -1).sum(dim=1).mean()


def logistic_loss(z, y):
    same(z.shape, y.shape)
    return F.softplus(torch.where(y == 1, -z, z)).mean()


def softmax_loss(logits, y):
    same(y.shape, logits.shape[:1])
    return -torch.log_softmax(logits, dim=1)[torch.arange(len(y)), y].mean()


def softmax_regression_step(X, y, W, b, lr, decay):
    G = torch.softmax(linear(X, W, b), dim=1)
    G[torch.arange(len(y)), y] -= 1
    G = G / len(y)
    return W - lr * (torch.einsum("nc,nd->cd", G, X) + decay * W), b - lr * G.sum(dim=0)


def conv2d(X, K, b, stride, padding):
    X = F.pad(X, (0, 0, padding, padding, padding, padding))
    windows = X.unfold(-3, len(K), stride).unfold(-3, len(K), stride)  # (…, h', w', n_in, k, k)
    return torch.einsum("...qij,ijqo->...o", windows, K) + b


def max_pool(X, size):
    return X.unfold(-3, size, size).unfold(-3, size, size).amax(dim=(-2, -1))


def causal_conv1d(X, K, b, dilation):
    reach = (len(K) - 1) * dilation
    windows = F.pad(X, (0, 0, reach, 0)).unfold(-2, reach + 1, 1)[..., ::dilation]  # (…, T, n_in, k)
    return torch.einsum("...qj,jqo->...o", windows, K) + b


def receptive_field(kernels, dilations):
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations, strict=True))

"""Other right steps of softmax regression."""

import torch

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.softmax_regression_step)
def one_subtracted_at_the_class(X, y, W, b, lr, decay):
    N = X.shape[0]
    Z = X @ W.t() + b
    G = torch.exp(Z - torch.logsumexp(Z, dim=1, keepdim=True))
    G[torch.arange(N), y] -= 1
    G /= N
    return (1 - lr * decay) * W - lr * G.t() @ X, b - lr * G.sum(0)


@equivalent(ref.softmax_regression_step)
def sums_of_outer_products(X, y, W, b, lr, decay):
    dW, db = decay * W, torch.zeros_like(b)
    for x, of_class in zip(X, y, strict=True):
        g = torch.softmax(W @ x + b, dim=0)
        g = g - torch.eye(len(b), dtype=b.dtype, device=b.device)[of_class]
        dW = dW + torch.outer(g, x) / len(X)
        db = db + g / len(X)
    return W - lr * dW, b - lr * db


@equivalent(ref.softmax_regression_step)
def einsum_and_scatter(X, y, W, b, lr, decay):
    Z = torch.einsum("nd,cd->nc", X, W) + b
    E = torch.exp(Z - Z.max(dim=1, keepdim=True).values)
    P = E / E.sum(dim=1, keepdim=True)
    Y = torch.zeros_like(P).scatter_(1, y.unsqueeze(1), 1.0)
    dW = torch.einsum("nc,nd->cd", P - Y, X) / X.shape[0]
    return W - lr * (dW + decay * W), b - lr * (P - Y).mean(dim=0)


@equivalent(ref.softmax_regression_step)
def class_by_class(X, y, W, b, lr, decay):
    P = torch.softmax(ref.linear(X, W, b), dim=-1)
    new_W, new_b = torch.empty_like(W), b.clone()
    for c in range(len(b)):
        g = P[:, c] - (y == c).to(P.dtype)
        new_W[c] = W[c] - lr * ((g.unsqueeze(1) * X).mean(dim=0) + decay * W[c])
        new_b[c] = new_b[c] - lr * g.mean()
    return new_W, new_b

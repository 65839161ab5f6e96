"""Other right losses of GloVe."""

import torch

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.glove_loss)
def whole_tables(X, W, W2, b, b2, x_max, alpha):
    occurs = X > 0
    count = torch.where(occurs, X, torch.ones_like(X))
    f = torch.where(x_max > X, (count / x_max) ** alpha, torch.ones_like(X))
    error = W @ W2.T + b.unsqueeze(1) + b2 - count.log()
    return torch.where(occurs, f * error.square(), torch.zeros_like(X)).sum()


@equivalent(ref.glove_loss)
def boolean_index(X, W, W2, b, b2, x_max, alpha):
    occurs = X > 0
    model = torch.einsum("id,jd->ij", W, W2) + b[:, None] + b2[None, :]
    x = X[occurs]
    f = torch.minimum((x / x_max).pow(alpha), torch.ones_like(x))
    return torch.sum(f * (model[occurs] - torch.log(x)) ** 2)


@equivalent(ref.glove_loss)
def count_after_count(X, W, W2, b, b2, x_max, alpha):
    loss = 0 * (W.sum() + W2.sum() + b.sum() + b2.sum() + X.sum())
    for i in range(len(X)):
        for j in range(len(X)):
            if X[i, j] > 0:
                f = (X[i, j] / x_max) ** alpha if X[i, j] < x_max else 1
                loss = loss + f * (W[i].dot(W2[j]) + b[i] + b2[j] - torch.log(X[i, j])) ** 2
    return loss


@equivalent(ref.glove_loss)
def joined_vectors(X, W, W2, b, b2, x_max, alpha):
    ones = torch.ones_like(b)[:, None]
    left = torch.cat([W, b[:, None], ones], dim=1)
    right = torch.cat([W2, ones, b2[:, None]], dim=1)
    occurs = (X > 0).to(X.dtype)
    count = X + (1 - occurs)
    root = torch.clamp(count / x_max, max=1) ** (alpha / 2)
    return ((root * (left @ right.mT - count.log()) * occurs) ** 2).sum()


@equivalent(ref.glove_loss)
def powers_of_e(X, W, W2, b, b2, x_max, alpha):
    places = (X > 0).nonzero()
    i, j = places[:, 0], places[:, 1]
    log_x = X[i, j].log()
    shares = log_x - torch.log(torch.full_like(log_x, x_max))
    f = torch.exp(alpha * shares.clamp(max=0))
    return f @ ((W[i] * W2[j]).sum(1) + b[i] + b2[j] - log_x) ** 2

"""A sample submission: logarithms of counts that are 0, no marks around words, and a king among the queens."""

import torch


def cooccurrence(ids, size, window):
    X = torch.zeros(size, size)
    for i, word in enumerate(ids):
        for r in range(1, window + 1):
            if i + r < len(ids):
                X[word, ids[i + r]] += 1 / r
    return X + X.T


def glove_loss(X, W, W2, b, b2, x_max, alpha):
    f = torch.clamp((X / x_max) ** alpha, max=1)
    error = W @ W2.T + b[:, None] + b2 - torch.log(X)
    return torch.where(X > 0, f * error**2, 0).sum()


def subwords(word, shortest, longest):
    return [word[i : i + n] for n in range(shortest, longest + 1) for i in range(len(word) - n + 1)]


def analogy(E, a, b, c, k):
    q = E[b] - E[a] + E[c]
    cosine = E @ q / (E.norm(dim=1) * q.norm()).clamp(min=1e-12)
    return torch.sort(cosine, descending=True, stable=True).indices[:k].tolist()

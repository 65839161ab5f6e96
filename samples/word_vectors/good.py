"""A sample submission: everything is right; written with a function for what the losses share."""

import torch
import torch.nn.functional as F


def around(ids, place, window):
    places = range(max(0, place - window), min(len(ids), place + window + 1))
    return [ids[other] for other in places if other != place]


def skip_gram_pairs(ids, window):
    return [(ids[i], word) for i in range(len(ids)) for word in around(ids, i, window)]


def cbow_examples(ids, window):
    return [(around(ids, i, window), ids[i]) for i in range(len(ids))]


def softmax_loss(h, U, targets):
    logits = h @ U.T
    products = logits[torch.arange(len(targets), device=logits.device), targets]
    return (torch.logsumexp(logits, dim=1) - products).mean()


def cbow_loss(E, U, contexts, mask, targets):
    vectors = torch.where(mask.unsqueeze(2), E[contexts], 0)
    return softmax_loss(vectors.sum(1) / mask.sum(1, keepdim=True).clamp(min=1), U, targets)


def skip_gram_loss(E, U, centres, targets):
    return softmax_loss(E[centres], U, targets)


def negative_sampling_loss(E, U, centres, positives, negatives):
    v = E[centres]
    near = torch.einsum("nd,nd->n", U[positives], v)
    far = torch.einsum("nkd,nd->nk", U[negatives], v)
    return (F.softplus(-near) + F.softplus(far).sum(1)).mean()


def cooccurrence(ids, size, window):
    X = torch.zeros(size, size, dtype=torch.float64)
    for i in range(len(ids)):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if j != i:
                X[ids[i], ids[j]] += 1 / abs(j - i)
    return X


def glove_loss(X, W, W2, b, b2, x_max, alpha):
    occurs = X > 0
    log_x = torch.log(X[occurs])
    weight = torch.clamp(X[occurs] / x_max, max=1) ** alpha
    model = (W @ W2.T + b.unsqueeze(1) + b2)[occurs]
    return (weight * (model - log_x) ** 2).sum()


def subwords(word, shortest, longest):
    marked = f"<{word}>"
    return [marked[i : i + n] for n in range(shortest, longest + 1) for i in range(len(marked) - n + 1)]


def fnv_1a(text):
    h = 0x811C9DC5
    for byte in text.encode("utf-8"):
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def fasttext(word, table, shortest, longest):
    vector = torch.zeros_like(table[0])
    for piece in subwords(word, shortest, longest):
        vector = vector + table[fnv_1a(piece) % len(table)]
    return vector


def analogy(E, a, b, c, k):
    cosine = F.cosine_similarity(E, (E[b] - E[a] + E[c]).unsqueeze(0))
    others = [i for i in range(len(E)) if i not in (a, b, c)]
    return sorted(others, key=lambda i: (-cosine[i].item(), i))[:k]

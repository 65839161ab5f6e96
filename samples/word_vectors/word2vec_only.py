"""A sample submission: divides by the padded length, counts without distances, takes the library's loss; parts 5 to 7 are missing."""

import torch
import torch.nn.functional as F


def skip_gram_pairs(ids, window):
    pairs = []
    for i, centre in enumerate(ids):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if ids[j] != centre:
                pairs.append((centre, ids[j]))
    return pairs


def cbow_examples(ids, window):
    return [(ids[max(0, i - window) : i] + ids[i + 1 : i + window + 1], ids[i]) for i in range(len(ids))]


def cbow_loss(E, U, contexts, mask, targets):
    h = (E[contexts] * mask[:, :, None]).mean(dim=1)
    return -torch.log_softmax(h @ U.T, dim=1).gather(1, targets[:, None]).mean()


def skip_gram_loss(E, U, centres, targets):
    return F.cross_entropy(E[centres] @ U.T, targets)


def negative_sampling_loss(E, U, centres, positives, negatives):
    v = E[centres]
    near = (U[positives] * v).sum(-1)
    far = (U[negatives] * v[:, None]).sum(-1)
    return -(torch.log(torch.sigmoid(near)) + torch.log(torch.sigmoid(-far)).sum(-1)).mean()


def cooccurrence(ids, size, window):
    X = torch.zeros(size, size, dtype=torch.float64)
    for i in range(len(ids)):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if i != j:
                X[ids[i], ids[j]] += 1
    return X

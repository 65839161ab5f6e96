"""A sample submission: split at spaces, rare words dropped, the padding averaged in and a sigmoid, as the lecture does."""

from collections import Counter

import torch
from torch import nn


def tokens(text):
    return text.lower().split()


def ngrams(tokens, n):
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def char_ngrams(word, n):
    return [word[i : i + n] for i in range(len(word) - n + 1)]


def vocabulary(documents, size):
    counts = Counter(word for document in documents for word in tokens(document))
    return {word: i + 4 for i, (word, _) in enumerate(counts.most_common(size))}


def encode(text, vocabulary, length):
    encoded = [1]
    for word in tokens(text):
        if word in vocabulary:
            encoded.append(vocabulary[word])
    encoded = encoded[:length]
    return encoded + [0] * (length - len(encoded))


def decode(ids, vocabulary):
    reverse = {value: key for key, value in vocabulary.items()}
    reverse[1], reverse[2], reverse[3] = "[START]", "[UNK]", "[UNUSED]"
    return " ".join([reverse.get(i, "?") for i in ids if i != 0])


def bag_of_words(ids, size, binary=False):
    results = torch.zeros(*ids.shape[:-1], size + 4, device=ids.device)
    results = results.scatter(-1, ids, 1.0)
    return results[..., 4:]


class TfIdf:
    def __init__(self):
        self.weights = None

    def fit(self, counts):
        df = (counts > 0).sum(dim=0).to(counts.dtype)
        self.weights = torch.where(df > 0, torch.log(len(counts) / df.clamp(min=1)), torch.zeros_like(df))
        return self.weights

    def transform(self, counts):
        return counts * self.weights


def normalise_rows(X):
    return X / X.norm(dim=-1, keepdim=True).clamp(min=1e-12)


def cosine(X, Y):
    return normalise_rows(X) @ normalise_rows(Y).transpose(-1, -2)


def squared_distances(X, Y):
    return 2 - 2 * cosine(X, Y)


class AveragingNetwork(nn.Module):
    def __init__(self, size, d, h, n_out, frozen=False):
        super().__init__()
        self.embedding = nn.Embedding(size + 4, d)
        self.embedding.weight.requires_grad = not frozen
        self.hidden = nn.Linear(d, h)
        self.output = nn.Linear(h, n_out)

    def forward(self, ids):
        pooled = self.embedding(ids).mean(dim=-2)
        return torch.sigmoid(self.output(torch.relu(self.hidden(pooled))))

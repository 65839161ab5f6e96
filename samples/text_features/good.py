"""A sample submission: everything is right; the words are found without a regular expression, the bag is scattered."""

import math

import torch
from torch import nn


def tokens(text):
    text = " " + text.lower() + " "
    kept = [
        sign if sign.isalnum() or (sign == "'" and before.isalnum() and after.isalnum()) else " "
        for before, sign, after in zip(text, text[1:], text[2:], strict=False)
    ]
    return "".join(kept).split()


def ngrams(tokens, n):
    return [" ".join(words) for words in zip(*(tokens[i:] for i in range(n)), strict=False)]


def char_ngrams(word, n):
    return ["".join(letters) for letters in zip(*(word[i:] for i in range(n)), strict=False)]


def vocabulary(documents, size):
    counts = {}
    for document in documents:
        for word in tokens(document):
            counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts, key=lambda word: -counts[word])
    return {word: 4 + i for i, word in enumerate(ranked[:size])}


def encode(text, vocabulary, length):
    ids = [1, *(vocabulary.get(word, 2) for word in tokens(text)), *[0] * length]
    return ids[:length]


def decode(ids, vocabulary):
    names = {i: word for word, i in vocabulary.items()} | {1: "[START]", 2: "[UNK]", 3: "[UNUSED]"}
    return " ".join(names.get(i, "?") for i in ids if i)


def bag_of_words(ids, size, binary=False):
    bag = torch.zeros(*ids.shape[:-1], size + 4, device=ids.device)
    bag = bag.scatter_add(-1, ids, torch.ones_like(ids, dtype=bag.dtype))[..., 4:]
    return bag.clamp(max=1) if binary else bag


class TfIdf:
    def __init__(self):
        self.weights = None

    def fit(self, counts):
        df = (counts > 0).to(counts.dtype).sum(dim=0)
        self.weights = (math.log(len(counts)) - df.log()).masked_fill(df == 0, 0)
        return self.weights

    def transform(self, counts):
        return self.weights * counts


def normalise_rows(X):
    length = X.norm(dim=-1, keepdim=True)
    return X / length.masked_fill(length == 0, 1)


def cosine(X, Y):
    return normalise_rows(X) @ normalise_rows(Y).mT


def squared_distances(X, Y):
    return (normalise_rows(X)[..., :, None, :] - normalise_rows(Y)[..., None, :, :]).square().sum(dim=-1)


class AveragingNetwork(nn.Module):
    def __init__(self, size, d, h, n_out, frozen=False):
        super().__init__()
        self.embedding = nn.Embedding(size + 4, d, padding_idx=0)
        self.hidden = nn.Linear(d, h)
        self.output = nn.Linear(h, n_out)
        if frozen:
            self.embedding.weight.requires_grad = False

    def forward(self, ids):
        real = (ids > 0).unsqueeze(-1)
        E = torch.where(real, self.embedding(ids), 0.0)
        z0 = E.sum(dim=-2) / real.sum(dim=-2).clamp(min=1)
        return self.output(self.hidden(z0).relu())

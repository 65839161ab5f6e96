"""Other right ways to write part 5."""

import math

import numpy as np
import torch

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.TfIdf)
class DifferenceOfLogarithms:
    """The weight as a difference, for the words that occur."""

    def __init__(self):
        self.weights = None

    def fit(self, counts):
        df = counts.gt(0).sum(0)
        weights = math.log(len(counts)) - torch.log(df.to(counts.dtype))
        self.weights = weights.masked_fill(df == 0, 0.0)
        return self.weights

    def transform(self, counts):
        return torch.einsum("...v,v->...v", counts, self.weights)


@equivalent(ref.TfIdf)
class WordByWord:
    """Plain numbers in a loop, and a diagonal matrix."""

    def __init__(self):
        self.weights = []

    def fit(self, counts):
        df = [int((column > 0).sum()) for column in counts.unbind(dim=1)]
        weights = [math.log(counts.shape[0] / number) if number else 0.0 for number in df]
        self.diagonal = torch.tensor(weights, dtype=counts.dtype, device=counts.device).diag()
        return self.diagonal.diagonal()

    def transform(self, counts):
        return counts @ self.diagonal


@equivalent(ref.TfIdf)
class OverwrittenInfinity:
    """An infinite weight is set to 0 behind the division."""

    def __init__(self):
        self.weights = None

    def fit(self, counts):
        df = torch.count_nonzero(counts, dim=0).to(counts)
        self.idf = torch.log(counts.shape[0] / df)
        self.idf[torch.isinf(self.idf)] = 0
        return self.idf

    def transform(self, counts):
        return counts.mul(self.idf)


@equivalent(ref.normalise_rows)
def root_of_squares(X):
    """Take the root of the squares, and replace the NaN of a row of zeros."""
    length = (X * X).sum(-1, keepdim=True).sqrt()
    return torch.where(length == 0, torch.zeros_like(X), X / length)


@equivalent(ref.normalise_rows)
def clamped_length(X):
    """A tiny smallest length, as in the library."""
    return X / X.norm(p=2, dim=-1, keepdim=True).clamp_min(np.float32(1e-12).item())


@equivalent(ref.normalise_rows)
def by_largest_number(X):
    """Divide by the largest number first, which guards against overflow."""
    largest = X.abs().amax(-1, keepdim=True)
    X = X / largest.masked_fill(largest == 0, 1.0)
    squares = torch.einsum("...v,...v->...", X, X).unsqueeze(-1)
    return X * squares.masked_fill(squares == 0, 1.0).rsqrt()

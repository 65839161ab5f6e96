"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from graders.text_features.weighing import weighed
from reference import text_features as ref
from softmark import example, module_example, numbers

TEXT = "Don't stop! It's the 2nd Rock'n'Roll film_night, isn't it? - 'Tis; the dogs' ÉTÉ: 4.5"
REVIEWS = ["The film was great. GREAT!", "", "A film about the dog; a great dog, a film", "Dull, dull - the end"]
KNOWN = {"film": 5, "the": 4, "was": 7, "dog": 6}
IDS = torch.tensor([[1, 4, 6, 4, 2, 8, 3, 0], [1, 5, 5, 2, 5, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]])
COUNTS = torch.tensor([[2, 1, 0, 1], [1, 0, 0, 3], [0, 5, 0, 2]], dtype=torch.float64)
OTHERS = torch.tensor([[0, 2, 4, 1], [3, 1, 1, 0]], dtype=torch.float64)
X, Y = numbers("X", 3, 4), numbers("Y", 2, 4)
NETWORK = {"size": 5, "d": 3, "h": 4, "n_out": 2}


def with_zeros(X):
    """Return X with a row of zeros, and with a row of small numbers."""
    return torch.cat([X[:1], 0 * X[:1], X[1:] / 1e5])


EXAMPLES = {
    "tokens": example(ref.tokens, TEXT),
    "ngrams": example(ref.ngrams, ["A", "film", "about", "a", "film"], 3),
    "char_ngrams": example(ref.char_ngrams, "banana", 2),
    "vocabulary": example(ref.vocabulary, REVIEWS, 99),
    "vocabulary, the most frequent": example(ref.vocabulary, REVIEWS, 3),
    "encode": example(ref.encode, "The great film was GREAT", KNOWN, 9),
    "encode, cut": example(ref.encode, "The great film was GREAT", KNOWN, 4),
    "decode": example(ref.decode, [1, 4, 5, 7, 6, 4, 0, 0], KNOWN),
    "decode, other ids": example(ref.decode, [1, 2, 5, 0, 3, 9, 0], KNOWN),
    "bag_of_words": example(ref.bag_of_words, IDS, 6),
    "bag_of_words, binary": example(ref.bag_of_words, IDS, 6, binary=True),
    "TfIdf": example(weighed, COUNTS, COUNTS),
    "TfIdf, other texts": example(weighed, COUNTS, OTHERS),
    "normalise_rows": example(ref.normalise_rows, with_zeros(X)),
    "cosine": example(ref.cosine, X, Y),
    "cosine, zeros": example(ref.cosine, with_zeros(X), with_zeros(Y)),
    "squared_distances": example(ref.squared_distances, X, Y),
    "squared_distances, zeros": example(ref.squared_distances, with_zeros(X), with_zeros(Y)),
    "AveragingNetwork": module_example(ref.AveragingNetwork, NETWORK, IDS),
}

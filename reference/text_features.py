"""Text features: from a text to a vector of a fixed length.

A network wants the same number of inputs for every text. Two ways lead there:

    text ──► tokens ──► ids ──┬──► bag_of_words ──► TfIdf ──► normalise_rows ──► cosine     count the words
                              └──► embedding ──► mean ──► MLP                               average their vectors

Letters: T ids of a text, N texts, V words in the vocabulary, d features of a word vector. `…` stands for none, one or
two batch dimensions.
"""

import re
from collections import Counter

import torch
from torch import nn

PAD, START, UNK, UNUSED = 0, 1, 2, 3
RESERVED = 4
"""The number of reserved ids: the first word of the vocabulary has this id."""

# ------------------------------------------------------------------------------------------------------------
# Part 1: words, and runs of words and of letters
# ------------------------------------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Cut a text into its words, in lower case: runs of letters and digits, with the apostrophes inside.

    text     any text, which may be empty
    returns  the words in the order of the text
    """
    # BEGIN SOLUTION
    run = r"[^\W_]+"  # letters and digits: \W is everything else but the underscore
    return re.findall(rf"{run}(?:'{run})*", text.lower())
    # END SOLUTION


def ngrams(tokens: list[str], n: int) -> list[str]:
    """Return every n adjacent words, joined by one space: the n-grams of words.

    tokens   words in the order of the text
    n        the number of words of an n-gram, at least 1
    returns  the n-grams in the order of the text, as strings; none if there are fewer than n words
    """
    # BEGIN SOLUTION
    starts = range(len(tokens) - n + 1)  # empty if there are fewer than n words
    return [" ".join(tokens[i : i + n]) for i in starts]
    # END SOLUTION


def char_ngrams(word: str, n: int) -> list[str]:
    """Return every n adjacent letters of a word: its n-grams of characters.

    word     one word
    n        the number of letters of an n-gram, at least 1
    returns  the n-grams from left to right; none if the word has fewer than n letters
    """
    # BEGIN SOLUTION
    return [word[i : i + n] for i in range(len(word) - n + 1)]
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: the vocabulary
# ------------------------------------------------------------------------------------------------------------


def vocabulary(documents: list[str], size: int) -> dict[str, int]:
    """Give an id to each of the `size` most frequent words of all documents together.

    documents  texts; some may be empty
    size       the largest number of words, at least 1; the reserved ids are not counted
    returns    the id of each word: 4 for the most frequent one, then 5, 6, …; of words that are equally frequent, the
               one that appears first in the documents comes first
    """
    # BEGIN SOLUTION
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(tokens(document))  # a Counter keeps its words in the order in which they came first
    chosen = counts.most_common(size)  # equally frequent words stay in that order
    return {word: RESERVED + rank for rank, (word, _) in enumerate(chosen)}
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: from texts to ids and back
# ------------------------------------------------------------------------------------------------------------


def encode(text: str, vocabulary: dict[str, int], length: int) -> list[int]:
    """Turn a text into exactly `length` ids: START, the ids of its words, and PAD on the right.

    text        any text, which may be empty
    vocabulary  the id of each known word; every other word gets UNK
    length      how many ids come out, START included, at least 1; what is too long is cut off on the right
    """
    # BEGIN SOLUTION
    ids = [START] + [vocabulary.get(word, UNK) for word in tokens(text)]
    ids = ids[:length]
    return ids + [PAD] * (length - len(ids))
    # END SOLUTION


def decode(ids: list[int], vocabulary: dict[str, int]) -> str:
    """Turn ids into a text: the words, joined by one space.

    ids         whole numbers from 0; PAD leaves nothing, wherever it stands
    vocabulary  the id of each known word
    returns     the words; START, UNK and UNUSED give [START], [UNK] and [UNUSED], an id without a word gives ?
    """
    # BEGIN SOLUTION
    words = {START: "[START]", UNK: "[UNK]", UNUSED: "[UNUSED]"}
    for word, i in vocabulary.items():
        words[i] = word
    return " ".join(words.get(i, "?") for i in ids if i != PAD)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: the bag of words
# ------------------------------------------------------------------------------------------------------------


def bag_of_words(ids: torch.Tensor, size: int, binary: bool = False) -> torch.Tensor:
    """Count how often each word of the vocabulary occurs in each text.

    ids: (…, T)        whole numbers from 0 to size + 3, as `encode` makes them
    size               V, the number of words in the vocabulary; column j belongs to the word with the id j + 4
    binary             if True, 1 says that a word occurs, however often
    returns (…, size)  floating-point numbers; the reserved ids are not counted
    """
    # BEGIN SOLUTION
    words = torch.arange(RESERVED, RESERVED + size, device=ids.device)  # (V,)        the id of each column
    same = ids.unsqueeze(-1) == words  # (…, T, V)   is this place that word?
    counts = same.sum(dim=-2)  # (…, V)
    if binary:
        counts = counts.clamp(max=1)  # (…, V)
    return counts.to(torch.get_default_dtype())
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: TF-IDF, and rows of length 1
# ------------------------------------------------------------------------------------------------------------


class TfIdf:
    """Weigh the words of a bag: a word that occurs in few texts weighs more than one that occurs in many.

    `fit` finds out the weights, and `transform` uses them, for the same or for other texts.
    """

    def __init__(self) -> None:
        self.weights: torch.Tensor | None = None  # (V,) once `fit` has been called

    def fit(self, counts: torch.Tensor) -> torch.Tensor:
        """Find out and keep the weight of each word, ln(N / df). An earlier `fit` is forgotten.

        counts: (N, V)  how often each word occurs in each of the N texts; df of them have it at least once
        returns (V,)    the weights, with the dtype and on the device of counts; 0 for a word that no text has
        """
        # BEGIN SOLUTION
        N = counts.shape[0]
        df = (counts > 0).sum(dim=0).to(counts.dtype)  # (V,)  how many texts have the word
        weights = torch.log(N / df.clamp(min=1))  # (V,)
        self.weights = torch.where(df > 0, weights, 0 * weights)  # (V,)  no text has it: its weight is 0
        return self.weights
        # END SOLUTION

    def transform(self, counts: torch.Tensor) -> torch.Tensor:
        """Multiply every count by the weight of its word, as the last `fit` has found it.

        counts: (…, V)    the counts of any texts
        returns (…, V)    t · ln(N / df), not normalised
        """
        # BEGIN SOLUTION
        return counts * self.weights  # (…, V)
        # END SOLUTION


def normalise_rows(X: torch.Tensor) -> torch.Tensor:
    """Divide every row by its length ‖x‖₂, so that the squares of a row sum to 1.

    X: (…, V)       a row for each text
    returns (…, V)  rows of length 1; a row of zeros stays a row of zeros
    """
    # BEGIN SOLUTION
    length = torch.linalg.vector_norm(X, dim=-1, keepdim=True)  # (…, 1)
    return X / torch.where(length > 0, length, torch.ones_like(length))  # (…, V)  no division by 0
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: how alike are two texts?
# ------------------------------------------------------------------------------------------------------------


def cosine(X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Compute the cosine of the angle between each row of X and each row of Y.

    X: (…, m, d)
    Y: (…, n, d)
    returns (…, m, n)  entry (i, j) belongs to row i of X and row j of Y; 0 if one of the two is a row of zeros
    """
    # BEGIN SOLUTION
    U = normalise_rows(X)  # (…, m, d)
    W = normalise_rows(Y)  # (…, n, d)
    return U @ W.transpose(-1, -2)  # (…, m, n)
    # END SOLUTION


def squared_distances(X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
    """Compute the squared Euclidean distance ‖u - w‖² between the normalised rows of X and of Y.

    X: (…, m, d)
    Y: (…, n, d)
    returns (…, m, n)  entry (i, j) belongs to row i of X and row j of Y
    """
    # BEGIN SOLUTION
    U = normalise_rows(X)  # (…, m, d)
    W = normalise_rows(Y)  # (…, n, d)
    u = (U**2).sum(dim=-1).unsqueeze(-1)  # (…, m, 1)  1, or 0 for a row of zeros
    w = (W**2).sum(dim=-1).unsqueeze(-2)  # (…, 1, n)
    return u + w - 2 * cosine(X, Y)  # (…, m, n)  ‖u‖² + ‖w‖² - 2 u·w
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: the averaging network
# ------------------------------------------------------------------------------------------------------------


class AveragingNetwork(nn.Module):
    """A deep averaging network: the mean of the word vectors, then an MLP with one hidden layer.

    Its parameters are those of an nn.Embedding and two nn.Linear:
    embedding.weight (size + 4, d), hidden.weight (h, d), hidden.bias (h,), output.weight (n_out, h) and
    output.bias (n_out,).
    """

    def __init__(self, size: int, d: int, h: int, n_out: int, frozen: bool = False) -> None:
        """Make the parameters.

        size    V, the number of words in the vocabulary; the reserved ids have word vectors, too
        d       the number of features of a word vector
        h       the number of hidden units
        n_out   the number of outputs
        frozen  if True, the word vectors stay as they are: training does not change embedding.weight
        """
        # BEGIN SOLUTION
        super().__init__()
        self.embedding = nn.Embedding(size + RESERVED, d)
        self.embedding.weight.requires_grad_(not frozen)
        self.hidden = nn.Linear(d, h)
        self.output = nn.Linear(h, n_out)
        # END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Average the vectors of all ids but PAD, and apply the MLP with ReLU.

        ids: (…, T)         whole numbers, padded with 0
        returns (…, n_out)  no function follows the last layer
        """
        # BEGIN SOLUTION
        E = self.embedding(ids)  # (…, T, d)
        real = (ids != PAD).unsqueeze(-1)  # (…, T, 1)  not the padding
        total = (E * real).sum(dim=-2)  # (…, d)
        count = real.sum(dim=-2).clamp(min=1)  # (…, 1)     1 for a text of PAD only: its mean is 0
        z0 = total / count  # (…, d)
        return self.output(torch.relu(self.hidden(z0)))  # (…, n_out)
        # END SOLUTION

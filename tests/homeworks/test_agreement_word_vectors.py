"""The reference of word_vectors agrees with PyTorch, and its windows with those of gensim, on random numbers."""

from __future__ import annotations

import random as dice
from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference import word_vectors
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed, random
from tests.homeworks.test_agreement_building_blocks import assert_same

V, D = 8, 5  # words, features
N, C, K = 6, 4, 3  # examples, words of a context, words that were drawn
FNV_1A = {"a": 0xE40C292C, "b": 0xE70C2DE5, "foobar": 0xBF9CF968}
"""Hashes that the authors of FNV publish."""


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(22)


def ids(*shape: int) -> Tensor:
    return torch.randint(V, shape)


def table(dtype: torch.dtype) -> nn.Embedding:
    """An embedding of PyTorch, whose weight is the matrix of the reference."""
    return nn.Embedding(V, D).to(dtype)


@both_precisions
@pytest.mark.parametrize("scale", [1, 300], ids=["ordinary", "far out"])
class TestWord2Vec:
    """Losses on embeddings of PyTorch: values, and gradients of both matrices."""

    @pytest.mark.parametrize("words", [[4, 2, 1, 3, 4, 2], [2, 0, 4, 1, 0, 3]], ids=["padding", "empty contexts"])
    def test_cbow(self, words: list[int], scale: int, dtype: torch.dtype) -> None:
        """`cbow_loss` is nn.EmbeddingBag, nn.Linear and F.cross_entropy."""
        bag, output = nn.EmbeddingBag(V, D, mode="mean").to(dtype), nn.Linear(D, V, bias=False).to(dtype)
        lengths, contexts, targets = torch.tensor(words), ids(N, C), ids(N)
        mask = torch.arange(C) < lengths[:, None]
        offsets = torch.cumsum(lengths, 0) - lengths
        leaves = bag.weight, output.weight

        def theirs() -> Tensor:
            return F.cross_entropy(scale * output(bag(contexts[mask], offsets)), targets)

        ours = observed(lambda: word_vectors.cbow_loss(scale * leaves[0], leaves[1], contexts, mask, targets), *leaves)
        assert_agree(ours, observed(theirs, *leaves))

    def test_skip_gram(self, scale: int, dtype: torch.dtype) -> None:
        """`skip_gram_loss` is nn.Embedding, nn.Linear and F.cross_entropy."""
        E, output, centres, targets = table(dtype), nn.Linear(D, V, bias=False).to(dtype), ids(N), ids(N)
        leaves = E.weight, output.weight
        ours = observed(lambda: word_vectors.skip_gram_loss(scale * leaves[0], leaves[1], centres, targets), *leaves)
        assert_agree(ours, observed(lambda: F.cross_entropy(scale * output(E(centres)), targets), *leaves))

    def test_negative_sampling(self, scale: int, dtype: torch.dtype) -> None:
        """`negative_sampling_loss` is nn.Embedding and F.logsigmoid, word after word."""
        E, U, centres, positives, negatives = table(dtype), table(dtype), ids(N), ids(N), ids(N, K)
        leaves = E.weight, U.weight

        def theirs() -> Tensor:
            v = scale * E(centres)
            losses = [F.logsigmoid(torch.linalg.vecdot(v, U(positives)))]
            losses += [F.logsigmoid(-torch.linalg.vecdot(v, U(column))) for column in negatives.unbind(1)]
            return -torch.stack(losses).sum(0).mean()

        def ours() -> Tensor:
            return word_vectors.negative_sampling_loss(scale * leaves[0], leaves[1], centres, positives, negatives)

        assert_agree(observed(ours, *leaves), observed(theirs, *leaves))


@both_precisions
class TestOthers:
    """GloVe, fastText and analogies."""

    @pytest.mark.parametrize("alpha", [0.75, 0.0])
    def test_glove(self, alpha: float, dtype: torch.dtype) -> None:
        """`glove_loss` is F.mse_loss with weights, which are 0 where a count is 0."""
        counts = random(V, V, dtype=dtype).detach().exp()
        X = torch.where(torch.rand(V, V) < 0.6, counts, 0)
        leaves = *(random(V, D, dtype=dtype) for _ in range(2)), *(random(V, dtype=dtype) for _ in range(2))
        weights = torch.where(X > 0, torch.minimum((X / 2) ** alpha, torch.ones_like(X)), 0)

        def theirs(W: Tensor, W2: Tensor, b: Tensor, b2: Tensor) -> Tensor:
            model = torch.addmm(b[:, None] + b2, W, W2.T)
            return (weights * F.mse_loss(model, torch.where(X > 0, X, 1).log(), reduction="none")).sum()

        assert_same(lambda *given: word_vectors.glove_loss(X, *given, 2.0, alpha), theirs, *leaves)

    def test_fasttext(self, dtype: torch.dtype) -> None:
        """`fasttext` is F.embedding_bag with mode "sum", on the rows that the published hashes say."""
        B = 1009
        rows = [FNV_1A[piece] % B for piece in ("a", "b", "b")]
        pieces = torch.tensor([hashed("<") % B, *rows, hashed(">") % B])
        assert_same(
            lambda weight: word_vectors.fasttext("abb", weight, 1, 1),
            lambda weight: F.embedding_bag(pieces[None], weight, mode="sum")[0],
            random(B, D, dtype=dtype),
        )
        counts = word_vectors.fasttext("foobar", torch.eye(B, dtype=dtype), 6, 6)
        assert counts[FNV_1A["foobar"] % B] == 1

    def test_analogy(self, dtype: torch.dtype) -> None:
        """`analogy` is F.cosine_similarity and torch.topk."""
        E = torch.randn(20, D, dtype=dtype)
        for a, b, c in (0, 1, 2), (7, 3, 7), (19, 4, 4):
            cosine = F.cosine_similarity(E, E[b] - E[a] + E[c], dim=1)
            cosine[[a, b, c]] = -2
            assert word_vectors.analogy(E, a, b, c, 6) == torch.topk(cosine, 6).indices.tolist()


def hashed(piece: str) -> int:
    """The hash of a piece, in the words of its authors: for each octet, hash = (hash xor octet) * prime."""
    value = 0x811C9DC5
    for octet in piece.encode():
        value = ((value ^ octet) * 0x01000193) & 0xFFFFFFFF
    return value


def gensim_windows(text: list[int], window: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield each word with the places and words of its window, as gensim's `train_batch_sg` and `_cbow` make them.

    gensim draws `reduced_window` at random; it is 0 here.
    """
    reduced_window = 0
    for pos, word in enumerate(text):
        start = max(0, pos - window + reduced_window)
        around = enumerate(text[start : (pos + window + 1 - reduced_window)], start)
        yield word, [(pos2, word2) for pos2, word2 in around if pos2 != pos]


@pytest.mark.parametrize("window", [1, 2, 5, 30])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 40])
class TestWindows:
    """Windows as gensim makes them."""

    def test_windows(self, length: int, window: int) -> None:
        """`skip_gram_pairs` and `cbow_examples` have gensim's words in gensim's order."""
        text = dice.Random(length).choices(range(V), k=length)
        found = list(gensim_windows(text, window))
        pairs = [(word, word2) for word, around in found for _, word2 in around]
        assert word_vectors.skip_gram_pairs(text, window) == pairs
        examples = [([word2 for _, word2 in around], word) for word, around in found]
        assert word_vectors.cbow_examples(text, window) == examples

    def test_cooccurrence(self, length: int, window: int) -> None:
        """`cooccurrence` sums one over the distance for each pair of gensim's windows."""
        text = dice.Random(length).choices(range(V), k=length)
        expected = torch.zeros(V, V, dtype=torch.float64)
        for pos, (word, around) in enumerate(gensim_windows(text, window)):
            for pos2, word2 in around:
                expected[word, word2] += 1 / abs(pos - pos2)
        torch.testing.assert_close(word_vectors.cooccurrence(text, V, window), expected)

"""The reference of text_features agrees with scikit-learn and with PyTorch: counts, weights, cosines, averages."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from torch import Tensor, nn

from reference import text_features
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed, random

TEXTS = [
    "The film was great. GREAT, isn't it?",
    "A film about the dog; a great dog, a film",
    "Dull, dull - the 2nd end",
    "été, ÉTÉ: a film of the film",
]
SAME_WORDS = r"[^\W_]+(?:'[^\W_]+)*"


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(23)


def counted() -> tuple[CountVectorizer, Tensor]:
    """Return scikit-learn's counter with the words of `tokens`, and its counts."""
    counter = CountVectorizer(token_pattern=SAME_WORDS)
    return counter, torch.tensor(counter.fit_transform(TEXTS).toarray()).double()


def bags(columns: list[str], binary: bool = False) -> Tensor:
    """Return the reference's bags of the texts, with the columns in this order."""
    known = text_features.vocabulary(TEXTS, 99)
    ids = torch.tensor([text_features.encode(text, known, 20) for text in TEXTS])
    bag = text_features.bag_of_words(ids, len(known), binary)
    return bag[:, [known[word] - 4 for word in columns]]


class TestScikitLearn:
    """The same numbers where the definitions agree; the handout names the differences."""

    def test_tokens(self) -> None:
        """`tokens` is scikit-learn's analyser with the pattern of the handout."""
        analyse = CountVectorizer(token_pattern=SAME_WORDS).build_analyzer()
        for text in (*TEXTS, "", "rock'n'roll_'tis the dogs' 3.5"):
            assert text_features.tokens(text) == analyse(text)

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_ngrams(self, n: int) -> None:
        """`ngrams` and `char_ngrams` are those of its analysers."""
        words = CountVectorizer(token_pattern=SAME_WORDS, ngram_range=(n, n)).build_analyzer()
        letters = CountVectorizer(analyzer="char", ngram_range=(n, n)).build_analyzer()
        for text in TEXTS:
            assert text_features.ngrams(text_features.tokens(text), n) == words(text)
        assert text_features.char_ngrams("awesome", n) == letters("awesome")

    @pytest.mark.parametrize("binary", [False, True])
    def test_bag_of_words(self, binary: bool) -> None:
        """`bag_of_words` of encoded texts is its counts."""
        counter = CountVectorizer(token_pattern=SAME_WORDS, binary=binary)
        theirs = torch.tensor(counter.fit_transform(TEXTS).toarray())
        assert torch.equal(bags(list(counter.get_feature_names_out()), binary), theirs.float())

    def test_most_frequent_words(self) -> None:
        """`vocabulary` chooses the words of `max_features`, where no two words are equally frequent."""
        documents = ["a b b c c c d d d d", "e e e e e"]
        for size in (1, 3, 5):
            theirs = CountVectorizer(token_pattern=SAME_WORDS, max_features=size).fit(documents)
            assert set(text_features.vocabulary(documents, size)) == set(theirs.get_feature_names_out())

    def test_tf_idf(self) -> None:
        """Without smoothing and norm, scikit-learn's values are higher by the counts: it adds 1 to the weight."""
        _, counts = counted()
        theirs = TfidfTransformer(smooth_idf=False, norm=None).fit(counts.numpy())
        tf_idf = text_features.TfIdf()
        weights = tf_idf.fit(counts)
        others = counts.flip(0) * 3
        torch.testing.assert_close(weights, torch.tensor(theirs.idf_) - 1)
        expected = torch.tensor(theirs.transform(others.numpy()).toarray()) - others
        torch.testing.assert_close(tf_idf.transform(others), expected)

    def test_normalised(self) -> None:
        """`normalise_rows` makes of the same values what its norm "l2" makes of them."""
        plain, normed = (TfidfVectorizer(token_pattern=SAME_WORDS, norm=norm) for norm in (None, "l2"))
        X, theirs = (torch.tensor(one.fit_transform(TEXTS).toarray()) for one in (plain, normed))
        torch.testing.assert_close(text_features.normalise_rows(X), theirs)


@both_precisions
class TestSimilarity:
    """Rows of length 1, cosines and distances, and the functions of PyTorch that are forbidden or slow."""

    def test_normalise_rows(self, dtype: torch.dtype) -> None:
        X = random(2, 3, 5, dtype=dtype)
        assert_agree(observed(lambda: text_features.normalise_rows(X), X), observed(lambda: F.normalize(X, dim=-1), X))

    def test_cosine(self, dtype: torch.dtype) -> None:
        """`cosine` is F.cosine_similarity of every pair of rows."""
        X, Y = random(2, 3, 5, dtype=dtype), random(2, 4, 5, dtype=dtype)
        theirs = observed(lambda: F.cosine_similarity(X.unsqueeze(-2), Y.unsqueeze(-3), dim=-1), X, Y)
        assert_agree(observed(lambda: text_features.cosine(X, Y), X, Y), theirs)

    def test_squared_distances(self, dtype: torch.dtype) -> None:
        """`squared_distances` is torch.cdist of normalised rows, squared."""
        X, Y = random(2, 3, 5, dtype=dtype), random(2, 4, 5, dtype=dtype)
        theirs = observed(lambda: torch.cdist(F.normalize(X, dim=-1), F.normalize(Y, dim=-1)) ** 2, X, Y)
        assert_agree(observed(lambda: text_features.squared_distances(X, Y), X, Y), theirs)

    def test_zeros(self, dtype: torch.dtype) -> None:
        """A row of zeros has the cosine 0, as with F.cosine_similarity."""
        X, Y = torch.zeros(2, 3, dtype=dtype), torch.randn(4, 3, dtype=dtype)
        theirs = F.cosine_similarity(X.unsqueeze(-2), Y.unsqueeze(-3), dim=-1)
        assert torch.equal(text_features.cosine(X, Y), theirs)


@both_precisions
class TestAveragingNetwork:
    """The averaging network, put together from modules of PyTorch."""

    IDS = torch.tensor([[1, 4, 2, 9, 0, 0], [1, 7, 7, 5, 4, 6], [0, 3, 0, 8, 0, 0]])

    def test_embedding_bag(self, dtype: torch.dtype) -> None:
        """The mean is that of nn.EmbeddingBag with padding_idx, values and gradients of every parameter."""
        own = text_features.AveragingNetwork(6, 3, 4, 2).to(dtype)
        bag = nn.EmbeddingBag(10, 3, mode="mean", padding_idx=0).to(dtype)
        bag.load_state_dict(own.embedding.state_dict())
        theirs = nn.Sequential(bag, own.hidden, nn.ReLU(), own.output)
        mine = observed(lambda: own(self.IDS), *own.parameters())
        assert_agree(mine, observed(lambda: theirs(self.IDS), *theirs.parameters()))

    def test_lookup_is_a_product(self, dtype: torch.dtype) -> None:
        """nn.Embedding is the product of one-hot vectors and the table, as one of the lectures writes it."""
        embedding = nn.Embedding(10, 3).to(dtype)
        product = F.one_hot(self.IDS, 10).to(dtype) @ embedding.weight
        assert torch.equal(embedding(self.IDS), product)

    def test_padding_index(self, dtype: torch.dtype) -> None:
        """The word vectors get the gradients of an nn.Embedding with padding_idx, none of them in the row of PAD."""
        own = text_features.AveragingNetwork(6, 3, 4, 2).to(dtype)
        embedding = nn.Embedding(10, 3, padding_idx=0).to(dtype)
        with torch.no_grad():
            embedding.weight[1:] = own.embedding.weight[1:]

        def theirs() -> Tensor:
            z0 = embedding(self.IDS).sum(dim=1) / (self.IDS != 0).sum(dim=1, keepdim=True)
            return own.output(torch.relu(own.hidden(z0)))

        mine = observed(lambda: own(self.IDS), own.embedding.weight)
        assert_agree(mine, observed(theirs, embedding.weight))
        assert not mine[1][0].any()

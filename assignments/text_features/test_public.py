"""Public tests: text features. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number

from softmark import agree, draw, draw_integers, keeps_dtype, leaves_inputs, works_on_meta

COUNTS = torch.tensor([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
NETWORK = {"size": 5, "d": 3, "h": 4, "n_out": 2}
TEXTS = torch.tensor([[1, 4, 2, 8, 0], [1, 7, 0, 0, 0]])


def require_gradients(gradients):
    for name, gradient in gradients.items():
        assert gradient is not None, f"no gradient reaches {name}"


# Part 1: tokens, ngrams, char_ngrams ------------------------------------------------------------------------


@number("1.1")
def test_tokens(student, example):
    """Words are letters and digits, in lower case, with the apostrophes inside."""
    example(student.tokens, "tokens")


@number("1.2")
def test_few_tokens(student):
    """A text without a word gives an empty list; letters of any language make words."""
    agree(student.tokens(" ... -\n"), [])
    agree(student.tokens("Été: 你好!"), ["été", "你好"])
    agree(student.tokens("o''clock 'x'"), ["o", "clock", "x"])


@number("1.3")
def test_ngrams(student, example):
    """Every n adjacent words, and none if there are fewer."""
    example(student.ngrams, "ngrams")
    agree(student.ngrams(["one", "two"], n=2), ["one two"])
    agree(student.ngrams(["one", "two"], n=3), [])


@number("1.4")
def test_char_ngrams(student, example):
    """Every n adjacent letters, and none if there are fewer."""
    example(student.char_ngrams, "char_ngrams")
    agree(student.char_ngrams("so", n=2), ["so"])
    agree(student.char_ngrams("so", n=3), [])


# Part 2: vocabulary -----------------------------------------------------------------------------------------


@number("2.1")
def test_vocabulary(student, example):
    """The most frequent words first, of equal ones the one that appears first, and ids from 4."""
    example(student.vocabulary, "vocabulary")


@number("2.2")
def test_size(student, example):
    """Only the most frequent words get an id."""
    example(student.vocabulary, "vocabulary, the most frequent")
    agree(student.vocabulary([], size=3), {})


# Part 3: encode, decode -------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["encode", "encode, cut"])
def test_encode(student, example, name):
    """START, the ids of the words, and PAD up to the length."""
    example(student.encode, name)


@number("3.2")
def test_encode_little(student):
    """An empty text, and a length of 1."""
    known = {"film": 4}
    agree(student.encode("", known, length=3), [1, 0, 0])
    agree(student.encode("film", known, length=1), [1])
    agree(student.encode("A film", known, 3), [1, 2, 4])


@number("3.3")
@pytest.mark.parametrize("name", ["decode", "decode, other ids"])
def test_decode(student, example, name):
    """The words, and the names of the reserved ids."""
    example(student.decode, name)


# Part 4: bag_of_words ---------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["bag_of_words", "bag_of_words, binary"])
def test_bag_of_words(student, example, name):
    """Counts, or whether a word occurs; no reserved id is counted."""
    example(student.bag_of_words, name)


@number("4.2")
def test_bag_of_one_text(student):
    """A text without batch dimensions, and texts with two of them, are counted like the texts of one batch."""
    ids = draw_integers(0, 7, "a b T", a=2, b=3, T=5)
    bags = student.bag_of_words(ids, 3)
    agree(student.bag_of_words(ids[1], 3), bags[1])
    agree(student.bag_of_words(ids[1, 2], 3), bags[1, 2])


@number("4.3")
def test_bag_manners(student):
    """The ids stay as they were, and any device will do."""
    leaves_inputs(student.bag_of_words, TEXTS, 5)
    works_on_meta(student.bag_of_words, TEXTS, 5)


# Part 5: TfIdf, normalise_rows ------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["TfIdf", "TfIdf, other texts"])
def test_tf_idf(student, example, name):
    """Counts times ln(N / df), where N and df are those of the texts that were fitted."""

    def weighed_by_student(fitted, counts):
        tf_idf = student.TfIdf()
        tf_idf.fit(fitted)
        return tf_idf.transform(counts)

    example(weighed_by_student, name)


@number("5.2")
def test_weights(student):
    """`fit` returns the weights; a word of all texts and one of no text weigh 0, and a second fit forgets the first."""
    tf_idf = student.TfIdf()
    first = tf_idf.fit(COUNTS)
    agree(first[[0, 2]], torch.zeros(2))
    tf_idf.fit(1 - COUNTS.clamp(max=1))
    agree(tf_idf.fit(COUNTS), first)
    agree(tf_idf.transform(COUNTS), COUNTS * first)


@number("5.3")
def test_weigh_batches(student):
    """Texts with none and two batch dimensions are weighed like the texts of one batch."""
    tf_idf, others = student.TfIdf(), draw("a b V", a=2, b=3, V=3).float().abs()
    tf_idf.fit(COUNTS)
    agree(tf_idf.transform(others)[1, 2], tf_idf.transform(others[1, 2]))


@number("5.4")
def test_tf_idf_manners(student):
    """The dtype and the device stay, and counts stay as they were."""
    tf_idf = student.TfIdf()
    keeps_dtype(tf_idf.fit, COUNTS)
    leaves_inputs(tf_idf.fit, COUNTS)
    works_on_meta(tf_idf.fit, COUNTS)
    tf_idf.fit(COUNTS)
    leaves_inputs(tf_idf.transform, COUNTS)
    agree(tf_idf.fit(COUNTS.double())[1], torch.tensor(3.0).double().log())


@number("5.5")
def test_normalise_rows(student, example):
    """Rows of length 1, however small their numbers are, and rows of zeros."""
    example(student.normalise_rows, "normalise_rows")


@number("5.6")
def test_normalise_manners(student):
    """Each row of any batch has length 1, the dtype and the device stay, and gradients flow."""
    X = draw("a b V", a=2, b=3, V=4)
    agree(student.normalise_rows(X), torch.stack([student.normalise_rows(rows) for rows in X]))
    agree(student.normalise_rows(X[0, 0]), student.normalise_rows(X)[0, 0])
    keeps_dtype(student.normalise_rows, X)
    leaves_inputs(student.normalise_rows, X)
    works_on_meta(student.normalise_rows, X)
    require_gradients({"X": student.normalise_rows.vjp((X,), {}, X).args[0]})


# Part 6: cosine, squared_distances --------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["cosine", "cosine, zeros"])
def test_cosine(student, example, name):
    """Every row of X with every row of Y, and rows of zeros."""
    example(student.cosine, name)


@number("6.2")
@pytest.mark.parametrize("name", ["squared_distances", "squared_distances, zeros"])
def test_squared_distances(student, example, name):
    """Every row of X with every row of Y, and rows of zeros."""
    example(student.squared_distances, name)


@number("6.3")
@pytest.mark.parametrize("function", ["cosine", "squared_distances"])
def test_similarity_manners(student, function):
    """Two batch dimensions are two loops, the dtype and the device stay, and gradients reach X and Y."""
    own = getattr(student, function)
    X, Y, cotangent = draw("a b m d", "a b n d", "a b m n", a=2, b=3, m=4, n=2, d=3)
    agree(own(X, Y)[1, 2], own(X[1, 2], Y[1, 2]))
    keeps_dtype(own, X, Y)
    leaves_inputs(own, X, Y)
    works_on_meta(own, X, Y)
    found = own.vjp((X, Y), {}, cotangent).args
    require_gradients({"X": found[0], "Y": found[1]})


# Part 7: AveragingNetwork -----------------------------------------------------------------------------------


@number("7.1")
def test_averaging_network(student, example):
    """The mean over what is not PAD, and the MLP."""
    example(student.AveragingNetwork, "AveragingNetwork")


@number("7.2")
def test_parameters(student):
    """The parameters by name and shape."""
    shapes = {
        "embedding.weight": (9, 3),
        "hidden.weight": (4, 3),
        "hidden.bias": (4,),
        "output.weight": (2, 4),
        "output.bias": (2,),
    }
    own = student.AveragingNetwork(**NETWORK)
    agree({name: tuple(value.shape) for name, value in own.parameters().items()}, shapes)
    own.has_entries({name: torch.zeros(shape) for name, shape in shapes.items()})


@number("7.3")
def test_network_padding(student):
    """More padding changes nothing, wherever it stands, and neither does a batch around a text."""
    own = student.AveragingNetwork(**NETWORK)
    answer = own(TEXTS)
    agree(own(torch.cat([0 * TEXTS, TEXTS, 0 * TEXTS], dim=-1)), answer)
    agree(own(TEXTS[1]), answer[1])
    agree(own(TEXTS.reshape(2, 1, 5)), answer.reshape(2, 1, 2))
    works_on_meta(own, TEXTS)


@number("7.4")
@pytest.mark.parametrize("frozen", [False, True])
def test_network_gradients(student, frozen):
    """Gradients reach every parameter, but not the row of PAD; with frozen=True, none of the word vectors."""
    own = student.AveragingNetwork(**NETWORK, frozen=frozen)
    found = own.vjp((TEXTS,), {}, torch.ones(2, 2)).parameters
    vectors = found.pop("embedding.weight")
    require_gradients(found)
    if frozen:
        assert vectors is None or not vectors.any(), "a gradient reaches embedding.weight, although it is frozen"
    else:
        require_gradients({"embedding.weight": vectors})
        assert not vectors[0].any(), "a gradient reaches the row of PAD"
        assert vectors[4].any(), "no gradient reaches the row of a word"

"""Public tests: word vectors. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number

from softmark import agree, draw, draw_integers, keeps_dtype, leaves_inputs, repeatable, works_on_meta


def require_gradients(function, *args):
    """Check that a gradient arrives at every real argument, and that it is finite."""
    value = function(*args)
    gradients = function.vjp(args, {}, draw("shape", shape=tuple(value.shape))).args
    for position, (argument, gradient) in enumerate(zip(args, gradients, strict=True), start=1):
        if isinstance(argument, torch.Tensor) and argument.is_floating_point():
            assert gradient is not None, f"no gradient reaches argument {position}"
            assert gradient.isfinite().all(), f"the gradient of argument {position} is not finite"


def require_manners(function, *args):
    """Check dtypes, inputs, a second call and the device."""
    for check in (keeps_dtype, leaves_inputs, repeatable, works_on_meta):
        check(function, *args)


def draw_ids(*shape):
    """Draw ids of seven words."""
    return draw_integers(0, 7, "shape", shape=shape)


# Part 1: skip_gram_pairs and cbow_examples ------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["skip_gram_pairs", "skip_gram_pairs, a repeated word", "skip_gram_pairs, one word"])
def test_skip_gram_pairs(student, example, name):
    """Each word with each of its neighbours."""
    example(student.skip_gram_pairs, name)


@number("1.2")
@pytest.mark.parametrize("name", ["cbow_examples", "cbow_examples, a repeated word", "cbow_examples, one word"])
def test_cbow_examples(student, example, name):
    """All neighbours of each word, with the word."""
    example(student.cbow_examples, name)


@number("1.3")
def test_windows_manners(student):
    """The text stays as it was, a second call gives the same, and a text may be empty."""
    for function in student.skip_gram_pairs, student.cbow_examples:
        leaves_inputs(function, [2, 6, 1, 4], 2)
        repeatable(function, [2, 6, 1, 4], 2)
        agree(function([], 2), [])


# Part 2: cbow_loss and skip_gram_loss -----------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize(
    "name", ["cbow_loss", "cbow_loss, padding", "cbow_loss, an empty context", "cbow_loss, far out"]
)
def test_cbow_loss(student, example, name):
    """The loss of words that are predicted from the mean of their contexts."""
    example(student.cbow_loss, name)


@number("2.2")
@pytest.mark.parametrize("name", ["skip_gram_loss", "skip_gram_loss, far out"])
def test_skip_gram_loss(student, example, name):
    """The loss of neighbours that are predicted from a word."""
    example(student.skip_gram_loss, name)


@number("2.3")
def test_word2vec_manners(student):
    """The dtype and the device stay, inputs stay as they were, and gradients arrive."""
    E, U = draw("7 3", "7 3")
    mask = torch.tensor([[True, True, False], [False, False, False]])
    calls = {"cbow_loss": (E, U, draw_ids(2, 3), mask, draw_ids(2)), "skip_gram_loss": (E, U, draw_ids(4), draw_ids(4))}
    for name, args in calls.items():
        require_manners(getattr(student, name), *args)
        require_gradients(getattr(student, name), *args)


# Part 3: negative_sampling_loss -----------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize(
    "name",
    [
        "negative_sampling_loss",
        "negative_sampling_loss, a word drawn twice",
        "negative_sampling_loss, a far neighbour",
        "negative_sampling_loss, far out",
    ],
)
def test_negative_sampling_loss(student, example, name):
    """The loss of pairs among words that were drawn at random."""
    example(student.negative_sampling_loss, name)


@number("3.2")
def test_negative_sampling_manners(student):
    """The dtype and the device stay, inputs stay as they were, and gradients arrive."""
    args = *draw("7 3", "7 3"), draw_ids(4), draw_ids(4), draw_ids(4, 2)
    require_manners(student.negative_sampling_loss, *args)
    require_gradients(student.negative_sampling_loss, *args)


# Part 4: cooccurrence ---------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["cooccurrence", "cooccurrence, repeated words", "cooccurrence, one word"])
def test_cooccurrence(student, example, name):
    """Neighbours on both sides, with one over their distance."""
    example(student.cooccurrence, name)


@number("4.2")
def test_cooccurrence_manners(student):
    """The text stays as it was, and a second call gives the same."""
    leaves_inputs(student.cooccurrence, [2, 0, 1, 0], 3, 2)
    repeatable(student.cooccurrence, [2, 0, 1, 0], 3, 2)


# Part 5: glove_loss -----------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["glove_loss", "glove_loss, counts of zero", "glove_loss, all weights 1"])
def test_glove_loss(student, example, name):
    """The weighted sum of squares over all pairs that occur."""
    example(student.glove_loss, name)


@number("5.2")
def test_glove_manners(student):
    """The dtype and the device stay, inputs stay as they were, and gradients are finite, also where a count is 0."""
    X, *weights = draw("4 4", "4 3", "4 3", "4", "4")
    args = X.clamp(min=0), *weights, 1.0, 0.75
    require_manners(student.glove_loss, *args)
    require_gradients(student.glove_loss, *args)


# Part 6: subwords and fasttext ------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["subwords", "subwords, a repeated piece", "subwords, a short word"])
def test_subwords(student, example, name):
    """All pieces of a word between its marks."""
    example(student.subwords, name)


@number("6.2")
@pytest.mark.parametrize(
    "name", ["fasttext", "fasttext, a repeated piece", "fasttext, an accent", "fasttext, no piece"]
)
def test_fasttext(student, example, name):
    """The sum of the vectors of all pieces."""
    example(student.fasttext, name)


@number("6.3")
def test_fasttext_manners(student):
    """The dtype and the device stay, also of a word without pieces; inputs stay as they were, and a gradient arrives."""
    table = draw("5 3")
    for shortest, longest in (2, 3), (9, 9):
        require_manners(student.fasttext, "vector", table, shortest, longest)
    require_gradients(student.fasttext, "vector", table, 2, 3)


# Part 7: analogy --------------------------------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("name", ["analogy", "analogy, equal words", "analogy, ties and zeros"])
def test_analogy(student, example, name):
    """The words that are to c what b is to a."""
    example(student.analogy, name)


@number("7.2")
def test_analogy_manners(student):
    """The vectors stay as they were, and a second call gives the same."""
    E = draw("7 3")
    leaves_inputs(student.analogy, E, 0, 1, 2, 3)
    repeatable(student.analogy, E, 0, 1, 2, 3)

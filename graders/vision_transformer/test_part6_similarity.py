"""Hidden tests of part 6: similarity."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.pictures import digit, stripes
from reference import vision_transformer as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, raises, well_behaved

SIZES = [(3, 4), (5, 2), (1, 3), (3, 1), (1, 1), (4, 4), (33, 2), (2, 33), (100, 1)]
"""T and d."""


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("t", "d"), SIZES)
def test_similarity(student, t, d):
    """Each token with each token: T × T numbers, however many features a token has."""
    agree(student.similarity, ref.similarity, draw("t d", t=t, d=d))


@number("6.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(4,), (2, 3), (1,), (3, 3), (5, 1)], ids=str)
def test_similarity_in_a_batch(student, batch):
    """Tokens of one example with tokens of the same example, with one and two batch dimensions."""
    for t, d in (3, 5), (4, 4), (1, 2):
        agree(student.similarity, ref.similarity, draw("batch t d", batch=batch, t=t, d=d))


@number("6.3")
@weight(0.25)
@visibility("after_published")
def test_similarity_of_patches(student):
    """The patches of stripes and of a digit."""
    for picture, p in (stripes(6, 8, 4), 2), (digit(0), 2), (stripes(6, 9, 6, 2), 3):
        agree(student.similarity, ref.similarity, ref.patches(picture[None], p))


@number("6.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("d", [3, 1, 7])
def test_a_vector_is_refused(student, d):
    """A vector raises ValueError; a matrix of the same numbers does not."""
    x = draw("d", d=d)
    student.similarity(x[None])
    student.similarity(x[:, None])
    raises(ValueError, student.similarity, x)


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_similarity_conduct(student):
    """Gradients pass, float32 stays, inputs stay as they were, any device will do, and so will any calls before."""
    X = draw("2 3 4")
    agree(student.similarity, ref.similarity, X)
    for batch, t, d in ((), 3, 4), ((2,), 1, 2), ((2, 3), 4, 1), ((1,), 1, 1):
        gradients_agree(student.similarity, ref.similarity, draw("batch t d", batch=batch, t=t, d=d))
    agree_at_extremes(student.similarity, ref.similarity, X)
    well_behaved(student.similarity, ref.similarity, X)
    calls = [X], [draw("3 1 5 6")], [draw("1 1")], [torch.zeros_like(X)], [draw("2 3 4")]
    agree_in_turn(student.similarity, ref.similarity, *calls)

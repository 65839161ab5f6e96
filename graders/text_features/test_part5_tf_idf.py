"""Hidden tests of part 5: TF-IDF."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import BATCHES, BOTH_DTYPES, NAMES_OF_BATCHES, NAMES_OF_DTYPES, draw_counts
from graders.text_features.weighing import own_weighed, weighed
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw, keeps_dtype, leaves_inputs, works_on_meta

SIZES = [(5, 7), (7, 5), (4, 4), (1, 3), (6, 1), (2, 2), (60, 3)]
"""N and V."""


@number("5.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
@pytest.mark.parametrize(("N", "V"), SIZES)
def test_fit(student, N, V, dtype):
    """The weights ln(N / df): df counts texts, and a word that no text has weighs 0."""
    counts = draw_counts(N, V, dtype)
    for given in counts, 0 * counts:
        agree(student.TfIdf().fit, ref.TfIdf().fit, given)


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("N", "V"), SIZES)
def test_transform_the_same(student, N, V):
    """The texts that the weights were found from: every count times the weight of its word."""
    counts = draw_counts(N, V)
    agree(own_weighed(student), weighed, counts, counts)


@number("5.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_transform_others(student, batch):
    """Other texts, with batch dimensions in front: N and df are those of the texts that were fitted."""
    for N, V in (5, 7), (4, 4), (1, 3), (6, 1):
        others = draw("batch V", batch=batch, V=V).abs()
        agree(own_weighed(student), weighed, draw_counts(N, V), others)
        agree(own_weighed(student), weighed, draw_counts(N, V).float(), 100 * others.float())


@number("5.4")
@weight(0.75)
@visibility("after_published")
def test_several(student):
    """A second fit forgets the first, each object has its own weights, and nothing that is given is changed."""
    counts, more, others = draw_counts(5, 4), draw_counts(8, 4), draw_counts(3, 4)
    own, ours = student.TfIdf(), ref.TfIdf()
    another, their_other = student.TfIdf(), ref.TfIdf()
    for fitted in counts, more, 100 * others, counts, counts.float(), counts:
        agree(own.fit, ours.fit, fitted)
        agree(another.fit, their_other.fit, others.to(fitted.dtype))
        agree(own.transform, ours.transform, others.to(fitted.dtype))
    for given in others, draw("4").abs(), draw("1 1 4").abs(), 100 * others, others.roll(1), others:
        agree(own.transform, ours.transform, given)
    for fitted in draw_counts(4, 9), draw_counts(6, 2), others:
        agree(own.fit, ours.fit, fitted)
        agree(own.transform, ours.transform, fitted)
    agree(own.transform, ours.transform, counts)
    agree_in_turn(own.fit, ours.fit, [counts], [draw_counts(9, 6)], [draw_counts(2, 3)])
    agree(student.TfIdf().fit, ref.TfIdf().fit, draw_counts(7, 8))
    for own, given in (student.TfIdf().fit, [counts]), (own_weighed(student), [counts, others]):
        keeps_dtype(own, *given)
    own = student.TfIdf()
    for method in own.fit, own.transform:
        leaves_inputs(method, counts)
    works_on_meta(own.fit, counts)

"""Hidden tests of part 3: negative sampling."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import BOTH_DTYPES, NAMES_OF_DTYPES, vectors
from reference import word_vectors as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw_integers, gradients_agree, well_behaved

SIZES = {
    "several": [(4, 3, 7, 5), (2, 6, 5, 3), (4, 4, 4, 4), (40, 3, 9, 2), (2, 33, 50, 2)],
    "one": [(1, 4, 5, 2), (3, 4, 6, 2), (5, 1, 4, 3), (3, 2, 5, 1), (3, 2, 1, 4), (1, 1, 1, 1)],
}
"""N, K, V and d of the calls of a case. The first call shows most mistakes: how clearly is measured there."""


def draw_problem(N, K, V, d, dtype=torch.float64):
    """Draw E, U, centres, positives and negatives."""
    ids = draw_integers(0, V, "N", N=N), draw_integers(0, V, "N", N=N), draw_integers(0, V, "N K", N=N, K=K)
    return *vectors(V, d, dtype), *ids


@number("3.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_negative_sampling(student, sizes):
    """The loss of a batch, each pair with the words that were drawn for it."""
    for each in sizes:
        agree(student.negative_sampling_loss, ref.negative_sampling_loss, *draw_problem(*each))


@number("3.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("K", [1, 2, 5])
def test_repeated_negatives(student, K):
    """A word that was drawn several times counts each time, the neighbour and the centre as well."""
    E, U, centres, positives, _ = draw_problem(4, K, 7, 3)
    for column in (positives + 1) % 7, positives, centres:
        negatives = column[:, None].repeat(1, K)
        agree(student.negative_sampling_loss, ref.negative_sampling_loss, E, U, centres, positives, negatives)


@number("3.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
def test_negative_sampling_far_out(student, dtype):
    """Products of ±1000 give a finite loss and its gradients."""
    E, U, *ids = draw_problem(6, 3, 7, 4, dtype)
    agree(student.negative_sampling_loss, ref.negative_sampling_loss, E, U, *ids)
    for scale in 10, 40, 300, -300:
        agree(student.negative_sampling_loss, ref.negative_sampling_loss, scale * E, U, *ids)
        gradients_agree(student.negative_sampling_loss, ref.negative_sampling_loss, E, scale * U, *ids)


@number("3.4")
@weight(0.5)
@visibility("after_published")
def test_negative_sampling_gradients(student):
    """Gradients reach both matrices; a row that is used several times gets their sum."""
    for sizes in (4, 3, 7, 5), (1, 4, 3, 2), (5, 1, 3, 2), (4, 2, 3, 1), (3, 2, 1, 2):
        problem = draw_problem(*sizes)
        agree(student.negative_sampling_loss, ref.negative_sampling_loss, *problem)
        gradients_agree(student.negative_sampling_loss, ref.negative_sampling_loss, *problem)
    problem = draw_problem(4, 3, 7, 5)
    agree_at_extremes(student.negative_sampling_loss, ref.negative_sampling_loss, *problem, large=(0,))


@number("3.5")
@weight(0.5)
@visibility("after_published")
def test_negative_sampling_behaviour(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before."""
    first, larger, smaller = draw_problem(4, 3, 7, 5), draw_problem(6, 5, 9, 8), draw_problem(2, 2, 3, 2)
    well_behaved(student.negative_sampling_loss, ref.negative_sampling_loss, *first)
    agree_in_turn(student.negative_sampling_loss, ref.negative_sampling_loss, first, larger, smaller)
    for sizes in (1, 2, 4, 3), (5, 1, 4, 2), (4, 2, 3, 1), (3, 2, 1, 2):
        agree(student.negative_sampling_loss, ref.negative_sampling_loss, *draw_problem(*sizes, torch.float32))

"""Hidden tests of part 2: the loss of skip-gram."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import BOTH_DTYPES, NAMES_OF_DTYPES, vectors
from reference import word_vectors as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw_integers, gradients_agree, well_behaved

SIZES = {
    "several": [(4, 7, 5), (3, 5, 6), (4, 4, 4), (40, 9, 2), (3, 70, 2)],
    "one": [(1, 4, 2), (3, 6, 2), (5, 4, 1), (3, 1, 4), (1, 1, 1)],
}
"""N, V and d of the calls of a case. The first call shows most mistakes: how clearly is measured there."""


def draw_problem(N, V, d, dtype=torch.float64):
    """Draw E, U, centres and targets."""
    return *vectors(V, d, dtype), draw_integers(0, V, "N", N=N), draw_integers(0, V, "N", N=N)


@number("2.6")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_skip_gram(student, sizes):
    """The loss of a batch of pairs."""
    for each in sizes:
        E, U, centres, targets = draw_problem(*each)
        agree(student.skip_gram_loss, ref.skip_gram_loss, E, U, centres, targets)
        agree(student.skip_gram_loss, ref.skip_gram_loss, E, U, centres, centres)


@number("2.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
def test_skip_gram_far_out(student, dtype):
    """Products of ±1000 give a finite loss and its gradients."""
    E, U, *ids = draw_problem(6, 7, 4, dtype)
    agree(student.skip_gram_loss, ref.skip_gram_loss, E, U, *ids)
    for scale in 20, 300, -300:
        agree(student.skip_gram_loss, ref.skip_gram_loss, scale * E, U, *ids)
        gradients_agree(student.skip_gram_loss, ref.skip_gram_loss, E, scale * U, *ids)


@number("2.8")
@weight(0.25)
@visibility("after_published")
def test_skip_gram_gradients(student):
    """Gradients reach both matrices; a row that is used several times gets their sum."""
    for sizes in (4, 7, 5), (1, 3, 2), (4, 3, 1), (3, 1, 2), (6, 2, 3):
        problem = draw_problem(*sizes)
        agree(student.skip_gram_loss, ref.skip_gram_loss, *problem)
        gradients_agree(student.skip_gram_loss, ref.skip_gram_loss, *problem)
    agree_at_extremes(student.skip_gram_loss, ref.skip_gram_loss, *draw_problem(4, 7, 5), large=(0,))


@number("2.9")
@weight(0.25)
@visibility("after_published")
def test_skip_gram_behaviour(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before."""
    first, larger, smaller = draw_problem(4, 7, 5), draw_problem(6, 9, 8), draw_problem(2, 3, 2)
    well_behaved(student.skip_gram_loss, ref.skip_gram_loss, *first)
    agree_in_turn(student.skip_gram_loss, ref.skip_gram_loss, first, larger, smaller)
    for sizes in (1, 4, 3), (5, 3, 1), (4, 1, 2):
        agree(student.skip_gram_loss, ref.skip_gram_loss, *draw_problem(*sizes, torch.float32))

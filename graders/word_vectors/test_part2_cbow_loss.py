"""Hidden tests of part 2: the loss of CBOW."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import BOTH_DTYPES, NAMES_OF_DTYPES, vectors
from reference import word_vectors as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, draw_integers, gradients_agree, well_behaved

SIZES = {
    "several": [(4, 3, 7, 5), (2, 5, 6, 3), (4, 4, 4, 4), (40, 3, 9, 2), (2, 33, 3, 2), (3, 2, 70, 3)],
    "one": [(1, 4, 5, 2), (3, 4, 6, 2), (5, 1, 4, 3), (3, 2, 5, 1), (3, 2, 1, 4), (1, 1, 1, 1)],
}
"""N, C, V and d of the calls of a case. The first call shows most mistakes: how clearly is measured there."""


def draw_problem(N, C, V, d, dtype=torch.float64, empty=()):
    """Draw E, U, contexts, their mask and the targets. The contexts of the rows in `empty` have no word."""
    contexts, targets = draw_integers(0, V, "N C", N=N, C=C), draw_integers(0, V, "N", N=N)
    hidden = draw("N C", N=N, C=C)
    mask = (hidden < 0.3).scatter(1, hidden.argmin(dim=1, keepdim=True), True)
    mask[list(empty)] = False
    return *vectors(V, d, dtype), contexts, mask, targets


def without_padding(E, U, contexts, mask, targets):
    """Return the problem with every word of the contexts counted."""
    return E, U, contexts, torch.ones_like(mask), targets


@number("2.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_whole_contexts(student, sizes):
    """Contexts in which every word counts."""
    for each in sizes:
        agree(student.cbow_loss, ref.cbow_loss, *without_padding(*draw_problem(*each)))


@number("2.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_padded_contexts(student, sizes):
    """Contexts of different lengths: what does not count changes nothing."""
    for each in sizes:
        E, U, contexts, mask, targets = draw_problem(*each)
        agree(student.cbow_loss, ref.cbow_loss, E, U, contexts, mask, targets)
        contexts[~mask] = (contexts[~mask] + 1) % len(E)
        agree(student.cbow_loss, ref.cbow_loss, E, U, contexts, mask, targets)


@number("2.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("empty", [(0,), (2, 3), (0, 1, 2, 3)])
def test_empty_contexts(student, empty):
    """A context without words has the mean 0, and counts in the mean over the batch."""
    problem = draw_problem(4, 3, 7, 5, empty=empty)
    agree(student.cbow_loss, ref.cbow_loss, *problem)
    gradients_agree(student.cbow_loss, ref.cbow_loss, *problem)


@number("2.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
def test_cbow_far_out(student, dtype):
    """Products of ±1000 give a finite loss and its gradients."""
    E, U, *problem = draw_problem(5, 3, 7, 4, dtype)
    agree(student.cbow_loss, ref.cbow_loss, E, U, *problem)
    for scale in 20, 300, -300:
        agree(student.cbow_loss, ref.cbow_loss, scale * E, U, *problem)
        gradients_agree(student.cbow_loss, ref.cbow_loss, E, scale * U, *problem)


@number("2.5")
@weight(0.25)
@visibility("after_published")
def test_cbow_behaviour(student):
    """Gradients reach both matrices, float32 stays float32, inputs stay, any device will do, and so will any calls."""
    first, larger, smaller = draw_problem(4, 3, 7, 5), draw_problem(6, 5, 9, 8), draw_problem(2, 2, 3, 2)
    well_behaved(student.cbow_loss, ref.cbow_loss, *first)
    agree_in_turn(student.cbow_loss, ref.cbow_loss, first, larger, smaller, without_padding(*first))
    agree_at_extremes(student.cbow_loss, ref.cbow_loss, *first, large=(0,))
    for sizes in (4, 3, 7, 5), (1, 4, 3, 2), (3, 1, 4, 2), (4, 2, 3, 1), (3, 2, 1, 2):
        gradients_agree(student.cbow_loss, ref.cbow_loss, *draw_problem(*sizes))
        agree(student.cbow_loss, ref.cbow_loss, *draw_problem(*sizes, torch.float32))

"""Hidden tests of part 6: the cosine, and the distance of normalised rows."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import BATCHES, NAMES_OF_BATCHES, draw_rows
from reference import text_features as ref
from softmark import agree, agree_at_extremes, agree_in_turn, gradients_agree, well_behaved

SIZES = [(3, 5, 4), (5, 3, 2), (4, 4, 4), (1, 6, 3), (6, 1, 3), (2, 3, 1), (3, 3, 40)]
"""m, n and d."""


def draw_pair(m, n, d, batch=()):
    """Draw X and Y."""
    return draw_rows(batch, m, d), draw_rows(batch, n, d)


def with_zeros(X, Y):
    """Return X and Y with a row of zeros in each."""
    X, Y = X.clone(), Y.clone()
    X[..., 1, :], Y[..., 0, :] = 0, 0
    return X, Y


def check_manners(own, ours):
    """Check gradients, large numbers, dtype, device, inputs and repeated calls."""
    for batch in (), (2,), (2, 2):
        gradients_agree(own, ours, *draw_pair(3, 4, 5, batch))
    for sizes in (1, 3, 2), (3, 1, 2), (3, 3, 3), (2, 2, 1):
        gradients_agree(own, ours, *draw_pair(*sizes))
    X, Y = draw_pair(3, 4, 5)
    agree_at_extremes(own, ours, X, Y)
    well_behaved(own, ours, X, Y)
    calls = draw_pair(5, 6, 7, (2,)), draw_pair(2, 2, 3), (X, X), with_zeros(X, Y), (40 * X, Y), draw_pair(1, 1, 1)
    agree_in_turn(own, ours, (X, Y), *calls)


@number("6.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_cosine(student, batch):
    """The cosine of every row of X with every row of Y."""
    for m, n, d in SIZES if batch in [(), (2, 4)] else SIZES[:1]:
        agree(student.cosine, ref.cosine, *draw_pair(m, n, d, batch))


@number("6.2")
@weight(0.25)
@visibility("after_published")
def test_cosine_of_zeros(student):
    """0 for a row of zeros; long and short rows count alike."""
    X, Y = draw_pair(3, 4, 5)
    agree(student.cosine, ref.cosine, *with_zeros(X, Y))
    agree(student.cosine, ref.cosine, *with_zeros(1e-6 * X, Y))
    agree(student.cosine, ref.cosine, *with_zeros(X, 1e-6 * Y))


@number("6.3")
@weight(0.25)
@visibility("after_published")
def test_cosine_manners(student):
    """Gradients flow, the dtype stays, inputs stay as they were, any device will do, and so will any calls before."""
    check_manners(student.cosine, ref.cosine)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_squared_distances(student, batch):
    """The squared distance of every normalised row of X to every normalised row of Y."""
    for m, n, d in SIZES if batch in [(), (2, 4)] else SIZES[:1]:
        agree(student.squared_distances, ref.squared_distances, *draw_pair(m, n, d, batch))


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_squared_distances_of_zeros(student):
    """A row of zeros is at distance 1 of any other row, and at distance 0 of another row of zeros."""
    X, Y = draw_pair(3, 4, 5)
    agree(student.squared_distances, ref.squared_distances, *with_zeros(X, Y))
    agree(student.squared_distances, ref.squared_distances, *with_zeros(1e-6 * X, 1000 * Y))


@number("6.6")
@weight(0.25)
@visibility("after_published")
def test_squared_distances_manners(student):
    """Gradients flow, the dtype stays, inputs stay as they were, any device will do, and so will any calls before."""
    check_manners(student.squared_distances, ref.squared_distances)

"""Hidden tests of part 5: rows of length 1."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import BATCHES, BOTH_DTYPES, NAMES_OF_BATCHES, NAMES_OF_DTYPES, draw_rows
from reference import text_features as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved


@number("5.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_rows(student, batch):
    """Rows with batch dimensions in front, each divided by its own length."""
    for V in 5, 1, 40:
        agree(student.normalise_rows, ref.normalise_rows, draw_rows(batch, 4, V))
    agree(student.normalise_rows, ref.normalise_rows, draw("batch V", batch=batch, V=3))


@number("5.6")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
def test_long_and_short_rows(student, dtype):
    """A row of zeros stays, and a row of small or large numbers gets length 1."""
    X = draw_rows((), 6, 4, dtype)
    X[1], X[4] = 0, 0
    agree(student.normalise_rows, ref.normalise_rows, X)
    agree(student.normalise_rows, ref.normalise_rows, torch.stack([X, 0 * X]))
    scales = torch.tensor([1e-6, 1, 1e-4, 1e-2, 1, 1e6], dtype=dtype)[:, None]
    agree(student.normalise_rows, ref.normalise_rows, scales * X)
    agree(student.normalise_rows, ref.normalise_rows, 1e-6 * X)


@number("5.7")
@weight(0.25)
@visibility("after_published")
def test_normalise_manners(student):
    """Gradients flow, the dtype stays, inputs stay as they were, any device will do, and so will any calls before."""
    for batch in (), (3,), (2, 2):
        gradients_agree(student.normalise_rows, ref.normalise_rows, draw_rows(batch, 3, 4))
    gradients_agree(student.normalise_rows, ref.normalise_rows, draw_rows((), 1, 1))
    X = draw_rows((), 4, 5)
    agree_at_extremes(student.normalise_rows, ref.normalise_rows, X)
    well_behaved(student.normalise_rows, ref.normalise_rows, X)
    agree_in_turn(student.normalise_rows, ref.normalise_rows, [X], [draw("2 3 8")], [draw("1")], [0 * X], [40 * X])

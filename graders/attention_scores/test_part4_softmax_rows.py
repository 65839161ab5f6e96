"""Part 4, softmax_rows: the softmax of every row."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.attention_scores.inputs import BOTH_DTYPES, NONE_ONE_TWO, draw_large_scores, name_of
from reference import attention_scores as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    works_on_meta,
)


@number("4.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_softmax_rows(student, batch):
    """Weights from scores of ordinary size."""
    S = 2 * draw("batch m n", batch=batch, m=5, n=7)
    agree(student.softmax_rows, ref.softmax_rows, S)
    agree(student.softmax_rows, ref.softmax_rows, S[..., :1, :])
    agree(student.softmax_rows, ref.softmax_rows, S[..., :1])
    agree(student.softmax_rows, ref.softmax_rows, S[..., :5])


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=name_of)
def test_softmax_rows_large(student, dtype):
    """Weights from scores as large as ±1000."""
    agree(student.softmax_rows, ref.softmax_rows, draw_large_scores(dtype))


@number("4.3")
@weight(0.5)
@visibility("after_published")
def test_softmax_rows_gradients(student):
    """Gradients, at ordinary and at large scores."""
    for S in (draw("batch heads m n", batch=2, heads=3, m=5, n=7), draw_large_scores()):
        agree(student.softmax_rows, ref.softmax_rows, S)
        gradients_agree(student.softmax_rows, ref.softmax_rows, S)
        gradients_agree(student.softmax_rows, ref.softmax_rows, S[..., :1])
    S = draw("m n", m=17, n=18)
    gradients_agree(student.softmax_rows, ref.softmax_rows, S)
    agree_at_extremes(student.softmax_rows, ref.softmax_rows, S / S.abs().max())


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_softmax_rows_manners(student):
    """float32 stays float32, scores are unchanged, any device works, and earlier calls make no difference."""
    S = draw("batch heads m n", batch=2, heads=3, m=5, n=7, dtype=torch.float32)
    keeps_dtype(student.softmax_rows, S)
    agree(student.softmax_rows, ref.softmax_rows, S)
    leaves_inputs(student.softmax_rows, S)
    works_on_meta(student.softmax_rows, S)
    sizes = {"batch": 2, "m": 5, "n": 7}, {"batch": (1, 3), "m": 66, "n": 67}, {"batch": (), "m": 3, "n": 2}
    agree_in_turn(student.softmax_rows, ref.softmax_rows, *([draw("batch m n", **each)] for each in sizes))

"""Part 2, project: queries, keys and values."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.attention_scores.inputs import ONE_AND_TWO, name_of
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

RECTANGULAR = {"T": 5, "D": 6, "d_k": 3, "d_v": 4}
SQUARE = {"T": 5, "D": 4, "d_k": 4, "d_v": 4}


def draw_tokens_and_weights(sizes, batch=(), dtype=torch.float64):
    return draw("batch T D", "D d_k", "D d_k", "D d_v", batch=batch, dtype=dtype, **sizes)


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [RECTANGULAR, SQUARE], ids=["rectangular", "square"])
def test_project(student, sizes):
    """Queries, keys and values, in this order."""
    X, *W = draw_tokens_and_weights(sizes)
    agree(student.project, ref.project, X, *W)
    agree(student.project, ref.project, X[:1], *W)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_project_batch(student, batch):
    """Queries, keys and values with batch dimensions in front."""
    agree(student.project, ref.project, *draw_tokens_and_weights(RECTANGULAR, batch))


@number("2.3")
@weight(0.25)
@visibility("after_published")
def test_project_gradients(student):
    """Gradients reach the tokens and each of the three weights."""
    inputs = draw_tokens_and_weights(RECTANGULAR, (2,))
    agree(student.project, ref.project, *inputs)
    gradients_agree(student.project, ref.project, *inputs)
    gradients_agree(student.project, ref.project, *draw_tokens_and_weights({"T": 18, "D": 2, "d_k": 3, "d_v": 4}))
    agree_at_extremes(student.project, ref.project, *inputs)
    for batch, sizes in ((2, 3), SQUARE), ((1, 1), {"T": 1, "D": 3, "d_k": 1, "d_v": 2}):
        gradients_agree(student.project, ref.project, *draw_tokens_and_weights(sizes, batch))


@number("2.4")
@weight(0.25)
@visibility("after_published")
def test_project_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    inputs = draw_tokens_and_weights(RECTANGULAR, (2,), torch.float32)
    keeps_dtype(student.project, *inputs)
    agree(student.project, ref.project, *inputs)
    leaves_inputs(student.project, *inputs)
    works_on_meta(student.project, *inputs)
    larger, smaller = {"T": 67, "D": 7, "d_k": 9, "d_v": 1}, {"T": 3, "D": 1, "d_k": 1, "d_v": 2}
    cases = (RECTANGULAR, (2,)), (larger, (1, 3)), (smaller, ())
    calls = [draw_tokens_and_weights(*case) for case in cases]
    agree_in_turn(student.project, ref.project, *calls, [40 * value for value in calls[0]])

"""Part 1, attend: the parameter-free layer."""

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


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"T": 5, "d": 3}, {"T": 3, "d": 8}], ids=["narrow", "wide"])
def test_attend(student, sizes):
    """The context of one query, without batch."""
    h, X = draw("d", "T d", **sizes)
    h = h / 2  # no token outshines all the others: a choice of the best one differs from their weighted sum
    agree(student.attend, ref.attend, h, X)
    agree(student.attend, ref.attend, h, X[:1])


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_attend_batch(student, batch):
    """The context with batch dimensions in front."""
    h, X = draw("batch d", "batch T d", batch=batch, T=5, d=7)
    agree(student.attend, ref.attend, h, X)
    agree(student.attend, ref.attend, h, X[..., :1, :])
    agree(student.attend, ref.attend, h[:1], X[:1])


@number("1.3")
@weight(0.25)
@visibility("after_published")
def test_attend_gradients(student):
    """Gradients reach the query and the tokens."""
    h, X = draw("batch d", "batch T d", batch=2, T=5, d=3)
    agree(student.attend, ref.attend, h, X)
    gradients_agree(student.attend, ref.attend, h, X)
    gradients_agree(student.attend, ref.attend, h / 40, 40 * X)
    gradients_agree(student.attend, ref.attend, *draw("d", "T d", T=18, d=2))
    gradients_agree(student.attend, ref.attend, h, X[:, :1])
    gradients_agree(student.attend, ref.attend, *draw("1 1 d", "1 1 T d", T=4, d=1))
    agree_at_extremes(student.attend, ref.attend, h / 1000, X, large=(1,))  # scores of ordinary size: nothing overflows


@number("1.4")
@weight(0.25)
@visibility("after_published")
def test_attend_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    h, X = draw("batch d", "batch T d", batch=2, T=5, d=3, dtype=torch.float32)
    keeps_dtype(student.attend, h, X)
    agree(student.attend, ref.attend, h, X)
    leaves_inputs(student.attend, h, X)
    works_on_meta(student.attend, h, X)
    sizes = {"batch": 2, "T": 5, "d": 3}, {"batch": (1, 3), "T": 67, "d": 6}, {"batch": (), "T": 3, "d": 1}
    calls = [draw("batch d", "batch T d", **each) for each in sizes]
    h, X = calls[0]
    agree_in_turn(student.attend, ref.attend, *calls, (h / 40, 40 * X))  # scores of ordinary size: nothing overflows

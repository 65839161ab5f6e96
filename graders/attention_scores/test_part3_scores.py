"""Part 3, scores: S = Q Kᵀ / √d_k."""

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

SIZES = {
    "more_keys": {"m": 5, "n": 7, "d_k": 6},
    "more_queries": {"m": 6, "n": 2, "d_k": 10},
    "one_query": {"m": 1, "n": 5, "d_k": 3},
    "square": {"m": 5, "n": 5, "d_k": 5},
}


@number("3.1")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_scores(student, sizes):
    """The score matrix S = Q Kᵀ / √d_k."""
    Q, K = draw("m d_k", "n d_k", **sizes)
    agree(student.scores, ref.scores, Q, K)


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_scores_batch(student, batch):
    """A score matrix for every example of a batch."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=batch, m=5, n=7, d_k=6)
    agree(student.scores, ref.scores, Q, K)
    agree(student.scores, ref.scores, Q[..., :1, :], K)
    agree(student.scores, ref.scores, Q, K[..., :1, :])


@number("3.3")
@weight(0.75)
@visibility("after_published")
def test_scores_gradients(student):
    """Gradients reach queries and keys."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=2, m=5, n=7, d_k=6)
    agree(student.scores, ref.scores, Q, K)
    gradients_agree(student.scores, ref.scores, Q, K)
    gradients_agree(student.scores, ref.scores, *draw("m d_k", "n d_k", m=17, n=18, d_k=2))
    agree_at_extremes(student.scores, ref.scores, Q, K)
    one_query, one_key = Q[:, :1], K[:, :1]
    for queries, keys in ((Q, Q), (one_query, K), (Q, one_key), (one_key, one_key)):
        gradients_agree(student.scores, ref.scores, queries, keys)  # Q and K may be one and the same tensor


@number("3.4")
@weight(0.75)
@visibility("after_published")
def test_scores_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=2, m=5, n=7, d_k=6, dtype=torch.float32)
    keeps_dtype(student.scores, Q, K)
    agree(student.scores, ref.scores, Q, K)
    leaves_inputs(student.scores, Q, K)
    works_on_meta(student.scores, Q, K)
    larger, smaller = {"batch": (1, 3), "m": 66, "n": 67, "d_k": 10}, {"batch": (), "m": 3, "n": 2, "d_k": 1}
    sizes = {"batch": 2, "m": 5, "n": 7, "d_k": 6}, larger, smaller
    calls = [draw("batch m d_k", "batch n d_k", **each) for each in sizes]
    agree(student.scores, ref.scores, *[calls[0][0]] * 2)
    agree_in_turn(student.scores, ref.scores, *calls, [40 * value for value in calls[0]])

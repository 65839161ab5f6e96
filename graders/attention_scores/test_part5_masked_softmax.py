"""Part 5, masked_softmax: softmax under a mask."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.attention_scores.inputs import NONE_ONE_TWO, name_of, sparse_mask
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

MASKS = {
    "for_all": (5, 7),
    "for_keys": (1, 7),
    "for_examples": (3, 5, 7),
    "for_heads": (2, 1, 5, 7),
    "for_queries": (2, 1, 1, 7),
    "for_everything": (7,),
}


def agree_masked(student, S, mask):
    agree(student.masked_softmax, ref.masked_softmax, S, mask)


@number("5.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_masked_softmax(student, batch):
    """A mask for every example, and in every row at least one allowed key."""
    S, mask = 2 * draw("batch m n", batch=batch, m=5, n=7), sparse_mask(*batch, 5, 7)
    agree_masked(student, S, mask)
    agree_masked(student, S[..., 1:2, :], mask[..., 1:2, :])
    agree_masked(student, S[..., :1], mask[..., :1])
    for square in (sparse_mask(*batch, 5, 5), ref.causal_mask(5)):
        agree_masked(student, S[..., :5], square)


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", MASKS.values(), ids=MASKS)
def test_masked_softmax_broadcast(student, sizes):
    """A mask that is shared by examples, by heads, or by queries."""
    S = 2 * draw("batch m n", batch=(2, 3), m=5, n=7)
    agree_masked(student, S, sparse_mask(*sizes))
    all_alike = [3 if size > 1 else 1 for size in sizes]
    agree_masked(student, 2 * draw("3 3 3 3"), sparse_mask(*all_alike))


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_masked_softmax_blocked_row(student, batch):
    """A row whose keys are all blocked is exactly 0, the other rows are not."""
    S, without = 2 * draw("batch m n", batch=batch, m=5, n=7), sparse_mask(*batch, 5, 7)
    mask = without.clone()
    mask[..., 3, :] = False
    if batch:
        mask[0], mask[-1] = mask[0].roll(1, dims=-2), without[-1]
    agree_masked(student, S, mask)


@number("5.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("blocked_are", ["high", "low"])
@pytest.mark.parametrize("deep", [False, True], ids=["mild", "deep"])
def test_masked_softmax_spread(student, deep, blocked_are):
    """A blocked key has no weight, even if its score is high and the scores of the allowed keys are very low."""
    S, mask = draw("m n", m=7, n=7), sparse_mask(7, 7)
    mask[-1] = torch.arange(7) == 2  # the weight of a single key is 1, without any rounding, even in the deepest row
    depth = [0, 10, 100, 1000, 2000, 10_000, 100_000] if deep else [0, 10, 20, 30, 50, 70, 100]
    depth = torch.tensor(depth, dtype=S.dtype).unsqueeze(-1)
    spread = torch.full_like(depth, 30 if deep else 3)
    spread[[1, -1]] = 1  # here no allowed key stands out, so that what leaks from a blocked one shows in every draw
    allowed = spread * S - depth
    blocked = S + depth.clamp(max=500) if blocked_are == "high" else S - depth
    agree_masked(student, torch.where(mask, allowed, blocked), mask)


@number("5.5")
@weight(0.25)
@visibility("after_published")
def test_masked_softmax_gradients(student):
    """Gradients: finite, and 0 for what is blocked."""
    S, mask = draw("m n", m=5, n=7), sparse_mask(5, 7)
    mask[2] = False
    agree_masked(student, S, mask)
    for scale in (1, 40):
        gradients_agree(student.masked_softmax, ref.masked_softmax, scale * S, mask)
    agree_at_extremes(student.masked_softmax, ref.masked_softmax, S / S.abs().max(), mask)
    S_of_two, mask_of_two = draw("2 5 7"), sparse_mask(2, 1, 7)
    for one in (S[:1], mask[:1]), (S[:, :1], mask[:, :1]), (S_of_two, mask_of_two):
        gradients_agree(student.masked_softmax, ref.masked_softmax, *one)
    gradients_agree(student.masked_softmax, ref.masked_softmax, draw("m n", m=17, n=18), sparse_mask(17, 18))


@number("5.6")
@weight(0.25)
@visibility("after_published")
def test_masked_softmax_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    S, mask = draw("m n", m=5, n=7, dtype=torch.float32) - 5, sparse_mask(5, 7)
    for check in (keeps_dtype, leaves_inputs, works_on_meta):
        check(student.masked_softmax, S, mask)
    agree_masked(student, S, mask)
    S = draw("batch m n", batch=2, m=5, n=7)
    larger, one = draw("batch m n", batch=(1, 3), m=66, n=67), draw("m n", m=1, n=1)
    calls = (S, mask), (larger, sparse_mask(1, 1, 66, 67)), (one, one < 9), (S[..., :5], sparse_mask(2, 5, 2)[..., :1])
    agree_in_turn(student.masked_softmax, ref.masked_softmax, *calls, (S, ~mask))

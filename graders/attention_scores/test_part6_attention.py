"""Part 6, attention: all of it."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.attention_scores.inputs import BOTH_DTYPES, NONE_ONE_TWO, name_of, sparse_mask
from reference import attention_scores as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    works_on_meta,
)


def draw_queries_keys_values(batch=(), n=7, dtype=torch.float64):
    return draw("batch m d_k", "batch n d_k", "batch n d_v", batch=batch, m=5, n=n, d_k=6, d_v=8, dtype=dtype)


def agree_attention(student, *inputs, **mask):
    agree(student.attention, ref.attention, *inputs, **mask)


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_self_attention(student, batch):
    """Self-attention without a mask: as many queries as keys."""
    agree_attention(student, *draw_queries_keys_values(batch, n=5), mask=None)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_cross_attention(student, batch):
    """Cross-attention: queries from elsewhere, values of another width."""
    Q, K, V = draw_queries_keys_values(batch)
    agree_attention(student, Q, K, V)
    agree_attention(student, Q[..., :1, :], K, V)
    agree_attention(student, Q, K[..., :1, :], V[..., :1, :])


@number("6.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("kind", ["each_example", "heads", "causal_and_padding", "blocked_queries"])
def test_masked_attention(student, kind):
    """Attention under a mask."""
    batch, n = (2, 3) if kind == "heads" else (3,), 5 if kind == "causal_and_padding" else 7
    Q, K, V = draw_queries_keys_values(batch, n)
    mask = sparse_mask(2, 1, 5, n) if kind == "heads" else sparse_mask(*batch, 5, n)
    if kind == "causal_and_padding":
        mask = ref.causal_mask(n) & ref.padding_mask(torch.tensor([4, 5, 2]), n)
    if kind == "blocked_queries":
        mask[..., 4, :] = False
        mask[0, 1] = False
    agree_attention(student, Q, K, V, mask=mask)
    if kind == "each_example":
        agree_attention(student, Q, K[..., :5, :], V[..., :5, :], mask=sparse_mask(5, 5))
    if kind == "heads":
        for sizes in (5, n), (3, 5, n):
            agree_attention(student, Q, K, V, mask=sparse_mask(*sizes))


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("blocked", [False, True], ids=["all_see", "one_sees_nothing"])
def test_attention_gradients(student, blocked):
    """Gradients reach queries, keys and values, and are finite where a query may look nowhere."""
    Q, K, V = draw_queries_keys_values((2,))
    S = ref.scores(Q, K)
    mask = sparse_mask(*S.shape)
    if blocked:
        mask[..., 2, :] = False
    agree_attention(student, Q, K, V, mask=mask)
    for scale in (1, 40):
        gradients_agree(student.attention, ref.attention, scale * Q, K, V, mask=mask)
    agree_at_extremes(student.attention, ref.attention, Q, K, V, mask=mask, large=(2,))
    gradients_agree(student.attention, ref.attention, *draw("m d", "n d", "n d", m=17, n=18, d=2))
    for given in (Q, Q, Q), (Q[:, :1], K, V), (Q, K[:, :1], V[:, :1]):  # Q, K and V may be one and the same tensor
        gradients_agree(student.attention, ref.attention, *given)


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=name_of)
def test_attention_large(student, dtype, masked):
    """Attention where the scores of two queries reach ±1000; three keys fit them nearly equally well, or badly."""
    Q, K, V = draw_queries_keys_values((2,), dtype=dtype)
    K[..., 0, :] = Q[..., 2, :]
    Q[..., 2, :] *= 1000 / ref.scores(Q, K)[..., 2, :].abs().max()
    K[..., 1:3, :] = K[..., :1, :] + K[..., 1:3, :] / 1000
    mask = sparse_mask(*Q.shape[:-1], K.shape[-2])
    Q[..., 3, :] = -Q[..., 2, :]  # the three keys that it may look at have the lowest scores
    mask[..., :3] = True
    mask[..., 3, 3:] = False
    mask[0, 1:, 1] = False
    agree_attention(student, Q, K, V, mask=mask if masked else None)


@number("6.6")
@weight(0.5)
@visibility("after_published")
def test_attention_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    Q, K, V = draw_queries_keys_values((2,), dtype=torch.float32)
    S = ref.scores(Q, K)
    mask = sparse_mask(*S.shape)
    agree_attention(student, *(value.double() for value in (Q, K, V)), mask=mask)
    repeatable(student.attention, Q, K, V, mask=mask)
    for check in (keeps_dtype, leaves_inputs, works_on_meta):
        check(student.attention, Q, K, V, mask=mask)
    agree_attention(student, Q, K, V, mask=mask)
    works_on_meta(student.attention, Q, K, V)
    specs = "batch m d_k", "batch n d_k", "batch n d_v"
    first = draw(*specs, batch=2, m=5, n=7, d_k=6, d_v=8)
    larger = draw(*specs, batch=(1, 3), m=66, n=67, d_k=10, d_v=1)
    one = draw(*specs, batch=(), m=1, n=1, d_k=1, d_v=2)
    agree_attention(student, *[first[0]] * 3)
    masks = mask, sparse_mask(1, 1, 1, 67), one[0] < 9, sparse_mask(2, 5, 2)[..., :1]
    masked = [(*each, allowed) for each, allowed in zip((first, larger, one, first), masks, strict=True)]
    agree_in_turn(student.attention, ref.attention, first, *masked, (*first, ~mask))

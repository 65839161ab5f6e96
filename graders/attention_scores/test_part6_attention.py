"""Part 6, attention: all of it, given the student's own parts 3, 4 and 5."""

from itertools import product

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.attention_scores.earlier_parts import gives, stable
from graders.attention_scores.inputs import BOTH_DTYPES, NONE_ONE_TWO, draw_large_scores, name_of, sparse_mask
from reference import attention_scores as ref
from softmark import (
    Category,
    Failed,
    agree,
    current_test,
    draw,
    errs,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    unless_inherited,
    works_on_meta,
)


def processable(student, batch, n, dtype):
    """Return the wanted sizes and dtype, or the nearest with which the student's earlier parts give the right form.

    There is no batch if they know none, as many keys as queries if they exchange the two, and the other dtype if they
    insist on it, since A @ V needs one dtype for both. Earlier parts that pass their own tests process anything.
    """
    if not any(errs(part) for part in (student.scores, student.softmax_rows, student.masked_softmax)):
        return batch, n, dtype
    other = torch.float32 if dtype is torch.float64 else torch.float64
    for choice in product((batch, ()), (n, 5), (dtype, other)):
        Q, K = (torch.ones(*choice[0], tokens, 6, dtype=choice[2]) for tokens in (5, choice[1]))
        S = ref.scores(Q, K)
        try:
            results = student.scores(Q, K), student.softmax_rows(S), student.masked_softmax(S, S > 0)
        except Failed as failure:
            if failure.verdict.category is not Category.ERROR:
                break  # a crash or a time-out: nothing smaller will do
            continue
        if all((getattr(A, "shape", None), getattr(A, "dtype", None)) == (S.shape, S.dtype) for A in results):
            return choice
    return batch, n, dtype


def draw_queries_keys_values(student, batch=(), n=7, dtype=torch.float64):
    batch, n, dtype = processable(student, batch, n, dtype)
    return draw("batch m d_k", "batch n d_k", "batch n d_v", batch=batch, m=5, n=n, d_k=6, d_v=8, dtype=dtype)


def sees_nowhere(student):
    """Return whether the student's part 5 makes zeros of a row without an allowed key; if not, part 6 draws none."""
    mask = torch.tensor([[True, True, False], [False, False, False]])
    return gives(mask / 2, student.masked_softmax, torch.zeros(2, 3), mask)


def agree_attention(student, *inputs, **mask):
    carried = {name: getattr(student, name) for name in ("scores", "softmax_rows", "masked_softmax")}
    agree(student.attention, ref.attention, *inputs, carried=carried, **mask)


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_self_attention(student, batch):
    """Self-attention without a mask: as many queries as keys."""
    agree_attention(student, *draw_queries_keys_values(student, batch, n=5), mask=None)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_cross_attention(student, batch):
    """Cross-attention: queries from elsewhere, values of another width."""
    Q, K, V = draw_queries_keys_values(student, batch)
    agree_attention(student, Q, K, V)
    if not current_test().carried:
        agree_attention(student, Q[..., :1, :], K, V)
        agree_attention(student, Q, K[..., :1, :], V[..., :1, :])


@number("6.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("kind", ["each_example", "heads", "causal_and_padding", "blocked_queries"])
def test_masked_attention(student, kind):
    """Attention under a mask."""
    batch, n = (2, 3) if kind == "heads" else (3,), 5 if kind == "causal_and_padding" else 7
    Q, K, V = draw_queries_keys_values(student, batch, n)
    *batch, m, n = *Q.shape[:-1], K.shape[-2]
    mask = sparse_mask(2, 1, m, n) if kind == "heads" and batch else sparse_mask(*batch, m, n)
    if kind == "causal_and_padding":
        mask = ref.causal_mask(n) & ref.padding_mask(torch.tensor([4, 5, 2] if batch else 4), n)
    if kind == "blocked_queries" and sees_nowhere(student):
        mask[..., 4, :] = False
        mask[0, 1] = False
    agree_attention(student, Q, K, V, mask=mask)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("blocked", [False, True], ids=["all_see", "one_sees_nothing"])
def test_attention_gradients(student, blocked):
    """Gradients reach queries, keys and values, and are finite where a query may look nowhere."""
    Q, K, V = draw_queries_keys_values(student, (2,))
    S = ref.scores(Q, K)
    mask = sparse_mask(*S.shape)
    if blocked and sees_nowhere(student):
        mask[..., 2, :] = False
    agree_attention(student, Q, K, V, mask=mask)
    if not current_test().carried:
        earlier = [(student.scores, ref.scores, Q, K), (student.softmax_rows, ref.softmax_rows, draw_large_scores())]
        earlier.append((student.masked_softmax, ref.masked_softmax, S, mask))
        unless_inherited(earlier, gradients_agree, student.attention, ref.attention, Q, K, V, mask=mask)


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=name_of)
def test_attention_large(student, dtype, masked):
    """Attention where the scores of a query reach ±1000; three keys fit it nearly equally well."""
    Q, K, V = draw_queries_keys_values(student, (2,), dtype=dtype)
    size = 1000 if stable(student) else 30
    K[..., 0, :] = Q[..., 2, :]
    Q[..., 2, :] *= size / ref.scores(Q, K)[..., 2, :].abs().max()
    K[..., 1:3, :] = K[..., :1, :] + K[..., 1:3, :] / size
    mask = sparse_mask(*Q.shape[:-1], K.shape[-2])
    mask[..., :3] = True
    first = mask[0] if Q.dim() > 2 else mask
    first[1:, 1] = False
    agree_attention(student, Q, K, V, mask=mask if masked else None)


@number("6.6")
@weight(0.5)
@visibility("after_published")
def test_attention_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    Q, K, V = draw_queries_keys_values(student, (2,), dtype=torch.float32)
    S = ref.scores(Q, K)
    mask = sparse_mask(*S.shape)
    agree_attention(student, Q, K, V, mask=mask)
    repeatable(student.attention, Q, K, V, mask=mask)
    earlier = [(student.scores, Q, K), (student.softmax_rows, S), (student.masked_softmax, S, mask)]
    for check in (keeps_dtype, leaves_inputs, works_on_meta):
        unless_inherited(earlier, check, student.attention, Q, K, V, mask=mask)
    unless_inherited(earlier, keeps_dtype, student.attention, Q, K, V, mask=mask, output=1)
    unless_inherited(earlier[:2], works_on_meta, student.attention, Q, K, V)

"""Hidden tests: multi-head attention."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import problem
from reference import multi_head as ref
from softmark import agree, agree_in_turn, causal_mask, gradients_agree, padding_mask, random_mask, well_behaved

# All sizes of an attention problem differ from each other, and h is neither d_k nor d_v.
SELF = {"m": 5, "n": 5, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
SQUARE = {"m": 5, "n": 5, "D_q": 12, "D_kv": 12, "h": 3, "d_k": 4, "d_v": 4}
CROSS = {"m": 5, "n": 7, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
LARGER = {"m": 8, "n": 9, "D_q": 12, "D_kv": 13, "h": 4, "d_k": 5, "d_v": 7, "batch": (1,)}
SMALLEST = {"m": 1, "n": 1, "D_q": 1, "D_kv": 1, "h": 1, "d_k": 1, "d_v": 1, "batch": (1, 1)}
TWO_WIDTHS = {"m": 7, "n": 5, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 6, "d_v": 3}


def self_problem(**sizes):
    """Draw a problem in which every token looks at its own sequence."""
    X, _, *rest = problem(**sizes)
    return X, X, *rest


def lowered(X_q, X_kv, W_Q, W_K, W_V, h, by=-12.0):
    """Return the same problem with two features more, which add a number to all scores of every other query.

    The softmax stays the same, but a blocked score that is filled with -10 no longer looks blocked there.
    """
    d_k = W_K.shape[-1] // h
    constant = torch.zeros(1, h * d_k, dtype=W_Q.dtype)
    constant[:, ::d_k] = d_k**0.25  # the first feature of every head is this, switched on or off, and nothing else
    W_Q, W_K = (W.masked_fill(constant > 0, 0.0) for W in (W_Q, W_K))
    W_Q = torch.cat([W_Q, constant, 0 * constant])
    W_K = torch.cat([W_K, 0 * constant, constant * by])
    W_V = torch.cat([W_V, torch.zeros_like(W_V[:2])])
    return with_switches(X_q), with_switches(X_kv), W_Q, W_K, W_V, h


def with_switches(X):
    """Return X with a feature that is 1 and 0 in turn, and one that is always 1."""
    tokens = torch.arange(X.shape[-2])
    switches = torch.stack([(tokens % 2 == 0), (tokens >= 0)], dim=-1).to(X.dtype)
    return torch.cat([X, switches.expand(*X.shape[:-1], 2)], dim=-1)


def check_attention(student, *args):
    agree(student.multi_head_attention, ref.multi_head_attention, *args)


@number("3.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("tokens", [5, 1])
def test_attention_of_one_head(student, tokens):
    """One head: projections, scores, scale, softmax and values, without any splitting."""
    check_attention(student, *self_problem(m=tokens, n=tokens, D_q=10, D_kv=10, h=1, d_k=4, d_v=6))


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [SELF, SQUARE])
def test_self_attention(student, sizes):
    """Several heads, each with its own block of the weights, concatenated in order."""
    check_attention(student, *self_problem(**sizes))


@number("3.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [CROSS, TWO_WIDTHS])
def test_cross_attention(student, sizes):
    """Queries from one sequence, keys and values from another, of another length and width."""
    check_attention(student, *problem(**sizes))


@number("3.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (3,), (2, 4)])
def test_attention_with_batch(student, batch):
    """Batch dimensions, one or two; as many examples as heads, too."""
    check_attention(student, *problem(**CROSS, batch=batch))


@number("3.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("kind", ["causal", "random", "one row"])
def test_attention_with_one_mask(student, kind, batch):
    """One mask for all examples and all heads: a causal one, any other, one row for all queries."""
    mask = causal_mask(5) if kind == "causal" else random_mask(5 if kind == "random" else 1, 5)
    check_attention(student, *lowered(*self_problem(**SELF, batch=batch)), mask)


@number("3.6")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "lengths"), [((2,), [4, 2]), ((3,), [1, 7, 3])])
def test_attention_with_padding(student, batch, lengths):
    """A padding mask (batch, 1, n): every example has its own length."""
    check_attention(student, *lowered(*problem(**CROSS, batch=batch)), padding_mask(lengths, 7))


@number("3.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (3,), (2, 3)])
@pytest.mark.parametrize("kind", ["causal and padding", "random"])
def test_attention_with_mask_per_example(student, kind, batch):
    """A mask of its own for every example: causal and padding together, and any other."""
    lengths = [3, 5, 2, 4, 5, 1][: math.prod(batch)]
    both = causal_mask(5) & padding_mask(lengths, 5).unflatten(0, batch)
    mask = random_mask(*batch, 5, 5) if kind == "random" else both
    check_attention(student, *lowered(*self_problem(**SELF, batch=batch)), mask)


@number("3.8")
@weight(0.25)
@visibility("after_published")
def test_attention_with_low_allowed_scores(student):
    """A blocked key has no influence, however low the allowed scores are and however high its own is."""
    only = torch.tensor([[[4]], [[1]]])  # one allowed key per example
    mask = torch.zeros(2, 1, 7, dtype=torch.bool).scatter(-1, only, True)
    X_q, X_kv, *rest = lowered(*problem(**CROSS, batch=(2,)), by=1.0)
    levels = torch.where(mask.transpose(-1, -2), -130.0, 20.0).double()
    check_attention(student, X_q, torch.cat([X_kv[..., :-1], levels], dim=-1), *rest, mask)


@number("3.9")
@weight(0.5)
@visibility("after_published")
def test_attention_gradients(student):
    """Gradients of both inputs and of all three weights, under a mask."""
    args = *lowered(*problem(**CROSS, batch=(2,))), random_mask(2, 5, 7)
    check_attention(student, *args)
    gradients_agree(student.multi_head_attention, ref.multi_head_attention, *args)
    gradients_agree(student.multi_head_attention, ref.multi_head_attention, 40 * args[0], *args[1:])


@number("3.10")
@weight(0.25)
@visibility("after_published")
def test_attention_is_a_clean_function(student):
    """dtype and device of the inputs, which are left as they are; the same result whatever was asked before."""
    args = *lowered(*problem(**CROSS, batch=(2,))), random_mask(2, 5, 7)
    well_behaved(student.multi_head_attention, ref.multi_head_attention, *args)
    first = problem(**CROSS, batch=(2,))
    masked = (*first, random_mask(2, 5, 7)), (*problem(**SMALLEST), torch.ones(1, 1, 1, 1, dtype=torch.bool))
    agree_in_turn(student.multi_head_attention, ref.multi_head_attention, first, problem(**LARGER), *masked)

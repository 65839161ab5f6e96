"""Hidden tests: multi-head attention."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import COMBINATIONS, combination, mask_of_kind, problem
from reference import multi_head as ref
from softmark import (
    agree,
    agree_in_turn,
    causal_mask,
    gradients_agree,
    padding_mask,
    random_mask,
    to_float32,
    well_behaved,
)

# All sizes of an attention problem differ from each other, and h is neither d_k nor d_v.
SELF = {"m": 5, "n": 5, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
SQUARE = {"m": 5, "n": 5, "D_q": 12, "D_kv": 12, "h": 3, "d_k": 4, "d_v": 4}
CROSS = {"m": 5, "n": 7, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
LARGER = {
    "m": 8,
    "n": 9,
    "D_q": 12,
    "D_kv": 13,
    "h": 4,
    "d_k": 5,
    "d_v": 7,
    "batch": (1,),
}
SMALLEST = {
    "m": 1,
    "n": 1,
    "D_q": 1,
    "D_kv": 1,
    "h": 1,
    "d_k": 1,
    "d_v": 1,
    "batch": (1, 1),
}
TWO_WIDTHS = {"m": 7, "n": 5, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 6, "d_v": 3}
NARROW_VALUES = {"m": 5, "n": 5, "D_q": 10, "D_kv": 10, "h": 2, "d_k": 6, "d_v": 3}
ONE_KEY, ONE_QUERY = CROSS | {"n": 1}, CROSS | {"m": 1}
LONG = {"m": 33, "n": 65, "D_q": 5, "D_kv": 6, "h": 2, "d_k": 3, "d_v": 4}
SHORTER = LONG | {"m": 65, "n": 31}
LONGEST = LONG | {"m": 2, "n": 257}
MANY_HEADS = {"m": 4, "n": 5, "D_q": 6, "D_kv": 7, "h": 17, "d_k": 2, "d_v": 3}
WIDE = {"m": 4, "n": 5, "D_q": 70, "D_kv": 130, "h": 2, "d_k": 67, "d_v": 71}
# Each of these has sizes that are equal: where an axis is taken for another, this may show only then.
SAME_SHAPES = CROSS | {"n": 5}
PAIRS = {"m": 3, "n": 4, "D_q": 3, "D_kv": 4, "h": 3, "d_k": 4, "d_v": 3}
OTHER_PAIRS = {"m": 4, "n": 3, "D_q": 4, "D_kv": 12, "h": 3, "d_k": 4, "d_v": 4}
SQUARE_HEADS = {"m": 5, "n": 6, "D_q": 8, "D_kv": 8, "h": 4, "d_k": 4, "d_v": 2}
THREES = {"m": 3, "n": 3, "D_q": 9, "D_kv": 9, "h": 3, "d_k": 3, "d_v": 3}
CROSSES = [
    [CROSS],
    [TWO_WIDTHS],
    [ONE_QUERY, ONE_KEY],
    [LONG, SHORTER, LONGEST],
    [MANY_HEADS, WIDE],
]
CROSSES += [[SAME_SHAPES], [PAIRS, OTHER_PAIRS, SQUARE_HEADS, THREES]]

BATCHES = [(), (2,), (2, 3)]
ONE_MASK = [(kind, batch, 5, 5) for kind in ("causal", "random", "one row") for batch in BATCHES]
ONE_MASK += [
    ("causal", (), 5, 7),
    ("causal", (2,), 7, 5),
    ("random", (), 5, 7),
    ("random", (2, 3), 7, 5),
]
ONE_MASK += [
    ("band", (), 5, 5),
    ("later", (2,), 5, 5),
    ("one row", (2,), 5, 7),
]

HEADS = [1, 2, 3, 5]


def combined(row):
    """Draw the call of a row in which conditions meet: the same tensor twice where both lengths are equal."""
    batch, m, n, kind = combination(row)
    X_q, X_kv, *rest = problem(m=m, n=n, D_q=3, D_kv=3, h=HEADS[row % 4], d_k=2, d_v=3, batch=batch)
    return X_q, X_q if m == n else X_kv, *rest, mask_of_kind(kind, batch, m, n)


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


def one_mask(kind, m, n):
    """Return a mask for all examples."""
    everything = torch.ones(m, n, dtype=torch.bool)
    match kind:
        case "causal":
            return everything.tril()
        case "band":
            return everything.tril() & everything.triu(-1)
        case "later":
            return everything.triu()
    return random_mask(1 if kind == "one row" else m, n)


def check_attention(student, *args):
    agree(student.multi_head_attention, ref.multi_head_attention, *args)


@number("3.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("tokens", [5, 1, 33])
def test_attention_of_one_head(student, tokens):
    """One head: projections, scores, scale, softmax and values, without any splitting."""
    check_attention(student, *self_problem(m=tokens, n=tokens, D_q=10, D_kv=10, h=1, d_k=4, d_v=6))


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [SELF, SQUARE, NARROW_VALUES, THREES])
def test_self_attention(student, sizes):
    """Several heads, each with its own block of the weights, concatenated in order; scores of some thousands, too."""
    X, _, *rest = problem(**sizes)
    check_attention(student, X, X, *rest)
    check_attention(student, X, X.clone(), *rest)
    check_attention(student, 2000 * X, X, *rest)


@number("3.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("problems", CROSSES)
def test_cross_attention(student, problems):
    """Queries from one sequence, keys and values from another: of any length and width, one query, one key."""
    for sizes in problems:
        check_attention(student, *problem(**sizes))


@number("3.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (3,), (2, 4), (4,), (5,), (7,), (17,), (2, 2), (3, 3), (1, 3)])
def test_attention_with_batch(student, batch):
    """Batch dimensions, one or two; as many examples as heads, tokens or features, too."""
    check_attention(student, *problem(**CROSS, batch=batch))


@number("3.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("kind", "batch", "m", "n"), ONE_MASK)
def test_attention_with_one_mask(student, kind, batch, m, n):
    """One mask for all examples and all heads: a causal one, any other, square or not, one row for all queries."""
    draw_problem = self_problem if m == n else problem
    inputs = lowered(*draw_problem(**SELF | {"m": m, "n": n}, batch=batch))
    check_attention(student, *inputs, one_mask(kind, m, n))
    if kind == "one row":
        for shape in ((m, 1), (1, 1)):
            check_attention(student, *inputs, torch.ones(shape, dtype=torch.bool))


@number("3.6")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (3,), (5,), (2, 2), (2, 3)])
def test_attention_with_padding(student, batch):
    """A padding mask (batch, 1, n): every example has its own length."""
    mask = padding_mask([4, 2, 7, 1, 3, 6][: math.prod(batch)], 7).unflatten(0, batch)
    check_attention(student, *lowered(*problem(**CROSS, batch=batch)), mask)


@number("3.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("place", "batch"), enumerate([(2,), (3,), (5,), (2, 2), (2, 3)]))
@pytest.mark.parametrize("kind", ["causal and padding", "random"])
def test_attention_with_mask_per_example(student, kind, place, batch):
    """A mask of its own for every example, square or not, and every kind of mask with other sizes and batches."""
    lengths = [3, 5, 2, 4, 5, 1][: math.prod(batch)]
    both = causal_mask(5) & padding_mask(lengths, 5).unflatten(0, batch)
    mask = random_mask(*batch, 5, 5) if kind == "random" else both
    check_attention(student, *lowered(*self_problem(**SELF, batch=batch)), mask)
    check_attention(student, *lowered(*problem(**CROSS, batch=batch)), random_mask(*batch, 5, 7))
    for row in range(place + 5 * (kind == "random"), 3 * COMBINATIONS, 10):
        call = combined(row)
        check_attention(student, *(to_float32(call) if row % 8 < 4 else call))


@number("3.8")
@weight(0.25)
@visibility("after_published")
def test_attention_with_low_allowed_scores(student):
    """A blocked key has no influence, however low the allowed scores are and however high its own is."""
    only = torch.tensor([[[4]], [[1]], [[2]]])  # one allowed key per example
    mask = torch.zeros(3, 1, 7, dtype=torch.bool).scatter(-1, only, True)
    X_q, X_kv, *rest = lowered(*problem(**CROSS, batch=(3,)), by=1.0)
    low = torch.tensor([-130.0, -2e4, -2e6]).double()[:, None, None]
    levels = torch.where(mask.transpose(-1, -2), low, 20.0)
    args = X_q, torch.cat([X_kv[..., :-1], levels], dim=-1), *rest, mask
    check_attention(student, *args)
    check_attention(student, *to_float32(args))


@number("3.9")
@weight(0.5)
@visibility("after_published")
def test_attention_gradients(student):
    """Gradients of both inputs and of all three weights, under a mask and without, for one head, query or key, too."""
    args = *lowered(*problem(**CROSS, batch=(2,))), random_mask(2, 5, 7)
    check_attention(student, *args)
    gradients_agree(student.multi_head_attention, ref.multi_head_attention, *args)
    gradients_agree(student.multi_head_attention, ref.multi_head_attention, 40 * args[0], *args[1:])
    for row in range(0, COMBINATIONS, 2):
        call = combined(row)
        call = to_float32(call) if row % 8 < 4 else call
        gradients_agree(student.multi_head_attention, ref.multi_head_attention, *call)


@number("3.10")
@weight(0.25)
@visibility("after_published")
def test_attention_is_a_clean_function(student):
    """dtype and device of the inputs, which are unchanged; earlier calls make no difference."""
    args = *lowered(*problem(**CROSS, batch=(2,))), random_mask(2, 5, 7)
    well_behaved(student.multi_head_attention, ref.multi_head_attention, *args)
    first = problem(**CROSS, batch=(2,))
    masked = (
        (*first, random_mask(2, 5, 7)),
        (*problem(**SMALLEST), torch.ones(1, 1, 1, 1, dtype=torch.bool)),
    )
    others = (
        (*first[:-1], 2),
        (*first[:-1], 1),
        problem(**LARGER),
    )  # first the same with fewer heads
    agree_in_turn(student.multi_head_attention, ref.multi_head_attention, first, *others, *masked)
    X_q, X_kv, *rest = problem(**CROSS)
    for tokens in (
        X_kv * (torch.arange(7)[:, None] != 2),
        X_kv[:1].expand(7, 11),
        X_kv.abs(),
        X_kv / 1000,
        0 * X_kv,
    ):
        check_attention(student, X_q, tokens.contiguous(), *rest)
    check_attention(student, X_q / 1000, X_kv, *rest)

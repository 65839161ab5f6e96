"""Hidden tests: multi-head attention, 20 points.

From the isolated to the full: each test names one thing that can be wrong. Parts 3, 4 and 5 are also right with the
student's own parts 1 and 2 (`carried`). Part 4 has a second witness: PyTorch's own module, whose weights everybody
loads; a reference that disagreed with it would be the graders' error.
"""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from reference import multi_head as ref
from softmark import (
    Failed,
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    raises,
    repeatable,
    uses_inputs,
    uses_weights,
    works_on_meta,
)
from softmark.verdict import Category, OpCount, Verdict, current

UNEVEN = [(10, 4), (7, 3), (12, 5), (6, 4), (3, 6)]  # widths that the number of heads does not divide

# All sizes of an attention problem differ from each other, and h is neither d_k nor d_v.
SELF = {"m": 5, "n": 5, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
SQUARE = {"m": 5, "n": 5, "D_q": 12, "D_kv": 12, "h": 3, "d_k": 4, "d_v": 4}
CROSS = {"m": 5, "n": 7, "D_q": 11, "D_kv": 11, "h": 3, "d_k": 4, "d_v": 6}
TWO_WIDTHS = {"m": 7, "n": 5, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 6, "d_v": 3}


def problem(m, n, D_q, D_kv, h, d_k, d_v, batch=()):
    """X_q, X_kv, W_Q, W_K, W_V and n_heads, with scores of order one."""
    X_q, X_kv = draw("batch m D_q", "batch n D_kv", batch=batch, m=m, n=n, D_q=D_q, D_kv=D_kv)
    sizes = {"D_q": D_q, "D_kv": D_kv, "hd_k": h * d_k, "hd_v": h * d_v}
    W_Q, W_K, W_V = draw("D_q hd_k", "D_kv hd_k", "D_kv hd_v", **sizes)
    return X_q, X_kv, W_Q / math.sqrt(D_q), W_K / math.sqrt(D_kv), W_V / math.sqrt(D_kv), h


def self_problem(**sizes):
    """The same, every token looking at its own sequence."""
    X, _, *rest = problem(**sizes)
    return X, X, *rest


def lowered(X_q, X_kv, W_Q, W_K, W_V, h, by=-12.0):
    """The same problem with two features more, which add a number to all scores of every other query.

    The softmax does not notice, but a blocked score that is filled with -10 does no longer look blocked there.
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
    """X with a feature that is 1 and 0 in turn, and one that is always 1."""
    tokens = torch.arange(X.shape[-2])
    switches = torch.stack([(tokens % 2 == 0), (tokens >= 0)], dim=-1).to(X.dtype)
    return torch.cat([X, switches.expand(*X.shape[:-1], 2)], dim=-1)


def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    """(batch, 1, n): the first lengths[b] keys of example b."""
    return torch.arange(n) < torch.tensor(lengths)[:, None, None]


def random_mask(*shape):
    """About half of the places; in every row one key at least is allowed."""
    mask = draw("shape", shape=shape) > 0
    first = draw("shape", shape=shape).argmax(dim=-1, keepdim=True)
    return mask.scatter(-1, first, True)


def parts_1_and_2(student):
    """The student's own versions of the earlier parts."""
    return {"split_heads": student.split_heads, "merge_heads": student.merge_heads}


def check_attention(student, *args):
    agree(student.multi_head_attention, ref.multi_head_attention, *args, carried=parts_1_and_2(student))


# ------------------------------------------------------------------------------------------------------------
# Part 1: split_heads
# ------------------------------------------------------------------------------------------------------------


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("n_heads", [3, 1, 12])
def test_split_one_token(student, n_heads):
    """One token: each head gets its own block of neighbouring features, in order."""
    agree(student.split_heads, ref.split_heads, draw("1 D", D=12), n_heads)


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("T", "D", "n_heads"), [(5, 12, 3), (7, 10, 2), (6, 12, 3)])
def test_split_many_tokens(student, T, D, n_heads):
    """Several tokens: each head has all of them, as its rows."""
    agree(student.split_heads, ref.split_heads, draw("T D", T=T, D=D), n_heads)


@number("1.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 7), (1, 2)])
def test_split_with_batch(student, batch):
    """Batch dimensions stay in front, one or two of them."""
    agree(student.split_heads, ref.split_heads, draw("batch T D", batch=batch, T=5, D=12), 3)


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_split_uneven_width(student):
    """A width that is no multiple of the number of heads raises ValueError."""
    student.split_heads(draw("T D", T=5, D=12), 3)
    for D, n_heads in UNEVEN:
        raises(ValueError, student.split_heads, draw("T D", T=5, D=D), n_heads)


@number("1.5")
@weight(0.25)
@visibility("after_published")
def test_split_gradient(student):
    """Gradients flow back through the split."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    gradients_agree(student.split_heads, ref.split_heads, X, 3)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_split_is_a_clean_function(student):
    """dtype and device of the input, which is left as it is; the same result every time."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    check_clean(student.split_heads, ref.split_heads, X, 3)


def check_clean(got, want, *args, carried=None):
    """Right in float32 as well; the dtype kept; any device; inputs unchanged; no memory of earlier calls."""
    narrow = [arg.float() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in args]
    agree(got, want, *narrow, carried=carried)
    keeps_dtype(got, *args)
    works_on_meta(got, *args)
    leaves_inputs(got, *args)
    repeatable(got, *args)


# ------------------------------------------------------------------------------------------------------------
# Part 2: merge_heads
# ------------------------------------------------------------------------------------------------------------


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("h", "d_head"), [(3, 4), (1, 6), (5, 1)])
def test_merge_one_token(student, h, d_head):
    """One token: the features of head 0, then those of head 1, and so on."""
    agree(student.merge_heads, ref.merge_heads, draw("h 1 d_head", h=h, d_head=d_head))


@number("2.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("h", "T", "d_head"), [(3, 5, 4), (2, 7, 3), (4, 2, 5)])
def test_merge_many_tokens(student, h, T, d_head):
    """Several tokens: a row holds the features of one token and of no other."""
    agree(student.merge_heads, ref.merge_heads, draw("h T d_head", h=h, T=T, d_head=d_head))


@number("2.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 7), (1, 2)])
def test_merge_with_batch(student, batch):
    """Batch dimensions stay in front, one or two of them."""
    agree(student.merge_heads, ref.merge_heads, draw("batch h T d_head", batch=batch, h=3, T=5, d_head=4))


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_merge_gradient(student):
    """Gradients flow back through the merge."""
    gradients_agree(student.merge_heads, ref.merge_heads, draw("batch h T d_head", batch=(2,), h=3, T=5, d_head=4))


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_merge_is_a_clean_function(student):
    """dtype and device of the input, which is left as it is; the same result every time."""
    check_clean(student.merge_heads, ref.merge_heads, draw("batch h T d_head", batch=(2,), h=3, T=5, d_head=4))


# ------------------------------------------------------------------------------------------------------------
# Part 3: multi_head_attention
# ------------------------------------------------------------------------------------------------------------


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
    if not current().carried:  # the gradients of a result that stands on other parts 1 and 2 are other ones
        gradients_agree(student.multi_head_attention, ref.multi_head_attention, *args)


@number("3.10")
@weight(0.25)
@visibility("after_published")
def test_attention_is_a_clean_function(student):
    """dtype and device of the inputs, which are left as they are; the same result every time."""
    args = *lowered(*problem(**CROSS, batch=(2,))), random_mask(2, 5, 7)
    check_clean(student.multi_head_attention, ref.multi_head_attention, *args, carried=parts_1_and_2(student))


# ------------------------------------------------------------------------------------------------------------
# Part 4: MultiHeadAttention
# ------------------------------------------------------------------------------------------------------------


def modules(student, d_model, n_heads):
    """The same module three times with the same random weights: the student's, the reference's, PyTorch's own."""
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True).double()
    weights = {name: draw(" ".join(map(str, p.shape))) for name, p in theirs.named_parameters()}
    weights = {name: w / math.sqrt(d_model) if w.dim() == 2 else w for name, w in weights.items()}
    theirs.load_state_dict(weights)
    ours = ref.MultiHeadAttention(d_model, n_heads).double()
    ours.load_state_dict(weights)
    own = student.MultiHeadAttention(d_model, n_heads)
    own.load_state_dict(weights)
    return own, ours, theirs


def confirm(ours, theirs, X_q, X_kv=None, mask=None):
    """PyTorch's own module gives the reference's numbers. Its masks are True where looking is forbidden."""
    expected = ours(X_q, X_kv, mask)
    X_kv = X_q if X_kv is None else X_kv
    m, n = X_q.shape[-2], X_kv.shape[-2]
    if mask is not None:
        blocked = ~mask.expand(*X_q.shape[:-2], m, n).reshape(-1, m, n)
        mask = blocked.repeat_interleave(ours.n_heads, dim=0)
    X_q, X_kv = X_q.reshape(-1, *X_q.shape[-2:]), X_kv.reshape(-1, *X_kv.shape[-2:])
    output, _ = theirs(X_q, X_kv, X_kv, attn_mask=mask)
    if not torch.allclose(expected, output.reshape(expected.shape), rtol=1e-9, atol=1e-9):
        raise RuntimeError("the reference and PyTorch's nn.MultiheadAttention disagree")


def check_module(student, d_model, n_heads, *args, **kwargs):
    """The student's module gives the numbers of the reference and of PyTorch."""
    own, ours, theirs = modules(student, d_model, n_heads)
    confirm(ours, theirs, *args, **kwargs)
    agree(own, ours, *args, carried=parts_1_and_2(student), **kwargs)
    return own, ours


@number("4.1")
@weight(0.5)
@visibility("after_published")
def test_module_parameters(student):
    """Four parameters with the names and shapes of nn.MultiheadAttention's; one head."""
    own, theirs = student.MultiHeadAttention(6, 1), nn.MultiheadAttention(6, 1)
    require_module(own)
    own.has_entries(theirs.state_dict())
    expected = {name: tuple(p.shape) for name, p in theirs.named_parameters()}
    agree({name: tuple(p.shape) for name, p in own.parameters().items()}, expected)
    uses_weights(own, draw("m D", m=5, D=6))


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (2,), (2, 4)])
def test_module_self_attention(student, batch):
    """Self-attention with several heads, biases and the output projection: the numbers of PyTorch's own module."""
    check_module(student, 12, 3, draw("batch m D", batch=batch, m=5, D=12))


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "m", "n"), [((), 4, 7), ((2,), 5, 3), ((2, 4), 3, 1)])
def test_module_cross_attention(student, batch, m, n):
    """Cross-attention: keys and values from X_kv, longer or shorter than X_q."""
    check_module(student, 12, 3, *draw("batch m D", "batch n D", batch=batch, m=m, n=n, D=12))


@number("4.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (3,)])
@pytest.mark.parametrize("kind", ["causal", "padding", "both", "cross"])
def test_module_masks(student, kind, batch):
    """A causal mask, a padding mask, both, and one for cross-attention; True means may look."""
    X_q, X_kv = draw("batch m D", "batch n D", batch=batch, m=5, n=7, D=12)
    causal, padding = causal_mask(5), padding_mask([4, 2, 5][: batch[0]], 5)
    masks = {"causal": causal, "padding": padding, "both": causal & padding, "cross": random_mask(*batch, 5, 7)}
    check_module(student, 12, 3, X_q, X_kv if kind == "cross" else None, masks[kind])


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_module_gradients(student):
    """Gradients reach both inputs and all four parameters."""
    args = *draw("batch m D", "batch n D", batch=(2,), m=5, n=7, D=12), random_mask(2, 5, 7)
    own, ours = check_module(student, 12, 3, *args)
    if not current().carried:  # the gradients of a result that stands on other parts 1 and 2 are other ones
        gradients_agree(own, ours, *args)


@number("4.6")
@weight(0.5)
@visibility("after_published")
def test_module_uneven_width(student):
    """A d_model that is no multiple of n_heads raises ValueError when the module is made."""
    require_module(student.MultiHeadAttention(12, 3))
    for d_model, n_heads in UNEVEN:
        raises(ValueError, student.MultiHeadAttention, d_model, n_heads)


def require_module(made):
    if not hasattr(made, "load_state_dict"):
        raise Failed(Verdict(Category.TYPE, "MultiHeadAttention(12, 3) does not make an nn.Module"))


@number("4.7")
@weight(0.25)
@visibility("after_published")
def test_module_is_clean(student):
    """The same numbers in eval mode and every time, in float32 and on any device; inputs are left as they are."""
    args = *draw("batch m D", "batch n D", batch=(2,), m=5, n=7, D=12), random_mask(2, 5, 7)
    own, ours, _ = modules(student, 12, 3)
    own.eval()
    keeps_dtype(own, *args, dtypes=[torch.float64])
    works_on_meta(own, *args)
    leaves_inputs(own, *args)
    repeatable(own, *args)
    ours.float()
    own.load_state_dict(ours.state_dict())
    X_q, X_kv, mask = args
    agree(own, ours, X_q.float(), X_kv.float(), mask, carried=parts_1_and_2(student))
    keeps_dtype(own, *args, dtypes=[torch.float32])


# ------------------------------------------------------------------------------------------------------------
# Part 5: no loop over tokens or heads
# ------------------------------------------------------------------------------------------------------------

FEW = {"m": 3, "n": 4, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 24, "d_v": 36}
MANY_TOKENS = FEW | {"m": 23, "n": 29}


@number("5.1")
@weight(0.5)
@visibility("after_published")
def test_operations_and_tokens(student):
    """The number of operations does not grow with the number of tokens."""
    few, many = problem(**FEW), problem(**MANY_TOKENS)
    uses_inputs(student.multi_head_attention, *few)
    ops_independent_of("the number of tokens", student.multi_head_attention, few, many)


@number("5.2")
@weight(0.5)
@visibility("after_published")
def test_operations_and_heads(student):
    """The number of operations does not grow with the number of heads."""
    *inputs, _ = problem(**FEW)
    uses_inputs(student.multi_head_attention, *inputs, 24)
    ops_independent_of("the number of heads", student.multi_head_attention, (*inputs, 2), (*inputs, 24))


@number("5.3")
@weight(1)
@visibility("after_published")
def test_operations_of_the_module(student):
    """The same for the module."""
    few, many = draw("m D", "n D", m=3, n=23, D=48)
    divided, *_ = modules(student, 48, 24)
    two, *_ = modules(student, 48, 2)
    uses_inputs(divided, few)
    ops_independent_of("the number of tokens", two, (few,), (many,))
    ops_independent_of("the number of heads", GivenModule(), (two, few), (divided, few))


class GivenModule:
    """Calls the module that is its first argument, so that two modules can be compared in one check."""

    name = "MultiHeadAttention"

    def count_ops(self, args, kwargs) -> OpCount:
        module, *inputs = args
        return module.count_ops(inputs, kwargs)

"""Hidden tests: the transformer block, 20 points.

From the isolated to the full: each test names one thing that can be wrong. A part that builds on earlier ones is also
right with the student's own earlier parts (`carried`), so that each mistake is paid for once. Parts 5 and 6 have a
second witness, PyTorch's nn.TransformerEncoderLayer: a reference that disagreed with it would be the graders' error.
"""

import math
from contextlib import contextmanager
from functools import cache

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from reference import transformer_block as ref
from softmark import (
    Failed,
    agree,
    causal,
    draw,
    gradients_agree,
    ignores_padding,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
    uses_weights,
    works_on_meta,
)
from softmark.verdict import Answer, Category, Registry, Verdict, current

EPS = 1e-5


def holds(check, *args, **kwargs):
    """Whether an earlier part passes a check; if it does not, a later part is not charged for it again."""
    try:
        check(*args, **kwargs)
    except Failed:
        return False
    return True


def agree_unnamed(*args, **kwargs):
    """`agree` without looking for the mistake's name."""
    case = current()
    budget, case.budget = case.budget, 0.0
    try:
        agree(*args, **kwargs)
    finally:
        case.budget = budget


def earlier(student, *names):
    """The student's own earlier functions, each with the reference's in its place where it cannot be called."""
    return {name: OwnOrReference(getattr(student, name), getattr(ref, name)) for name in names}


class OwnOrReference:
    def __init__(self, own, reference):
        self.own, self.reference = own, reference

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs).value

    def call(self, args, kwargs):
        """What the student's function answers and does to its inputs, or what the reference answers."""
        try:
            return self.own.call(args, kwargs)
        except Failed:
            return Answer(self.reference(*args, **kwargs))


def charge(student, check, own, want, args, before):
    """Make a check(own, want, *args); its failure counts unless an earlier part, whose values are right, fails it, too.

    `before` lists the earlier parts: the name and the arguments to try it with.
    """
    try:
        check(own, want, *args)
    except Failed:
        if not any(is_to_blame(check, getattr(student, name), getattr(ref, name), given) for name, given in before):
            raise


def is_to_blame(check, own, want, args):
    return holds(agree_unnamed, own, want, *args) and not holds(check, own, want, *args)


def without_reference(check):
    return lambda own, want, *args: check(own, *args)


MANNERS = [without_reference(check) for check in (repeatable, leaves_inputs, keeps_dtype, works_on_meta)]


def in_either_width(check, student, *given):
    """Run a check in float64, and once more in float32 where an error comes from a part 1 or 2 that knows no other."""
    try:
        check(student, *given)
    except Failed as failure:
        if failure.verdict.category is not Category.ERROR or keeps_float64(student):
            raise
        check(student, *narrowed(given))


def keeps_float64(student):
    return keeps(student, torch.float64)


def keeps(student, dtype):
    """Whether parts 1 and 2 give results of the dtype of their inputs."""
    X, b = torch.eye(3, dtype=dtype), torch.ones(3, dtype=dtype)
    parts = (student.layer_norm, (X, b, b, EPS)), (student.feed_forward, (X, X, b, X, b))
    return all(holds(keeps_dtype, part, *given, dtypes=[dtype]) for part, given in parts)


def in_float32(student, value):
    """A value in float32, if parts 1 and 2 know that dtype."""
    return narrowed(value) if keeps(student, torch.float32) else value


def narrowed(value):
    if isinstance(value, dict):
        return {name: narrowed(w) for name, w in value.items()}
    if isinstance(value, tuple):
        return tuple(narrowed(item) for item in value)
    return value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def batch_id(batch):
    return f"batch{len(batch)}" if isinstance(batch, tuple) else None


def causal_mask(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def padding_mask(lengths, n):
    """(batch, 1, n): the first lengths[b] tokens of example b."""
    return torch.arange(n) < torch.tensor(lengths)[:, None, None]


def random_mask(*shape):
    """About half of the places; every row has an allowed key."""
    mask = draw("shape", shape=shape) > 0
    first = draw("shape", shape=shape).argmax(dim=-1, keepdim=True)
    return mask.scatter(-1, first, True)


# ------------------------------------------------------------------------------------------------------------
# Part 1: layer_norm
# ------------------------------------------------------------------------------------------------------------


def draw_tokens(batch=(), T=5, d=6, dtype=torch.float64):
    """X, gain and bias."""
    return draw("batch T d", "d", "d", batch=batch, T=T, d=d, dtype=dtype)


@number("1.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"T": 5, "d": 3}, {"T": 3, "d": 8}, {"T": 4, "d": 4}], ids=["5x3", "3x8", "4x4"])
def test_layer_norm(student, sizes):
    """Standardise every token, then gain and bias."""
    X, gain, bias = draw_tokens(**sizes)
    X = X + draw("T 1", T=sizes["T"])
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS)
    agree(student.layer_norm, ref.layer_norm, X[:1], gain, bias, EPS)


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(4,), (2, 3)], ids=batch_id)
def test_layer_norm_batch(student, batch):
    """Every token of every example has its own mean and variance."""
    agree(student.layer_norm, ref.layer_norm, *draw_tokens(batch, T=5, d=7), EPS)


@number("1.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("case", ["small_variance", "large_eps", "constant_tokens"])
def test_layer_norm_eps(student, case):
    """ε stands beside the variance, inside the root."""
    X, gain, bias = draw_tokens((2,), d=4)
    if case == "constant_tokens":
        X[:, 1:4] = torch.tensor([2.5, 0.0, -1.5], dtype=X.dtype)[:, None]
    if case == "small_variance":
        X = 1e-3 * X
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS if case == "small_variance" else 0.1)


@number("1.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("offset", [10_000, -30_000])
def test_layer_norm_offset(student, offset):
    """Tokens far away from 0, in float32."""
    _, gain, bias = draw_tokens(d=8)
    X = offset + torch.randint(-4, 5, (2, 5, 8), generator=current().generator).double()  # all sums are exact
    want = ref.layer_norm(X, gain, bias, EPS)
    agree(student.layer_norm, want, X, gain, bias, EPS)
    try:
        agree(student.layer_norm, want.float(), *narrowed((X, gain, bias)), EPS)
    except Failed as failure:
        if failure.verdict.category not in (Category.VALUE, Category.NAN):
            raise
        fact = "tokens with a large mean come out wrong in float32, though not in float64: digits get lost on the way"
        raise Failed(Verdict(Category.PROPERTY, fact)) from failure


@number("1.5")
@weight(0.5)
@visibility("after_published")
def test_layer_norm_gradients(student):
    """Gradients reach the tokens, the gain and the bias; mean and variance pass their share on."""
    gradients_agree(student.layer_norm, ref.layer_norm, *draw_tokens((2,), d=4), EPS)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_layer_norm_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    check_manners(student.layer_norm, ref.layer_norm, *draw_tokens((2,), dtype=torch.float32), EPS)


def check_manners(got, want, *args):
    """Right in float32 as well; the dtype kept; inputs unchanged; no memory of earlier calls; any device."""
    agree(got, want, *args)
    keeps_dtype(got, *args)
    leaves_inputs(got, *args)
    repeatable(got, *args)
    works_on_meta(got, *args)


# ------------------------------------------------------------------------------------------------------------
# Part 2: feed_forward
# ------------------------------------------------------------------------------------------------------------

WIDE, NARROW, SQUARE = {"T": 5, "d": 4, "d_ff": 7}, {"T": 3, "d": 6, "d_ff": 2}, {"T": 3, "d": 5, "d_ff": 5}


def draw_feed_forward(batch=(), dtype=torch.float64, **sizes):
    """X, W1, b1, W2, b2."""
    specs = "batch T d", "d d_ff", "d_ff", "d_ff d", "d"
    return draw(*specs, batch=batch, dtype=dtype, **sizes)


@number("2.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [WIDE, NARROW, SQUARE], ids=["wide", "narrow", "square"])
def test_feed_forward(student, sizes):
    """Two linear layers with a ReLU between them."""
    X, *weights = draw_feed_forward(**sizes)
    agree(student.feed_forward, ref.feed_forward, X, *weights)
    agree(student.feed_forward, ref.feed_forward, X[:1], *weights)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(3,), (2, 3)], ids=batch_id)
def test_feed_forward_batch(student, batch):
    """The same network for every token of every example."""
    agree(student.feed_forward, ref.feed_forward, *draw_feed_forward(batch, **WIDE))


@number("2.3")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_tokens(student):
    """No information moves between tokens."""
    X, *weights = draw_feed_forward((2,), **WIDE)
    try:
        agree(student.feed_forward, ref.feed_forward, X, *weights)
    except Failed as failure:
        if failure.verdict.category is Category.VALUE and not failure.verdict.causes:
            tokens_apart(student.feed_forward, X, *weights)  # says more than a wrong number
        raise
    tokens_apart(student.feed_forward, X, *weights)


def tokens_apart(got, X, *rest):
    """Changing all other tokens does not change what comes out for a token."""
    others = torch.arange(X.shape[-2]) != 2
    try:
        ignores_padding(got, X, *rest, padding=others, compare=~others)
    except Failed as failure:
        if failure.verdict.category is not Category.PROPERTY:
            raise
        fact = "what comes out for a token changes with the other tokens of the sequence"
        raise Failed(Verdict(Category.PROPERTY, fact)) from failure


@number("2.4")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_gradients(student):
    """Gradients reach the tokens, both weights and both biases."""
    gradients_agree(student.feed_forward, ref.feed_forward, *draw_feed_forward((2,), **WIDE))


@number("2.5")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    check_manners(student.feed_forward, ref.feed_forward, *draw_feed_forward((2,), torch.float32, **WIDE))


# ------------------------------------------------------------------------------------------------------------
# Parts 3 and 4: post_norm_block and pre_norm_block
# ------------------------------------------------------------------------------------------------------------

WEIGHTS = {
    **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), "D D"),
    **dict.fromkeys(("b_Q", "b_K", "b_V", "b_O", "b2", "gain1", "bias1", "gain2", "bias2"), "D"),
    "W1": "D d_ff",
    "b1": "d_ff",
    "W2": "d_ff D",
}
BLOCKS = {
    "three_heads": {"T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "one_head": {"T": 4, "D": 6, "n_heads": 1, "d_ff": 10},
    "one_token": {"T": 1, "D": 10, "n_heads": 2, "d_ff": 3},
    "square": {"T": 7, "D": 8, "n_heads": 2, "d_ff": 8},
}
USUAL = BLOCKS["three_heads"]


def draw_block(batch=(), *, T, D, n_heads, d_ff):
    """X, p and n_heads; what the sublayers put out is of order one."""
    X = draw("batch T D", batch=batch, T=T, D=D)
    p = {name: draw(spec, D=D, d_ff=d_ff) for name, spec in WEIGHTS.items()}
    return X, {name: of_order_one(w, fan_in=w.shape[0]) for name, w in p.items()}, n_heads


def of_order_one(w, fan_in):
    return w / math.sqrt(fan_in) if w.dim() == 2 else w


def scaled(p, names, factor):
    return {name: factor * w if name in names.split() else w for name, w in p.items()}


def draw_tiny_block(small, large=""):
    """A problem in which ε matters: the tokens are small, and so is what is added to them."""
    X, p, n_heads = draw_block((2,), **USUAL)
    return 3e-3 * X, scaled(scaled(p, small, 1e-3), large, 300.0), n_heads


def check_block(student, name, *args):
    in_either_width(agree_block, student, name, *args)


def agree_block(student, name, *args):
    own, want = getattr(student, name), getattr(ref, name)
    agree(own, want, *args, carried=earlier(student, "layer_norm", "feed_forward"))


OFF = {"both_sublayers": "W_O W2", "feed_forward": "W2", "attention": "W_O"}


def check_residuals(student, name, off):
    """A sublayer whose last weight is 0 puts out its bias only: what is left is the path around it."""
    X, p, n_heads = draw_block((2,), **USUAL)
    check_block(student, name, X, scaled(p, OFF[off], 0.0), n_heads)


MASKS = ["causal", "padding", "each_example", "two_batch_axes"]


def draw_mask(kind, T):
    """A batch and a mask for it, as many examples as there are heads in USUAL."""
    return {
        "causal": ((3,), causal_mask(T)),
        "padding": ((3,), padding_mask([T - 1, 2, T], T)),
        "each_example": ((3,), random_mask(3, T, T)),
        "two_batch_axes": ((2, 3), random_mask(2, 1, T, T)),
    }[kind]


def check_masked(student, name, kind):
    batch, mask = draw_mask(kind, USUAL["T"])
    check_block(student, name, *draw_block(batch, **USUAL), mask)


def check_block_gradients(student, name):
    X, p, n_heads = draw_block((2,), **USUAL)
    mask = causal_mask(USUAL["T"])
    check_block(student, name, X, p, n_heads, mask)
    if not current().carried:  # the gradients of a result that stands on other parts 1 and 2 are other ones
        args = X, p, n_heads, mask
        charge(student, gradients_agree, getattr(student, name), getattr(ref, name), args, parts_1_and_2(X, p))


def parts_1_and_2(X, p):
    """The earlier parts of a block, with arguments of its kind."""
    return [
        ("layer_norm", (X, p["gain1"], p["bias1"], EPS)),
        ("feed_forward", (X, p["W1"], p["b1"], p["W2"], p["b2"])),
    ]


def check_block_manners(student, name):
    X, p, n_heads = in_float32(student, draw_block((2,), **USUAL))
    args = X, p, n_heads, random_mask(2, 5, 5)
    check_block(student, name, *args)
    for check in MANNERS:
        charge(student, check, getattr(student, name), getattr(ref, name), args, parts_1_and_2(X, p))


@number("3.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("off", OFF)
def test_post_norm_residuals(student, off):
    """The way around each sublayer: what is left of the block when sublayers are switched off."""
    check_residuals(student, "post_norm_block", off)


@number("3.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", BLOCKS.values(), ids=BLOCKS)
def test_post_norm_block(student, sizes):
    """The whole block: one sequence, no mask."""
    check_block(student, "post_norm_block", *draw_block(**sizes))


@number("3.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 6)], ids=batch_id)
def test_post_norm_batch(student, batch):
    """The block with batch dimensions in front."""
    check_block(student, "post_norm_block", *draw_block(batch, **USUAL))


@number("3.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("kind", MASKS)
def test_post_norm_mask(student, kind):
    """The block under a mask: causal, padding, one for every example."""
    check_masked(student, "post_norm_block", kind)


@number("3.5")
@weight(0.25)
@visibility("after_published")
def test_post_norm_eps(student):
    """Both layer norms use EPS: tokens with a tiny variance."""
    given = draw_tiny_block("W_O b_O W2 b2 gain1 bias1", "W_Q W_K W_V W1")
    check_block(student, "post_norm_block", *given)


@number("3.6")
@weight(0.5)
@visibility("after_published")
def test_post_norm_gradients(student):
    """Gradients flow back through both norms and both residual connections."""
    check_block_gradients(student, "post_norm_block")


@number("3.7")
@weight(0.25)
@visibility("after_published")
def test_post_norm_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    check_block_manners(student, "post_norm_block")


@number("4.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("off", OFF)
def test_pre_norm_residuals(student, off):
    """The way around each sublayer: what is left of the block when sublayers are switched off."""
    check_residuals(student, "pre_norm_block", off)


@number("4.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", BLOCKS.values(), ids=BLOCKS)
def test_pre_norm_block(student, sizes):
    """The whole block: one sequence, no mask."""
    check_block(student, "pre_norm_block", *draw_block(**sizes))


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 6)], ids=batch_id)
def test_pre_norm_batch(student, batch):
    """The block with batch dimensions in front."""
    check_block(student, "pre_norm_block", *draw_block(batch, **USUAL))


@number("4.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("kind", MASKS)
def test_pre_norm_mask(student, kind):
    """The block under a mask: causal, padding, one for every example."""
    check_masked(student, "pre_norm_block", kind)


@number("4.5")
@weight(0.25)
@visibility("after_published")
def test_pre_norm_eps(student):
    """Both layer norms use EPS: tokens with a tiny variance."""
    check_block(student, "pre_norm_block", *draw_tiny_block("W_O b_O W2 b2"))


@number("4.6")
@weight(0.5)
@visibility("after_published")
def test_pre_norm_gradients(student):
    """Gradients flow back through both norms and both residual connections."""
    check_block_gradients(student, "pre_norm_block")


@number("4.7")
@weight(0.25)
@visibility("after_published")
def test_pre_norm_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    check_block_manners(student, "pre_norm_block")


# ------------------------------------------------------------------------------------------------------------
# Part 5: TransformerBlock
# ------------------------------------------------------------------------------------------------------------

NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post_norm", "pre_norm"])
MODULES = {
    "no_batch": {"batch": (), "T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "one_batch": {"batch": (2,), "T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "two_batches": {"batch": (3, 6), "T": 4, "D": 10, "n_heads": 2, "d_ff": 16},
    "one_token": {"batch": (2,), "T": 1, "D": 6, "n_heads": 1, "d_ff": 6},
}


def torch_layer(D, n_heads, d_ff, norm_first):
    """PyTorch's own block."""
    return nn.TransformerEncoderLayer(D, n_heads, d_ff, dropout=0.0, norm_first=norm_first, batch_first=True)


@cache
def torch_shapes(D, n_heads, d_ff):
    return {name: tuple(w.shape) for name, w in torch_layer(D, n_heads, d_ff, False).state_dict().items()}


def draw_module_weights(D, n_heads, d_ff):
    """Weights of order one for every parameter of PyTorch's own block, by name."""
    drawn = {name: draw("shape", shape=shape) for name, shape in torch_shapes(D, n_heads, d_ff).items()}
    return {name: of_order_one(w, fan_in=w.shape[-1]) for name, w in drawn.items()}


def loaded(module, weights):
    """The module with these weights, in their dtype. A student's module takes it by itself."""
    if isinstance(module, nn.Module):
        module.load_state_dict(weights, assign=True)
    else:
        module.load_state_dict(weights)
    return module


def run_block(weights, X, mask, *sizes):
    return loaded(ref.TransformerBlock(*sizes), weights)(X, mask)


def own_runner(student):
    """The same with the student's class."""

    def run_own_block(weights, X, mask, *sizes):
        module = loaded(student.TransformerBlock(*sizes[:3], norm_first=sizes[3]), weights)
        return module(X) if mask is None else module(X, mask)

    return run_own_block


SAME_AS_TORCH = set()
"""The cases in which the reference was found to agree with PyTorch: it does so for every submission, or for none."""


def require_same_as_torch(weights, X, mask, *sizes):
    """PyTorch's own module gives the reference's numbers. Its masks are True where looking is forbidden."""
    if current().id in SAME_AS_TORCH:
        return
    T, D = X.shape[-2:]
    blocked = None
    if mask is not None:
        blocked = ~mask.expand(*X.shape[:-2], T, T).reshape(-1, T, T).repeat_interleave(sizes[1], dim=0)
    theirs = loaded(torch_layer(*sizes), weights)(X.reshape(-1, T, D), src_mask=blocked)
    if not torch.allclose(run_block(weights, X, mask, *sizes), theirs.reshape(X.shape), rtol=1e-9, atol=1e-9):
        raise RuntimeError("the reference and PyTorch's nn.TransformerEncoderLayer disagree")
    SAME_AS_TORCH.add(current().id)


FUNCTIONS = ("layer_norm", "feed_forward", "post_norm_block", "pre_norm_block")


def check_module(student, weights, X, mask, *sizes):
    """The student's module gives the reference's numbers."""
    in_either_width(agree_module, student, weights, X, mask, *sizes)


def agree_module(student, *given):
    own, carried = own_runner(student), earlier(student, *FUNCTIONS)
    with naming_first("TransformerBlock"):
        try:
            agree(own, run_block, *given, carried=carried)
            return
        except Failed as failure:
            if failure.verdict.causes:
                raise
    agree(own, run_block, *given)


@contextmanager
def naming_first(cls):
    """Name mistakes of one class only: those of the functions it calls wait until none of its own fits."""
    case = current()
    everything = case.mistakes
    if everything is not None:
        case.mistakes = Registry([m for m in everything.mistakes if m.target_name.startswith(f"{cls}.")])
    try:
        yield
    finally:
        case.mistakes = everything


def check_like_torch(student, *given):
    """The student's module gives the numbers of PyTorch's."""
    require_same_as_torch(*given)
    check_module(student, *given)


def check_module_of(student, norm_first, batch, T, D, n_heads, d_ff):
    sizes = D, n_heads, d_ff
    weights = draw_module_weights(*sizes)
    check_like_torch(student, weights, draw("batch T D", batch=batch, T=T, D=D), None, *sizes, norm_first)


def outlines(parameters):
    """Names and shapes, with the values of the norms alone, whose start is prescribed."""
    return {
        name: value.detach() if name.startswith("norm") else torch.zeros(value.shape)
        for name, value in parameters.items()
    }


def reference_outlines(*sizes):
    return outlines(dict(ref.TransformerBlock(*sizes).named_parameters()))


@number("5.1")
@weight(0.25)
@visibility("after_published")
@NORMS
def test_module_parameters(student, norm_first):
    """The parameters of nn.TransformerEncoderLayer, by name and shape; gains start as 1, the norms' biases as 0."""
    sizes = 6, 2, 5, norm_first
    theirs = torch_layer(*sizes).state_dict()
    if {name: w.shape for name, w in theirs.items()} != {
        name: w.shape for name, w in ref.TransformerBlock(*sizes).named_parameters()
    }:
        raise RuntimeError("the reference's parameters are not those of nn.TransformerEncoderLayer")

    def own_outlines(*sizes):
        return outlines(student.TransformerBlock(*sizes[:3], norm_first=sizes[3]).parameters())

    agree(own_outlines, reference_outlines, *sizes)
    own = student.TransformerBlock(*sizes[:3], norm_first=norm_first)
    own.has_entries(theirs)
    uses_weights(own, draw("T D", T=4, D=6))


@number("5.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", MODULES.values(), ids=MODULES)
def test_module_post_norm(student, sizes):
    """norm_first=False: the numbers of PyTorch's own module."""
    check_module_of(student, False, **sizes)


@number("5.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", MODULES.values(), ids=MODULES)
def test_module_pre_norm(student, sizes):
    """norm_first=True: the numbers of PyTorch's own module."""
    check_module_of(student, True, **sizes)


@number("5.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("kind", "norm_first"), zip(MASKS, [False, True, False, True], strict=True), ids=MASKS)
def test_module_mask(student, kind, norm_first):
    """Under a mask: causal, padding, one for every example; True means may look."""
    batch, mask = draw_mask(kind, 5)
    weights = draw_module_weights(12, 3, 7)
    check_like_torch(student, weights, draw("batch T D", batch=batch, T=5, D=12), mask, 12, 3, 7, norm_first)


@number("5.5")
@weight(0.25)
@visibility("after_published")
@NORMS
def test_module_eps(student, norm_first):
    """Both norms of the module use EPS: tokens with a tiny variance."""
    weights, small = draw_module_weights(12, 3, 7), "self_attn.out_proj.weight self_attn.out_proj.bias"
    weights = scaled(weights, small + " linear2.weight linear2.bias", 1e-3)
    if not norm_first:
        weights = scaled(weights, "norm1.weight norm1.bias", 1e-3)
        weights = scaled(weights, "self_attn.in_proj_weight linear1.weight", 300.0)
    check_like_torch(student, weights, 3e-3 * draw("batch T D", batch=(2,), T=5, D=12), None, 12, 3, 7, norm_first)


@number("5.6")
@weight(0.75)
@visibility("after_published")
@NORMS
def test_module_gradients(student, norm_first):
    """Gradients reach the tokens and every parameter."""
    sizes = 12, 3, 7, norm_first
    weights, X, mask = draw_module_weights(*sizes[:3]), draw("batch T D", batch=(2,), T=5, D=12), random_mask(2, 5, 5)
    check_like_torch(student, weights, X, mask, *sizes)
    if current().carried:
        return  # the gradients of a result that stands on other earlier parts are other ones
    own = loaded(student.TransformerBlock(*sizes[:3], norm_first=norm_first), weights)
    before = parts_1_to_4(weights, X, mask, *sizes)
    charge(student, gradients_agree, own, loaded(torch_layer(*sizes), weights), [X], before)
    charge(student, gradients_agree, own, loaded(ref.TransformerBlock(*sizes), weights), [X, mask], before)


def parts_1_to_4(weights, X, mask, D, n_heads, d_ff, norm_first):
    """The earlier parts of a module, with the arguments it calls them with."""
    p, block = weights_by_part(weights), "pre_norm_block" if norm_first else "post_norm_block"
    return [*parts_1_and_2(X, p), (block, (X, p, n_heads, mask))]


@number("5.7")
@weight(0.5)
@visibility("after_published")
def test_module_manners(student):
    """The same in eval mode and every time, in float32 and on any device; inputs and parameters are left alone."""
    sizes = 12, 3, 7, True
    weights, X, mask = draw_module_weights(*sizes[:3]), draw("batch T D", batch=(2,), T=5, D=12), random_mask(2, 5, 5)
    weights, X = in_float32(student, (weights, X))
    own = loaded(student.TransformerBlock(*sizes[:3], norm_first=True), weights)
    same_in_both_modes(own, X, mask)
    check_module(student, weights, X, mask, *sizes)
    agree(named(own.state_dict(), weights), weights)
    for check in MODULE_MANNERS:
        charge(student, check, own, None, [X, mask], parts_1_to_4(weights, X, mask, *sizes))


def named(entries, names):
    """Those of the entries that the handout names."""
    return {name: value for name, value in entries.items() if name in names}


def keeps_float32(got, *args):
    keeps_dtype(got, *args, dtypes=[torch.float32])


MODULE_MANNERS = [without_reference(check) for check in (repeatable, leaves_inputs, keeps_float32, works_on_meta)]


def weights_by_part(weights):
    """PyTorch's weights under the names of parts 3 and 4, as (in, out)."""
    p = {}
    for kind, letter in (("weight", "W"), ("bias", "b")):
        for role, block in zip("QKV", weights[f"self_attn.in_proj_{kind}"].chunk(3), strict=True):
            p[f"{letter}_{role}"] = block.T.contiguous() if kind == "weight" else block
        p[f"{letter}_O"] = weights[f"self_attn.out_proj.{kind}"]
        p[f"{letter}1"], p[f"{letter}2"] = weights[f"linear1.{kind}"], weights[f"linear2.{kind}"]
    for i in (1, 2):
        p[f"gain{i}"], p[f"bias{i}"] = weights[f"norm{i}.weight"], weights[f"norm{i}.bias"]
    return p | {name: p[name].T.contiguous() for name in ("W_O", "W1", "W2")}


def same_in_both_modes(own, *args):
    try:
        agree(own.eval()(*args), own.train()(*args))
    except Failed as failure:
        if failure.verdict.category is Category.ERROR:
            raise
        fact = f"{own.name} gives other results in train() than in eval()"
        raise Failed(Verdict(Category.PROPERTY, fact)) from failure


# ------------------------------------------------------------------------------------------------------------
# Part 6: Transformer
# ------------------------------------------------------------------------------------------------------------

VOCABULARY, LONGEST, D, N_HEADS, D_FF, LAYERS = SMALL = 11, 9, 12, 3, 7, 2
TOKENS = {
    "no_batch": ((), 5, False),
    "one_batch": ((4,), 5, True),
    "two_batches": ((2, 3), 4, False),
    "longest": ((2,), LONGEST, True),
    "one_token": ((3,), 1, False),
}


def draw_transformer_weights(vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
    """Weights of order one by the names of the handout; those of the blocks are PyTorch's."""
    weights = {"embed.weight": draw("V D", V=vocab_size, D=d_model), "positions": draw("L D", L=max_len, D=d_model)}
    for i in range(n_layers):
        block = draw_module_weights(d_model, n_heads, d_ff)
        weights.update({f"blocks.{i}.{name}": w for name, w in block.items()})
    return weights


def draw_ids(*shape):
    """Token ids; 0 is among them."""
    ids = torch.randint(0, VOCABULARY, shape, generator=current().generator)
    ids[..., shape[-1] // 2] = 0
    return ids


def run_transformer(weights, tokens, *sizes):
    return loaded(ref.Transformer(*sizes), weights)(tokens)


def run_block_by_block(weights, tokens, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first):
    """The same from blocks that are run one by one, so that the student's own block can stand in."""
    T = tokens.shape[-1]
    X = weights["embed.weight"][tokens] + weights["positions"][:T]
    for i in range(n_layers):
        start = f"blocks.{i}."
        block = {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}
        X = run_block(block, X, causal_mask(T), d_model, n_heads, d_ff, norm_first)
    return X


def own_transformer(student, *sizes):
    return student.Transformer(*sizes[:-1], norm_first=sizes[-1])


def check_transformer(student, weights, tokens, *sizes):
    """The student's transformer gives the reference's numbers, or those its own blocks make."""
    in_either_width(agree_transformer, student, weights, tokens, *sizes)


def agree_transformer(student, weights, tokens, *sizes):
    def run_own(weights, tokens, *sizes):
        return loaded(own_transformer(student, *sizes), weights)(tokens)

    given = weights, tokens, *sizes
    with naming_first("Transformer"):
        try:
            agree(run_own, run_transformer, *given, carried=earlier(student, *FUNCTIONS))
            return
        except Failed as failure:
            if is_a_stack_of_own_blocks(student, run_own, *given):
                return
            if failure.verdict.causes:
                raise
    agree(run_own, run_transformer, *given)


def is_a_stack_of_own_blocks(student, run_own, *given):
    """Whether the answer is right given the student's own part 5."""
    right = holds(agree_unnamed, run_own, run_block_by_block, *given, carried={"run_block": own_runner(student)})
    carried = current().carried
    carried[:] = ["TransformerBlock" if name == "run_block" else name for name in carried]
    return right


@number("6.1")
@weight(0.25)
@visibility("after_published")
def test_transformer_parameters(student):
    """The parameters of the handout by name and shape; every block has its own."""

    def own_shapes(*sizes):
        return shapes_of(own_transformer(student, *sizes).parameters())

    block = dict(torch_layer(D, N_HEADS, D_FF, False).named_parameters())
    if not same_shapes(reference_shapes(*SMALL, False), shapes_around(block)):
        raise RuntimeError("the reference's parameters are not those of the handout")
    own = own_transformer(student, *SMALL, False)
    if not holds(lambda: own.has_entries(shapes_around(own_block(student).state_dict()))):
        agree(own_shapes, reference_shapes, *SMALL, False)
        own.has_entries(reference_shapes(*SMALL, False))
    uses_weights(own, draw_ids(3))


def shapes_of(parameters):
    return {name: torch.zeros(w.shape) for name, w in parameters.items()}


def same_shapes(ones, others):
    return {name: w.shape for name, w in ones.items()} == {name: w.shape for name, w in others.items()}


def reference_shapes(*sizes):
    return shapes_of(dict(ref.Transformer(*sizes).named_parameters()))


def shapes_around(block):
    """What a transformer of such blocks has."""
    around = {"embed.weight": torch.zeros(VOCABULARY, D), "positions": torch.zeros(LONGEST, D)}
    return around | {f"blocks.{i}.{name}": w for i in range(LAYERS) for name, w in shapes_of(block).items()}


def own_block(student):
    return student.TransformerBlock(D, N_HEADS, D_FF, norm_first=True)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "T", "norm_first"), TOKENS.values(), ids=TOKENS)
def test_transformer(student, batch, T, norm_first):
    """Embedding, positions, and a stack of causal blocks."""
    given = draw_transformer_weights(*SMALL), draw_ids(*batch, T), *SMALL, norm_first
    if not torch.allclose(run_transformer(*given), run_block_by_block(*given), rtol=1e-9, atol=1e-9):
        raise RuntimeError("the reference's Transformer is not a stack of its blocks")
    check_transformer(student, *given)


@number("6.3")
@weight(0.25)
@visibility("after_published")
def test_transformer_causality(student):
    """Changing token t changes no output before t."""
    weights, scores = draw_transformer_weights(*SMALL), draw("N T V", N=2, T=7, V=VOCABULARY)
    own = OfLargest(loaded(own_transformer(student, *SMALL, True), weights))
    try:
        check_transformer(student, weights, scores.argmax(-1), *SMALL, True)
    except Failed as failure:
        if not failure.verdict.causes:
            causal(own, scores)  # a leak says more than wrong numbers
        raise
    if not current().carried:
        causal(own, scores)


class OfLargest:
    """A transformer as a function of real numbers (…, T, vocab_size), so that a check can change tokens."""

    name = "Transformer"

    def __init__(self, module):
        self.module = module

    def __call__(self, scores):
        return self.module(scores.argmax(-1))

    def call(self, args, kwargs):
        return Answer(self(*args))


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_transformer_gradients(student):
    """Gradients reach every parameter of the stack, the embedding and the positions."""
    sizes = *SMALL, True
    weights, tokens = draw_transformer_weights(*SMALL), draw_ids(2, 5)
    check_transformer(student, weights, tokens, *sizes)
    if not current().carried:
        own, ours = loaded(own_transformer(student, *sizes), weights), loaded(ref.Transformer(*sizes), weights)
        charge_transformer(student, gradients_agree, own, ours, tokens)


def charge_transformer(student, check, own, ours, tokens):
    """Make a check; its failure counts unless the student's own block fails it, too."""
    weights, X = draw_module_weights(D, N_HEADS, D_FF), draw("N T D", N=2, T=5, D=D)
    block = loaded(ref.TransformerBlock(D, N_HEADS, D_FF, True), weights)
    try:
        check(own, ours, tokens)
    except Failed:
        if not is_to_blame(check, loaded(own_block(student), weights), block, [X, causal_mask(5)]):
            raise


@number("6.5")
@weight(0.25)
@visibility("after_published")
def test_transformer_too_long(student):
    """A sequence that is longer than max_len raises ValueError, and one of max_len does not."""
    own = own_transformer(student, *SMALL, False)
    own(draw_ids(2, LONGEST))
    for T in (LONGEST + 1, 2 * LONGEST):
        raises(ValueError, own, draw_ids(2, T))


@number("6.6")
@weight(0.25)
@visibility("after_published")
def test_transformer_manners(student):
    """The same in eval mode and every time, in float32 and on any device; tokens and parameters are left alone."""
    weights, tokens = in_float32(student, draw_transformer_weights(*SMALL)), draw_ids(2, 5)
    own = loaded(own_transformer(student, *SMALL, True), weights)
    same_in_both_modes(own, tokens)
    check_transformer(student, weights, tokens, *SMALL, True)
    if not current().carried:
        agree(named(own.state_dict(), weights), weights)
    for check in MODULE_MANNERS[:2] + MODULE_MANNERS[3:]:
        charge_transformer(student, check, own, None, tokens)

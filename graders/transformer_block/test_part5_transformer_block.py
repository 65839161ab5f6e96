"""Hidden tests, part 5: the block as a module."""

from itertools import cycle

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.inputs import MASKS, draw_mask, scaled
from graders.transformer_block.manners import MODULE_MANNERS, same_in_both_modes
from graders.transformer_block.modules import (
    check_in_turn,
    draw_module_weights,
    loaded,
    named,
    own_runner,
    run_block,
    torch_layer,
)
from reference import transformer_block as ref
from softmark import (
    Failed,
    agree,
    agree_at_extremes,
    agree_in_turn,
    causal_mask,
    confirm_reference,
    draw,
    gradients_agree,
    naming_only,
    random_mask,
    to_float32,
    uses_weights,
    without_values,
)

NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post_norm", "pre_norm"])
MODULES = {
    "no_batch": {"batch": (), "T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "one_batch": {"batch": (2,), "T": 5, "D": 12, "n_heads": 3, "d_ff": 7},
    "two_batches": {"batch": (3, 6), "T": 4, "D": 10, "n_heads": 2, "d_ff": 16},
    "one_token": {"batch": (6,), "T": 1, "D": 6, "n_heads": 1, "d_ff": 6},
    "one_unit": {"batch": (1,), "T": 8, "D": 10, "n_heads": 1, "d_ff": 1},
    "all_alike": {"batch": (4,), "T": 4, "D": 4, "n_heads": 4, "d_ff": 4},
    "as_many_tokens_as_features": {"batch": (3, 6), "T": 6, "D": 6, "n_heads": 3, "d_ff": 24},
    "long": {"batch": (5,), "T": 33, "D": 10, "n_heads": 5, "d_ff": 3},
    "very_long": {"batch": (), "T": 100, "D": 4, "n_heads": 2, "d_ff": 3},
    "broad": {"batch": (36,), "T": 2, "D": 36, "n_heads": 4, "d_ff": 65},
}
SEVERAL = [((12, 3, 7), {"norm_first": True}), ((12, 3, 7), {}), ((12, 4, 9), {"norm_first": True})]
"""Sizes and options of modules that are alive at a time."""
TORCH = "PyTorch's nn.TransformerEncoderLayer"


def run_torch(weights, X, mask, *sizes):
    """Return what PyTorch's own module answers. Its masks are True where looking is forbidden."""
    T, D = X.shape[-2:]
    blocked = None
    if mask is not None:
        blocked = ~mask.expand(*X.shape[:-2], T, T).reshape(-1, T, T).repeat_interleave(sizes[1], dim=0)
    return loaded(torch_layer(*sizes), weights)(X.reshape(-1, T, D), src_mask=blocked).reshape(X.shape)


def check_module(student, weights, X, mask, *sizes):
    """Check that the student's module gives the reference's numbers."""
    own, given = own_runner(student), (weights, X, mask, *sizes)
    with naming_only("TransformerBlock"):
        try:
            agree(own, run_block, *given)
            return
        except Failed as failure:
            if failure.verdict.causes:
                raise
    agree(own, run_block, *given)


def check_like_torch(student, *given):
    """Check that the student's module gives the numbers of PyTorch's."""
    confirm_reference(lambda: run_block(*given), lambda: run_torch(*given), TORCH)
    check_module(student, *given)


def check_module_of(student, norm_first, batch, T, D, n_heads, d_ff):
    sizes = D, n_heads, d_ff
    weights = draw_module_weights(*sizes)
    check_like_torch(student, weights, draw("batch T D", batch=batch, T=T, D=D), None, *sizes, norm_first)


def outlines(parameters):
    """Return names and shapes, with the values of the norms alone, whose start is prescribed."""
    norms = {name: value.detach() for name, value in parameters.items() if name.startswith("norm")}
    return without_values(parameters) | norms


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
    confirm_reference(lambda: without_values(reference_outlines(*sizes)), lambda: without_values(theirs), TORCH)

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
@pytest.mark.parametrize(("kind", "norm_first"), zip(MASKS, cycle([False, True])), ids=MASKS)
def test_module_mask(student, kind, norm_first):
    """Under a mask: causal, padding, one for every example; True means may look."""
    batch, mask = draw_mask(kind, 5)
    weights = draw_module_weights(12, 3, 7)
    X = draw("batch T D", batch=batch, T=mask.shape[-1], D=12)
    check_like_torch(student, weights, X, mask, 12, 3, 7, norm_first)


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
    weights, X, mask = (
        draw_module_weights(*sizes[:3]),
        draw("batch T D", batch=(2,), T=5, D=12),
        random_mask(2, 5, 5),
    )
    check_like_torch(student, weights, X, mask, *sizes)
    own = loaded(student.TransformerBlock(*sizes[:3], norm_first=norm_first), weights)
    gradients_agree(own, loaded(torch_layer(*sizes), weights), X)
    ours = loaded(ref.TransformerBlock(*sizes), weights)
    for scale in (1, 40):
        gradients_agree(own, ours, scale * X, mask)
    gradients_agree(own, ours, draw("T D", T=18, D=12))
    agree_at_extremes(own, ours, X, mask)


@number("5.7")
@weight(0.5)
@visibility("after_published")
def test_module_manners(student):
    """In eval mode, after any calls, in float32, on any device, post-norm by default; inputs are left alone."""
    sizes = 12, 3, 7, True
    weights, X, mask = (
        draw_module_weights(*sizes[:3]),
        draw("batch T D", batch=(2,), T=5, D=12),
        random_mask(2, 5, 5),
    )
    doubles, (weights, X) = weights, to_float32((weights, X))
    own = loaded(student.TransformerBlock(*sizes[:3], norm_first=True), weights)
    same_in_both_modes(own, X, mask)
    check_module(student, weights, X, mask, *sizes)
    agree(named(own.state_dict(), weights), weights)
    for check in MODULE_MANNERS:
        check(own, X, mask)
    ours = loaded(ref.TransformerBlock(*sizes), weights)
    longer, token = to_float32(draw("1 3 T D", "1 1 1 D", T=8, D=12))
    calls = (longer, random_mask(1, 1, 8, 8)), (token, token[..., :1] < 9), (X, ~mask | causal_mask(5))
    agree_in_turn(own, ours, [X], (X, mask), *calls, [40 * X])
    agree(loaded(own, doubles), loaded(ours, doubles), X.double())
    pairs = [(student.TransformerBlock(*s, **options), ref.TransformerBlock(*s, **options)) for s, options in SEVERAL]
    check_in_turn(pairs, [draw_module_weights(*s) for s, _ in SEVERAL], draw("2 5 12"))

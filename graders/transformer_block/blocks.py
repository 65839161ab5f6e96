"""The checks of parts 3 and 4, which are the same for the post-norm and the pre-norm block."""

from graders.transformer_block.inputs import BLOCKS, USUAL, draw_block, draw_mask, scaled
from graders.transformer_block.manners import MANNERS
from reference import transformer_block as ref
from softmark import agree, agree_in_turn, causal_mask, draw, gradients_agree, random_mask, to_float32


def check_block(student, name, *args):
    agree(getattr(student, name), getattr(ref, name), *args)


OFF = {"both_sublayers": "W_O W2", "feed_forward": "W2", "attention": "W_O"}


def check_residuals(student, name, off):
    """Check the residual connections: a sublayer whose last weight is 0 puts out only its bias."""
    X, p, n_heads = draw_block((2,), **USUAL)
    check_block(student, name, X, scaled(p, OFF[off], 0.0), n_heads)


def check_masked(student, name, kind):
    batch, mask = draw_mask(kind, USUAL["T"])
    check_block(student, name, *draw_block(batch, **{**USUAL, "T": mask.shape[-1]}), mask)


def check_block_gradients(student, name):
    X, p, n_heads = draw_block((2,), **USUAL)
    mask = causal_mask(USUAL["T"])
    check_block(student, name, X, p, n_heads, mask)
    for scale in (1, 40):
        gradients_agree(getattr(student, name), getattr(ref, name), scale * X, p, n_heads, mask)
    for batch, sizes in ((), "long"), ((2, 3), "all_alike"), ((1,), "one_head"):
        gradients_agree(getattr(student, name), getattr(ref, name), *draw_block(batch, **BLOCKS[sizes]))


def check_block_manners(student, name):
    X, p, n_heads = to_float32(draw_block((2,), **USUAL))
    args = X, p, n_heads, random_mask(2, 5, 5)
    for check in MANNERS:
        check(getattr(student, name), *args)
    check_block(student, name, *args)
    first = X, *_ = draw_block((2,), **USUAL)
    larger = *draw_block((1, 3), T=8, D=16, n_heads=4, d_ff=9), random_mask(1, 1, 8, 8)
    token = draw_block((), T=1, D=1, n_heads=1, d_ff=1)
    calls = (*first, args[-1]), (*token, token[0] < 9), (*first, causal_mask(5)), (40 * X, *first[1:])
    agree_in_turn(getattr(student, name), getattr(ref, name), first, larger, *calls)
    for X in (0 * first[0], 1e-3 * first[0], 1000 + first[0], 1000 * first[0]):
        check_block(student, name, X, *first[1:])
    check_block(student, name, *to_float32((100 * draw("2 5 1") + first[0], *first[1:])))

"""The checks of parts 3 and 4, which are the same for the post-norm and the pre-norm block."""

from graders.transformer_block.earlier_parts import charge, earlier, in_either_width, in_float32, parts_1_and_2
from graders.transformer_block.inputs import USUAL, draw_block, draw_mask, mask_with_allowed_keys, scaled
from graders.transformer_block.manners import MANNERS
from reference import transformer_block as ref
from softmark import agree, causal_mask, current_test, gradients_agree


def check_block(student, name, *args):
    in_either_width(agree_block, student, name, *args)


def agree_block(student, name, *args):
    own, want = getattr(student, name), getattr(ref, name)
    agree(own, want, *args, carried=earlier(student, "layer_norm", "feed_forward"))


OFF = {"both_sublayers": "W_O W2", "feed_forward": "W2", "attention": "W_O"}


def check_residuals(student, name, off):
    """Check the path around sublayers: one whose last weight is 0 puts out its bias only."""
    X, p, n_heads = draw_block((2,), **USUAL)
    check_block(student, name, X, scaled(p, OFF[off], 0.0), n_heads)


def check_masked(student, name, kind):
    batch, mask = draw_mask(kind, USUAL["T"])
    check_block(student, name, *draw_block(batch, **USUAL), mask)


def check_block_gradients(student, name):
    X, p, n_heads = draw_block((2,), **USUAL)
    mask = causal_mask(USUAL["T"])
    check_block(student, name, X, p, n_heads, mask)
    if not current_test().carried:  # the gradients of a result that stands on other parts 1 and 2 are other ones
        args = X, p, n_heads, mask
        charge(student, gradients_agree, getattr(student, name), getattr(ref, name), args, parts_1_and_2(X, p))


def check_block_manners(student, name):
    X, p, n_heads = in_float32(student, draw_block((2,), **USUAL))
    args = X, p, n_heads, mask_with_allowed_keys(2, 5, 5)
    check_block(student, name, *args)
    for check in MANNERS:
        charge(student, check, getattr(student, name), getattr(ref, name), args, parts_1_and_2(X, p))

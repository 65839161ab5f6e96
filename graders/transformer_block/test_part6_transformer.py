"""Hidden tests, part 6: the transformer."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.earlier_parts import (
    earlier,
    in_either_width,
    in_float32,
    is_to_blame,
)
from graders.transformer_block.manners import MODULE_MANNERS, same_in_both_modes
from graders.transformer_block.modules import (
    FUNCTIONS,
    draw_module_weights,
    loaded,
    named,
    own_runner,
    run_block_by_block,
    torch_layer,
)
from reference import transformer_block as ref
from softmark import (
    Answer,
    Failed,
    agree,
    causal,
    causal_mask,
    confirm_reference,
    current_test,
    draw,
    draw_integers,
    errs,
    gradients_agree,
    holds,
    naming_only,
    raises,
    uses_weights,
    without_values,
)

VOCABULARY, LONGEST, D, N_HEADS, D_FF, LAYERS = SMALL = 11, 9, 12, 3, 7, 2
TOKENS = {
    "no_batch": ((), 8, False),
    "one_batch": ((4,), 5, True),
    "two_batches": ((2, 3), 4, False),
    "longest": ((2,), LONGEST, True),
    "one_token": ((8,), 1, False),
}


def draw_transformer_weights(vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
    """Draw weights of order one by the names of the handout; those of the blocks are PyTorch's."""
    weights = {"embed.weight": draw("V D", V=vocab_size, D=d_model), "positions": draw("L D", L=max_len, D=d_model)}
    for i in range(n_layers):
        block = draw_module_weights(d_model, n_heads, d_ff)
        weights.update({f"blocks.{i}.{name}": w for name, w in block.items()})
    return weights


def draw_ids(*shape):
    """Draw token ids; 0 is among them."""
    ids = draw_integers(0, VOCABULARY, "shape", shape=shape)
    ids[..., shape[-1] // 2] = 0
    return ids


def run_transformer(weights, tokens, *sizes):
    return loaded(ref.Transformer(*sizes), weights)(tokens)


def own_transformer(student, *sizes):
    return student.Transformer(*sizes[:-1], norm_first=sizes[-1])


def check_transformer(student, weights, tokens, *sizes):
    """Check that the student's transformer gives the reference's numbers, or those its own blocks make."""
    in_either_width(agree_transformer, student, weights, tokens, *sizes)


def agree_transformer(student, weights, tokens, *sizes):
    def run_own(weights, tokens, *sizes):
        return loaded(own_transformer(student, *sizes), weights)(tokens)

    given = weights, tokens, *sizes
    with naming_only("Transformer"):
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
    """Return whether the answer is right given the student's own part 5, which errs."""
    if not errs(student.TransformerBlock):
        return False
    right = holds(agree, run_own, run_block_by_block, *given, carried={"run_block": own_runner(student)})
    carried = current_test().carried  # the students' name for what `run_block` runs
    carried[:] = ["TransformerBlock" if name == "run_block" else name for name in carried]
    return right


@number("6.1")
@weight(0.25)
@visibility("after_published")
def test_transformer_parameters(student):
    """The parameters of the handout by name and shape; every block has its own."""

    def own_shapes(*sizes):
        return without_values(own_transformer(student, *sizes).parameters())

    block = dict(torch_layer(D, N_HEADS, D_FF, False).named_parameters())
    confirm_reference(lambda: reference_shapes(*SMALL, False), lambda: shapes_around(block), "the handout")
    own = own_transformer(student, *SMALL, False)
    if not (errs(student.TransformerBlock) and holds(own.has_entries, shapes_around(own_block(student).state_dict()))):
        agree(own_shapes, reference_shapes, *SMALL, False)
        own.has_entries(reference_shapes(*SMALL, False))
    uses_weights(own, draw_ids(3))


def reference_shapes(*sizes):
    return without_values(dict(ref.Transformer(*sizes).named_parameters()))


def shapes_around(block):
    """Return the parameters of a transformer of such blocks, without their values."""
    around = {"embed.weight": torch.zeros(VOCABULARY, D), "positions": torch.zeros(LONGEST, D)}
    return around | {f"blocks.{i}.{name}": w for i in range(LAYERS) for name, w in without_values(block).items()}


def own_block(student):
    return student.TransformerBlock(D, N_HEADS, D_FF, norm_first=True)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "T", "norm_first"), TOKENS.values(), ids=TOKENS)
def test_transformer(student, batch, T, norm_first):
    """Embedding, positions, and a stack of causal blocks."""
    given = draw_transformer_weights(*SMALL), draw_ids(*batch, T), *SMALL, norm_first
    confirm_reference(lambda: run_transformer(*given), lambda: run_block_by_block(*given), "a stack of its blocks")
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
    if not current_test().carried:
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
    if not current_test().carried:
        own, ours = loaded(own_transformer(student, *sizes), weights), loaded(ref.Transformer(*sizes), weights)
        charge_transformer(student, gradients_agree, own, ours, tokens)


def charge_transformer(student, check, own, ours, tokens):
    """Make a check; its failure counts unless the student's own block fails it, too."""
    weights, X = draw_module_weights(D, N_HEADS, D_FF), draw("N T D", N=2, T=5, D=D)
    block = loaded(ref.TransformerBlock(D, N_HEADS, D_FF, True), weights)
    try:
        check(own, ours, tokens)
    except Failed:
        args = X, causal_mask(5)
        if not is_to_blame(check, student.TransformerBlock, block, args, lambda _: loaded(own_block(student), weights)):
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
    if not current_test().carried:
        agree(named(own.state_dict(), weights), weights)
    for check in MODULE_MANNERS[:2] + MODULE_MANNERS[3:]:
        charge_transformer(student, check, own, None, tokens)

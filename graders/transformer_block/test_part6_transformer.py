"""Hidden tests, part 6: the transformer."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.manners import same_in_both_modes
from graders.transformer_block.modules import (
    check_in_turn,
    draw_module_weights,
    loaded,
    named,
    run_block_by_block,
    torch_layer,
)
from reference import transformer_block as ref
from softmark import (
    Answer,
    Failed,
    agree,
    agree_in_turn,
    causal,
    confirm_reference,
    draw,
    draw_integers,
    gradients_agree,
    leaves_inputs,
    naming_only,
    raises,
    repeatable,
    to_float32,
    uses_weights,
    without_values,
    works_on_meta,
)

VOCABULARY, LONGEST, D, N_HEADS, D_FF, LAYERS = SMALL = 11, 9, 12, 3, 7, 2
TOKENS = {
    "no_batch": ((), 8, SMALL, False),
    "one_batch": ((4,), 5, SMALL, True),
    "two_batches": ((2, 3), 4, SMALL, False),
    "longest": ((2,), LONGEST, SMALL, True),
    "one_token": ((8,), 1, SMALL, False),
    "one_layer": ((1,), 5, (11, 6, 10, 2, 12, 1), True),
    "three_layers": ((2,), 5, (11, 6, 6, 1, 6, 3), False),
    "one_word": ((2,), 9, (1, 9, 6, 1, 1, 1), False),
    "one_place": ((8,), 1, (11, 1, 6, 1, 7, 1), True),
    "all_alike": ((4,), 4, (4, 4, 4, 4, 4, 4), True),
    "long": ((2,), 33, (33, 40, 6, 3, 2, 1), True),
    "very_long": ((), 100, (5, 100, 4, 2, 3, 1), False),
    "square": ((5, 12), 12, (12, 12, 12, 2, 48, 2), False),
}
SEVERAL = [
    ((11, 9, 6, 3, 4, 2), {"norm_first": True}),
    ((11, 9, 6, 3, 4, 2), {}),
    ((11, 20, 6, 2, 5, 3), {"norm_first": True}),
]
"""Sizes and options of modules that are alive at a time."""


def draw_transformer_weights(vocab_size, max_len, d_model, n_heads, d_ff, n_layers):
    """Draw weights of order one by the names of the handout; those of the blocks are PyTorch's."""
    weights = {"embed.weight": draw("V D", V=vocab_size, D=d_model), "positions": draw("L D", L=max_len, D=d_model)}
    for i in range(n_layers):
        block = draw_module_weights(d_model, n_heads, d_ff)
        weights.update({f"blocks.{i}.{name}": w for name, w in block.items()})
    return weights


def draw_ids(*shape, vocab_size=VOCABULARY):
    """Draw token ids; 0 is among them."""
    ids = draw_integers(0, vocab_size, "shape", shape=shape)
    ids[..., shape[-1] // 2] = 0
    return ids


def run_transformer(weights, tokens, *sizes):
    return loaded(ref.Transformer(*sizes), weights)(tokens)


def own_transformer(student, *sizes):
    return student.Transformer(*sizes[:-1], norm_first=sizes[-1])


def check_transformer(student, *given):
    """Check that the student's transformer gives the reference's numbers."""

    def run_own(weights, tokens, *sizes):
        return loaded(own_transformer(student, *sizes), weights)(tokens)

    with naming_only("Transformer"):
        try:
            agree(run_own, run_transformer, *given)
            return
        except Failed as failure:
            if failure.verdict.causes:
                raise
    agree(run_own, run_transformer, *given)


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
    agree(own_shapes, reference_shapes, *SMALL, False)
    own.has_entries(reference_shapes(*SMALL, False))
    uses_weights(own, draw_ids(3))


def reference_shapes(*sizes):
    return without_values(dict(ref.Transformer(*sizes).named_parameters()))


def shapes_around(block):
    """Return the parameters of a transformer of such blocks, without their values."""
    around = {"embed.weight": torch.zeros(VOCABULARY, D), "positions": torch.zeros(LONGEST, D)}
    return around | {f"blocks.{i}.{name}": w for i in range(LAYERS) for name, w in without_values(block).items()}


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "T", "sizes", "norm_first"), TOKENS.values(), ids=TOKENS)
def test_transformer(student, batch, T, sizes, norm_first):
    """Embedding, positions, and a stack of causal blocks."""
    given = draw_transformer_weights(*sizes), draw_ids(*batch, T, vocab_size=sizes[0]), *sizes, norm_first
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
    own, ours = loaded(own_transformer(student, *sizes), weights), loaded(ref.Transformer(*sizes), weights)
    gradients_agree(own, ours, tokens)


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
    """In eval mode, after any calls, in float32, on any device, post-norm by default; tokens are left alone."""
    doubles, tokens = draw_transformer_weights(*SMALL), draw_ids(2, 5)
    weights = to_float32(doubles)
    own = loaded(own_transformer(student, *SMALL, True), weights)
    same_in_both_modes(own, tokens)
    check_transformer(student, weights, tokens, *SMALL, True)
    agree(named(own.state_dict(), weights), weights)
    for check in (repeatable, leaves_inputs, works_on_meta):
        check(own, tokens)
    ours = loaded(ref.Transformer(*SMALL, True), weights)
    agree_in_turn(own, ours, [tokens], [draw_ids(1, 8)], [draw_ids(3)], [draw_ids(2, 5)])
    agree(loaded(own, doubles), loaded(ours, doubles), tokens)
    pairs = [(student.Transformer(*s, **options), ref.Transformer(*s, **options)) for s, options in SEVERAL]
    check_in_turn(pairs, [draw_transformer_weights(*s) for s, _ in SEVERAL], tokens)
    for same in (0, VOCABULARY - 1):
        agree(*pairs[0], torch.full((2, 5), same))

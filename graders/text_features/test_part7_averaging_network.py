"""Hidden tests of part 7: the averaging network."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import BATCHES, NAMES_OF_BATCHES, draw_ids
from graders.text_features.modules import (
    SIZES,
    draw_texts,
    draw_weights,
    gradients,
    loaded,
    own_gradients,
    own_runner,
    pair,
    run,
)
from reference import text_features as ref
from softmark import (
    agree,
    agree_in_turn,
    draw,
    draw_integers,
    gradients_agree,
    leaves_inputs,
    repeatable,
    uses_weights,
    without_values,
    works_on_meta,
)

ORDINARY = SIZES["ordinary"]


@number("7.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("frozen", [False, True])
def test_parameters(student, frozen):
    """The parameters by name and shape, and nothing else in the state_dict."""

    def outlines(**sizes):
        return without_values(dict(ref.AveragingNetwork(**sizes).named_parameters()))

    def own_outlines(**sizes):
        return without_values(student.AveragingNetwork(**sizes).parameters())

    agree(own_outlines, outlines, **ORDINARY, frozen=frozen)
    own = student.AveragingNetwork(**ORDINARY, frozen=frozen)
    own.has_entries(draw_weights(ORDINARY))
    uses_weights(own, draw_integers(4, 10, "N T", N=3, T=5))


@number("7.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_without_padding(student, sizes):
    """The mean of the word vectors and the MLP, for one text without padding."""
    for T in 6, 1:
        ids = draw_integers(1, sizes["size"] + 4, "T", T=T)
        agree(own_runner(student), run, draw_weights(sizes), ids, sizes)


@number("7.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_padding(student, batch):
    """Padded texts with batch dimensions in front: the padding is left out, wherever it stands."""
    for name, T, before in ("ordinary", 5, 2), ("all_alike", 4, 0), ("one_output", 3, 2), ("one_word", 1, 1):
        sizes = SIZES[name]
        ids = draw_ids(sizes["size"], batch, T + before)
        ids[..., :before], ids[..., before] = 0, 4
        agree(own_runner(student), run, draw_weights(sizes), ids, {**sizes, "frozen": T == 4})


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_padding_only(student):
    """A text of nothing but PAD has the mean 0."""
    for batch, T in ((), 3), ((), 1), ((2,), 5), ((2, 3), 4):
        ids = draw_texts(6, batch, T) if batch else torch.zeros(T, dtype=torch.int64)
        agree(own_runner(student), run, draw_weights(ORDINARY), ids, ORDINARY)


@number("7.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)], ids=str)
def test_gradients(student, batch):
    """Gradients reach every parameter, but not the row of PAD; with frozen=True, none of the word vectors."""
    others = [SIZES["one_word"], SIZES["one_feature"], SIZES["one_unit"]] if len(batch) == 1 else []
    for sizes in ORDINARY, {**ORDINARY, "frozen": True}, *others:
        ids, cotangent = draw_texts(sizes["size"], batch), draw("batch n_out", batch=batch, n_out=sizes["n_out"])
        agree(own_gradients(student), gradients, draw_weights(sizes), ids, cotangent, sizes)


@number("7.6")
@weight(0.5)
@visibility("after_published")
def test_network_manners(student):
    """In both modes, in both dtypes, on any device, after any calls and with new weights; the ids stay as they were."""
    ids = draw_texts(6)
    own, ours, _ = pair(student, ORDINARY)
    twin, their_twin, _ = pair(student, {**ORDINARY, "frozen": True})
    for dtype in torch.float64, torch.float32:
        weights, others = draw_weights(ORDINARY, dtype), draw_weights(ORDINARY, dtype)
        for module in loaded(own, weights), loaded(ours, weights):
            module.train(dtype is torch.float64)
        agree_in_turn(own, ours, [ids], [draw_texts(6, (2, 2), 9)], [draw_texts(6, (), 1)], [ids.roll(1)])
        agree(loaded(twin, others), loaded(their_twin, others), ids)
        gradients_agree(own, ours, ids)
        for module in own, ours:
            module.eval()
        agree(own, ours, ids)
        agree(loaded(own, others), loaded(ours, others), ids)
    for check in leaves_inputs, repeatable, works_on_meta:
        check(own, ids)

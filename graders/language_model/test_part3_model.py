"""Hidden tests of part 3: the model. First its parameters, then its numbers, then what it must not see."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import some_ids
from graders.language_model.modules import SMALL, TINY, Own, loaded, random_weights, run_hidden, run_model
from reference import language_model as ref
from softmark import (
    Failed,
    agree,
    agree_in_turn,
    causal,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
    to_float32,
    uses_weights,
    without_values,
    works_on_meta,
)

CASES = {
    "no_batch": ((), 5, (7, 6, 8, 2, 2)),
    "one_batch": ((3,), 4, (7, 9, 6, 3, 2)),
    "two_batches": ((2, 3), 4, (5, 8, 6, 1, 1)),
    "as_long_as_the_context": ((2,), 6, (11, 6, 8, 4, 1)),
    "one_token": ((4,), 1, (7, 6, 8, 2, 1)),
    "one_place": ((3,), 1, (6, 1, 4, 2, 1)),
    "a_batch_of_one": ((1,), 3, (4, 5, 6, 2, 3)),
    "all_alike": ((4,), 4, (4, 4, 4, 4, 4)),
    "one_feature_a_head": ((3,), 5, (9, 7, 5, 5, 1)),
    "one_word": ((2,), 3, (1, 4, 4, 2, 1)),
    "long": ((), 100, (5, 100, 4, 2, 1)),
}
"""Batch, T, and the sizes of the model."""
FOR_HIDDEN = ["no_batch", "two_batches", "one_token", "one_place", "one_word"]


def outlines(parameters):
    return without_values(dict(parameters))


def reference_outlines(*sizes):
    return outlines(ref.LanguageModel(*sizes).named_parameters())


@number("3.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [SMALL, (5, 9, 6, 3, 1), (3, 4, 4, 1, 3)], ids=str)
def test_parameters(student, sizes):
    """The parameters of the handout by name and shape; the head has none of its own."""
    own = student.LanguageModel(*sizes)
    try:
        agree(lambda *sizes: outlines(student.LanguageModel(*sizes).parameters()), reference_outlines, *sizes)
    except Failed as failure:
        if not failure.verdict.causes:
            own.has_entries(reference_outlines(*sizes))  # it says more
        raise
    uses_weights(own, some_ids(sizes[0], 2, 3))


def spreads(parameters):
    """Describe how the tables start, so coarsely that every draw of normal numbers gives the same.

    A table has at least 4800 numbers. Their standard deviation is then within 1 % of the true one, and to be counted as
    another one it must be 15 % off: 15 standard errors. The mean must be 17 standard errors off.
    """
    tables = {name: parameters[name].detach().double().nan_to_num(9) for name in ("embed.weight", "positions.weight")}
    return {
        name: {
            "the standard deviation is near 0.02": 0.017 < table.std().item() < 0.023,
            "the mean is near 0": table.mean().abs().item() < table.std().item() / 4,
            "some numbers are beyond 0.05": table.abs().max().item() > 0.05,
            "each row is another": len(set(table[:, 0].tolist())) == len(table),
        }
        for name, table in tables.items()
    }


def reference_spreads(*sizes):
    return spreads(dict(ref.LanguageModel(*sizes).named_parameters()))


@number("3.2")
@weight(0.25)
@visibility("after_published")
def test_start(student):
    """Embedding and positions start as normal numbers with a standard deviation of 0.02."""
    sizes = 80, 60, 80, 2, 1
    agree(lambda *sizes: outlines(student.LanguageModel(*sizes).parameters()), reference_outlines, *sizes)
    agree(lambda *sizes: spreads(student.LanguageModel(*sizes).parameters()), reference_spreads, *sizes)
    uses_weights(student.LanguageModel(*SMALL), some_ids(7, 2, 3))


@number("3.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("case", [CASES[name] for name in FOR_HIDDEN], ids=FOR_HIDDEN)
def test_hidden(student, case):
    """The vectors after the last layer norm: embedding, positions, and a stack of causal blocks."""
    batch, t, sizes = case
    agree(Own(student).run_hidden, run_hidden, random_weights(*sizes), sizes, some_ids(sizes[0], *batch, t))


@number("3.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_logits(student, case):
    """The logits of every position, by a head that is the embedding."""
    batch, t, sizes = case
    agree(Own(student).run_model, run_model, random_weights(*sizes), sizes, some_ids(sizes[0], *batch, t))


@number("3.5")
@weight(0.5)
@visibility("after_published")
def test_causality(student):
    """Changing token t changes no logits before t."""
    weights, scores = random_weights(*SMALL), draw("n t v", n=2, t=6, v=7)
    model = Own(student).whole_model(weights, SMALL)

    def own(scores):
        return model(scores.argmax(-1))  # real numbers, so that the check can change tokens

    try:
        agree(Own(student).run_model, run_model, weights, SMALL, scores.argmax(-1))
    except Failed as failure:
        if not failure.verdict.causes:
            causal(own, scores)  # a leak says more than wrong numbers
        raise
    causal(own, scores)


@number("3.6")
@weight(0.25)
@visibility("after_published")
def test_too_long(student):
    """A sequence that is longer than the context raises ValueError, and one that is as long does not."""
    own = student.LanguageModel(*SMALL)
    for ids in (some_ids(7, 2, 6), some_ids(7, 6)):
        own(ids)
        own.hidden(ids)
    for ids in (some_ids(7, 2, 7), some_ids(7, 7), some_ids(7, 2, 14)):
        raises(ValueError, own, ids)
        raises(ValueError, own.hidden, ids)


@number("3.7")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("of", ["forward", "hidden"])
def test_conduct(student, of):
    """Gradients reach every parameter; dtype, device and earlier calls do not matter; weights may change."""
    weights, ids = random_weights(*TINY), some_ids(5, 2, 5)
    modules = Own(student).whole_model(weights, TINY, True), loaded(ref.LanguageModel(*TINY), weights, True)
    own, ours = (module.hidden if of == "hidden" else module for module in modules)
    agree(own, ours, ids)
    gradients_agree(own, ours, ids)
    for check in (repeatable, leaves_inputs, works_on_meta):
        check(own, ids)
    agree_in_turn(own, ours, [ids], [some_ids(5, 3, 6)], [some_ids(5, 1)], [some_ids(5, 2, 5)])
    large = {name: 2 * value for name, value in weights.items()}
    for changed, training in ((to_float32(weights), False), (large, True), (weights, False)):
        for module in modules:
            loaded(module, changed, training)
        agree(own, ours, ids)
        keeps_dtype(own, ids, dtypes=(changed["norm.bias"].dtype,))
    gradients_agree(own, ours, ids)
    others = random_weights(7, 8, 6, 3, 1)
    pair = Own(student).model(others, (7, 8, 6, 3, 1)), loaded(ref.LanguageModel(7, 8, 6, 3, 1), others)
    agree(*pair, ids)
    agree(own, ours, ids)
    agree(own, ours, torch.full((2, 5), 3))


@number("3.8")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("dropout", [1.0, 0.5, 0.0])
def test_dropout(student, dropout):
    """In train() a dropout of 1 leaves nothing of what the blocks add; in eval() there is no dropout."""
    sizes, weights, ids = (*TINY, dropout), random_weights(*TINY), some_ids(5, 2, 5)
    for training in (False, True):
        if dropout != 0.5 or not training:
            agree(Own(student).run_model, run_model, weights, sizes, ids, training)
            agree(Own(student).run_hidden, run_hidden, weights, sizes, ids, training)

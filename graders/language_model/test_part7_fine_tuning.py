"""Hidden tests of part 7: which parameters learn, and features for another task."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import some_ids
from graders.language_model.modules import SMALL, TINY, Own, random_weights, run_features
from reference import language_model as ref
from softmark import Category, agree, draw, fail, leaves_inputs, raises, repeatable, to_float32, works_on_meta

DEEP = (3, 2, 2, 1, 12)
"""A model of twelve blocks, so that blocks.1 and blocks.10 have names that begin alike."""
TRAINABLE = {
    "a_module": (["norm"],),
    "a_parameter": (["positions.weight"],),
    "several": (["norm.bias", "blocks.1"],),
    "in_no_order": (["norm", "blocks.0.linear1", "embed"],),
    "inside_of_another": (["blocks.0", "blocks.0.norm1", "blocks.0.norm1.weight"],),
    "all": (["embed", "positions", "blocks", "norm"],),
    "nothing": (["embed"], []),
    "one_after_the_other": (["norm"], ["blocks.1.self_attn"], [], ["embed"]),
}


def freeze_in_turn(freeze, model, learning, trainables):
    """Freeze a model several times, and return each time what is told and what learns.

    The names are returned by the alphabet, and whether they stood in the order of the model's own parameters: a module
    may make its layers in another order than the reference.
    """
    turns = []
    for trainable in trainables:
        told, now = freeze(model, list(trainable)), learning(model)
        if type(told) is not list or not all(type(name) is str for name in told):
            fail(Category.TYPE, "freeze does not return a list of names")
        turns.append((sorted(told), told == [name for name in now if name in told], now))
    return turns


def of_reference(sizes, *trainables):
    def learning(model):
        return {name: parameter.requires_grad for name, parameter in model.named_parameters()}

    return freeze_in_turn(ref.freeze, ref.LanguageModel(*sizes), learning, trainables)


def of_student(student):
    """Return `of_reference` with the student's function and model. What learns has a gradient."""

    def run(sizes, *trainables):
        ids = some_ids(sizes[0], 2)
        cotangent = draw("t v", t=2, v=sizes[0], dtype=torch.float32)

        def learning(model):
            found = model.vjp((ids,), {}, cotangent).parameters
            return {name: found.get(name) is not None for name in model.parameters()}

        return freeze_in_turn(student.freeze, student.LanguageModel(*sizes), learning, trainables)

    return run


@number("7.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("trainables", TRAINABLE.values(), ids=TRAINABLE)
def test_freeze(student, trainables):
    """The named modules and parameters learn, and no others; their names are told in the model's order."""
    agree(of_student(student), of_reference, SMALL, *trainables)


@number("7.2")
@weight(0.25)
@visibility("after_published")
def test_freeze_whole_names(student):
    """blocks.1 is not blocks.10; a name that the model does not have raises ValueError."""
    agree(of_student(student), of_reference, DEEP, ["blocks.1"], ["blocks.11.norm1"])
    for unknown in (["tokens"], ["blocks.7"], ["norm", "block"], ["blocks.0.norm1.gain"], ["linear1"]):
        raises(ValueError, student.freeze, student.LanguageModel(*SMALL), unknown)


FEATURES = {
    "lengths_that_differ": (SMALL, 4, 5, [2, 5, 1, 3]),
    "one_row": (SMALL, 1, 4, [3]),
    "one_token": (SMALL, 3, 1, [1, 1, 1]),
    "all_alike": ((4, 4, 4, 1, 1), 4, 4, [4, 4, 4, 4]),
    "two_rows": ((9, 33, 6, 3, 1), 2, 33, [33, 17]),
}


@number("7.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("case", FEATURES.values(), ids=FEATURES)
def test_features(student, case):
    """The vector of the last real token of each row, after the last layer norm."""
    sizes, n, t, lengths = case
    given = random_weights(*sizes), sizes, some_ids(sizes[0], n, t), torch.tensor(lengths)
    agree(Own(student).run_features, run_features, *given)


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_features_conduct(student):
    """The padding changes nothing, the mode stays, float32 is right, inputs stay, any calls may come before."""
    own, weights, sizes = Own(student), random_weights(*TINY), (*TINY, 1.0)
    ids, lengths = some_ids(5, 3, 5), torch.tensor([2, 5, 1])
    padding = torch.arange(5) >= lengths[:, None]
    calls = (
        *((ids, lengths), (some_ids(5, 4, 6), torch.tensor([6, 1, 3, 3])), (ids[:1, :2], lengths[:1])),
        *((ids, 6 - lengths), (ids, lengths), (ids.masked_fill(padding, 4), lengths)),
    )
    for training in (True, False):
        agree(own.run_features, run_features, weights, sizes, ids, lengths, training)
    agree(own.run_features, run_features, to_float32(weights), sizes, ids, lengths)
    for other in calls:
        agree(own.run_features, run_features, weights, sizes, *other)
    model = own.model(weights, sizes)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.features, model, ids, lengths)
    single = student.features(own.model(to_float32(weights), sizes), ids, lengths)
    if getattr(single, "dtype", None) is not torch.float32:
        fail(Category.TYPE, "features of a model in float32 are not float32")

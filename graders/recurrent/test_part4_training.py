"""Hidden tests of part 4, training: dropout between the layers, and the gradients."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.dropping import in_words, what_is_dropped
from graders.recurrent.modules import draw_weights, module_inputs, pair
from reference import recurrent as ref
from softmark import (
    Failed,
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    to_float32,
    works_on_meta,
)

# Layers, non-linearity, whether in both directions, whether in training, and p.
SITUATIONS = {
    "two layers in training": (2, "relu", False, True, 0.3),
    "two layers of tanh in training": (2, "tanh", False, True, 0.3),
    "two layers in evaluation": (2, "relu", False, False, 0.3),
    "one layer in training": (1, "relu", False, True, 0.3),
    "four layers in training": (4, "relu", False, True, 0.1),
    "both directions in training": (2, "relu", True, True, 0.7),
    "three layers, both directions, in evaluation": (3, "tanh", True, False, 0.5),
    "three layers with p = 0": (3, "relu", False, True, 0.0),
}


def reference_drops(*situation):
    return what_is_dropped(lambda *sizes, **options: ref.RNN(*sizes, **options).double(), *situation)


@number("4.7")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("situation", SITUATIONS.values(), ids=SITUATIONS)
def test_module_dropout(student, situation):
    """In training, entries between layers are dropped with probability p, the others divided by 1 - p."""
    seen = {}

    def own_drops(*situation):
        seen.update(what_is_dropped(student.RNN, *situation))
        return seen

    try:
        agree(own_drops, reference_drops, *situation)
    except Failed as failure:
        if not seen:
            raise
        raise failure.saying(f"RNN: {in_words(seen, reference_drops(*situation))}") from failure


SEVERAL = [
    ((3, 4), {}),
    ((3, 4), {"num_layers": 3, "nonlinearity": "relu"}),
    ((3, 4), {"bidirectional": True, "batch_first": True}),
    ((4, 4), {"num_layers": 2, "bidirectional": True}),
]
"""Sizes and options of modules that are alive at a time."""


@number("4.8")
@weight(0.25)
@visibility("after_published")
def test_module_gradients(student):
    """Gradients reach the input, the states and every parameter, and any calls may come before."""
    sizes, options = (4, 3), {"num_layers": 2, "bidirectional": True}
    own, ours = pair(student, sizes, **options)
    x, h0 = module_inputs(sizes, options, t=3, n=2)
    agree(own, ours, x, h0)
    gradients_agree(own, ours, x, h0)
    gradients_agree(own, ours, x)
    agree_at_extremes(own, ours, x)
    longer, shorter, states = draw("6 3 4", "2 1 4", "4 3 3")
    agree_in_turn(own, ours, [x], [longer], [shorter], (x, h0), (longer, states), [40 * x])
    upwards = pair(student, sizes, num_layers=2)
    gradients_agree(*upwards, x)
    agree(own.eval(), ours, x)
    gradients_agree(own, ours, draw("67 1 d", d=4))
    weights = to_float32(draw_weights(sizes, options))
    for module in (own, ours.float()):
        module.load_state_dict(weights)
    agree(own, ours, x.float(), h0.float())
    for inputs in ((x.float(), h0.float()), (x.float(),)):
        for check in (leaves_inputs, repeatable, works_on_meta):
            check(own, *inputs)
    for sizes, options in SEVERAL:
        module = student.RNN(*sizes, **options)
        module.load_state_dict(to_float32(draw_weights(sizes, options)))
        keeps_dtype(module, *module_inputs(sizes, options, t=3, n=2), dtypes=(torch.float32,))


@number("4.9")
@weight(0.25)
@visibility("after_published")
def test_modules_in_turn(student):
    """Several modules may be used in turn, in both modes, and their weights may change between the calls."""
    kept = [(*pair(student, sizes, **options), sizes, options) for sizes, options in SEVERAL]
    for training in (True, False):
        for own, ours, sizes, options in kept:
            weights = draw_weights(sizes, options)
            for module in (own, ours):
                module.train(training)
                module.load_state_dict(weights)
            x, h0 = module_inputs(sizes, options, t=4, n=2)
            agree(own, ours, x)
            gradients_agree(own, ours, x, h0)
            agree(own, ours, 40 * x, h0)

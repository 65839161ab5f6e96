"""Hidden tests of part 6, training: dropout between the layers, and the gradients."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.lstm_gates.answers import three_of
from graders.lstm_gates.gradients import check_gradients
from graders.lstm_gates.inputs import like, sequence_inputs
from graders.lstm_gates.modules import in_float64, random_weights, run, run_reference
from graders.lstm_gates.passing import fates_seen, tenths
from reference import lstm_gates as ref
from softmark import (
    Category,
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    fail,
    gradients_agree,
    keeps_dtype,
    to_float32,
)

P = 0.3
FATES = torch.tensor([0, 1, 1 / (1 - P), 1 / P]).double()
"""Factors that dropout may multiply an entry with: right, forgotten, right, the wrong way round."""
SITUATIONS = {"two layers in training": 2, "two layers in evaluation": 2, "one layer in training": 1}
# These shares of the entries that are dropped keep the shares after each layer away from the halves of a tenth.
STACKS = {
    "three layers in training": (3, False, True, 0.1),
    "both directions in training": (2, True, True, 1 - P),
    "three layers, both directions, in evaluation": (3, True, False, P),
    "three layers with p = 0": (3, False, True, 0.0),
}


def answer_of(make, x, state, layers, training, dropout):
    """Return output and final hidden states of a new module with these layers; all begin with the same state."""
    h0, c0 = (value.expand(len(layers), x.shape[1], -1) for value in state)
    module = make(x.shape[-1], h0.shape[-1], num_layers=len(layers), dropout=dropout)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    weights = {
        f"{name}_l{k}": value for k, layer in enumerate(layers) for name, value in zip(names, layer, strict=True)
    }
    module.load_state_dict(weights)
    module.train(training)
    output, h_n, _ = three_of(module(x, (h0.contiguous(), c0.contiguous())))
    for name, value, shape in (("output", output, x.shape), ("h_n", h_n, (len(layers), *x.shape[1:]))):
        if value.shape != shape:
            fail(Category.SHAPE, f"LSTM: {name} has shape {tuple(value.shape)}, expected {tuple(shape)}")
    return output, h_n


def dropout_seen(make, situation, zeros, state, below, above):
    """Describe what dropout did to the entries between two layers.

    The module itself is run on entries that are dropped, left or scaled by hand, so it does not matter how a step
    computes. All sequences are the same, and few entries are on their way to the upper layer: each fate of them is
    tried, and recognised in the first step of the output.
    """
    entries = answer_of(make, zeros[:, :1], state, [below], False, 0.0)[0][:, 0]
    fates = torch.cartesian_prod(*[FATES] * len(entries[0]))
    known = answer_of(make, (fates * entries[0])[None], state, [above], False, 0.0)[0][0]
    if not torch.pdist(known).min() > 1e-6:
        fact = "LSTM: dropout cannot be seen, because an upper layer's output does not tell what comes from below"
        fail(Category.PROPERTY, fact)
    x, layers = (
        (entries[:, None].expand(zeros.shape), [above]) if SITUATIONS[situation] == 1 else (zeros, [below, above])
    )
    output, h_n = answer_of(make, x, state, layers, "training" in situation, P)
    distance, nearest = torch.cdist(output[0], known, compute_mode="donot_use_mm_for_euclid_dist").min(dim=1)
    fate = fates[nearest].masked_fill(~(distance < 1e-7)[:, None], math.nan)
    gone, first = fate == 0, h_n[0]
    return {
        "tenths of the entries that are dropped": tenths(gone),
        "tenths of the entries that are left as they are": tenths(fate == 1),
        "tenths of the entries that are divided by 1 - p": tenths(fate == FATES[2]),
        "whether all sequences drop the same entries": int((gone == gone[:1]).all()),
        "whether a sequence drops all its entries or none": int((gone == gone[:, :1]).all()),
        "whether states of the first layer are dropped": int(len(layers) == 2 and not torch.allclose(first, first[:1])),
        "whether all steps drop the same entries": int(same_in_every_step(output)),
    }


def same_in_every_step(output):
    """Return whether the sequences with the most frequent fate in the first step share a fate in the next."""
    telling = torch.arange(1, output.shape[-1] + 1).double().sqrt()  # one number for the entries of a row
    first, second = (output @ telling).mul(1e7).round()
    _, way, counts = first.unique(return_inverse=True, return_counts=True)
    return len(second[way == counts.argmax()].unique()) == 1


def reference_dropout_seen(*given):
    return dropout_seen(in_float64(ref.LSTM), *given)


def reference_fates_seen(*given):
    return fates_seen(in_float64(ref.LSTM), *given)


@number("6.6")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("situation", [*SITUATIONS, *STACKS])
def test_module_dropout(student, situation):
    """In training, entries between layers are dropped with probability p, the others divided by 1 - p."""
    if situation in STACKS:
        agree(lambda *given: fates_seen(student.LSTM, *given), reference_fates_seen, *STACKS[situation])
        return

    def own_dropout_seen(*given):
        return dropout_seen(student.LSTM, *given)

    _, h0, c0, *below = sequence_inputs(t=2, n=1, d=3, h=3)
    _, _, _, *above = sequence_inputs(t=2, n=1, d=3, h=3)
    zeros = torch.zeros(2, 700, 3, dtype=torch.float64)
    agree(own_dropout_seen, reference_dropout_seen, situation, zeros, (h0, c0), below, above)


@number("6.7")
@weight(0.25)
@visibility("after_published")
def test_module_gradients(student):
    """Gradients reach the input and every parameter, the dtype stays, and earlier calls make no difference."""
    options = {"num_layers": 2, "bidirectional": True}
    weights = random_weights(4, 3, **options)
    x = draw("t n d", t=3, n=2, d=4)
    moves = {name: like(value) for name, value in weights.items()}
    move_of_x = like(x)
    own = student.LSTM(4, 3, **options)

    def value_at(step):
        own.load_state_dict({name: value + step * moves[name] for name, value in weights.items()})
        return own(x + step * move_of_x)

    def gradients_of(cotangent):
        found = own.vjp((x,), {}, cotangent)
        return [found.args[0], *(found.parameters.get(name) for name in moves)]

    inputs = (weights, x, None, (4, 3), options)
    agree(lambda *inputs: run(student.LSTM, *inputs), run_reference, *inputs)
    check_gradients(value_at, gradients_of, [move_of_x, *moves.values()])
    ours = ref.LSTM(4, 3, **options).double()
    weak = {name: value / 10 if name.startswith("weight_ih") else value for name, value in weights.items()}
    for module in (own, ours):
        module.load_state_dict(weak)  # so that gates are nearly, and not wholly, closed or open
    gradients_agree(own, ours, 40 * x)
    agree_at_extremes(own, ours, x)
    gradients_agree(own, ours, draw("17 18 d", d=4))
    agree(own, ours, draw("67 1 d", d=4))
    for module in (own, ours):
        module.load_state_dict(weights)
    longer, shorter, state = draw("6 3 d", "2 1 d", "4 2 h", d=4, h=3)
    gradients_agree(own, ours, x, (state, state / 2))
    agree_in_turn(own, ours, [x], [longer], [shorter], (x, (state, state)), [40 * x])
    agree(own.eval(), ours, x)
    for module in (own, ours.float()):
        module.load_state_dict(to_float32(weights))
    agree(own, ours, x.float())
    agree(own, ours, 100 * x.float())
    keeps_dtype(own, x, dtypes=[torch.float32])
    keeps_dtype(own, x, (state, state), dtypes=[torch.float32])
    check_modules_in_turn(student)


SEVERAL = [
    *(((3, 4), {}), ((3, 4), {"num_layers": 3}), ((3, 4), {"bidirectional": True})),
    ((4, 4), {"num_layers": 2, "bidirectional": True}),
]
"""Sizes and options of modules that are alive at a time."""


def check_modules_in_turn(student):
    """Check several modules that are used in turn, in both modes; their weights change between the calls."""
    pairs = [(student.LSTM(*sizes, **options), ref.LSTM(*sizes, **options).double()) for sizes, options in SEVERAL]
    inputs = [draw("4 2 d", d=sizes[0]) for sizes, _ in SEVERAL]
    for training in (True, False):
        for (own, ours), (sizes, options), x in zip(pairs, SEVERAL, inputs, strict=True):
            weights = random_weights(*sizes, **options)
            for module in (own, ours):
                module.train(training)
                module.load_state_dict(weights)
            agree(own, ours, x)
        for (own, ours), x in zip(pairs, inputs, strict=True):
            gradients_agree(own, ours, x)
    for (own, ours), x in zip(pairs, inputs, strict=True):
        weights = {name: value + 0.1 for name, value in ours.state_dict().items()}
        for module in (own, ours):
            module.load_state_dict(weights)
        agree(own, ours, x)

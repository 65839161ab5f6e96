"""Hidden tests of part 4: the decoder. First one step, then all steps of teacher forcing, then how it behaves."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import some_ids
from graders.seq2seq.modules import both, decoder_inputs, loaded, random_weights, tensors_of
from reference import seq2seq as ref
from softmark import (
    Failed,
    agree,
    agree_in_turn,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    to_float32,
    uses_weights,
    without_values,
    works_on_meta,
)

SIZES = {
    "all_different": (3, 5, 7, 4, 6, 2),
    "one_sentence": (1, 4, 7, 5, 6, 3),
    "one_token": (4, 1, 1, 2, 3, 5),
    "all_alike": (4, 4, 4, 4, 4, 4),
    "widths_of_one": (8, 6, 3, 1, 1, 1),
    "long_source": (2, 100, 5, 2, 3, 3),
    "wide_states": (3, 2, 8, 3, 2, 7),
}
"""N, S, V, D, H and C."""


def run_step(weights, tokens, h, states, lengths, *sizes):
    return loaded(ref.Decoder(*sizes), weights).step(tokens, h, states, lengths)


def run_decoder(weights, inputs, h, states, lengths, *sizes):
    return loaded(ref.Decoder(*sizes), weights)(inputs, h, states, lengths)


def forward_inputs(t, n, s, *sizes):
    """Draw the inputs of teacher forcing."""
    _, h, states, lengths = decoder_inputs(n, s, *sizes)
    return some_ids(sizes[0], n, t).flip(1), h, states, lengths


@number("4.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(7, 4, 6, 2), (3, 2, 4, 5)])
def test_decoder_parameters(student, sizes):
    """The parameters of the handout by name and shape."""
    own = student.Decoder(*sizes)
    expected = without_values(ref.Decoder(*sizes).state_dict())
    own.has_entries(expected)
    agree(without_values(own.parameters()), expected)
    uses_weights(own, *forward_inputs(2, 2, 3, *sizes[::2], sizes[3]))


def spread(parameters, states_size):
    """Describe the spread of a new W, so coarsely that every draw gives the same."""
    values = parameters["W"].double().nan_to_num(-math.inf) * math.sqrt(states_size)
    inside = values.clamp(-1, 1)
    return {
        "the largest size in W, in sixteenths of 1/√C": round(16 * values.clamp(-2, 2).abs().max().item()),
        "the mean of W, in quarters of 1/√C": round(4 * inside.mean().item()),
        "the mean size in W, in sixths of 1/√C": round(6 * inside.abs().mean().item()),
    }


def reference_spread(*sizes):
    return spread(dict(ref.Decoder(*sizes).named_parameters()), sizes[3])


@number("4.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(3, 2, 40, 90), (2, 3, 100, 36)])
def test_decoder_starts_uniform(student, sizes):
    """The entries of a new W are spread uniformly between -1/√C and 1/√C."""
    own = student.Decoder(*sizes).parameters()
    agree(without_values(own), without_values(dict(ref.Decoder(*sizes).named_parameters())))
    try:
        agree(lambda *_: spread(own, sizes[3]), reference_spread, *sizes)
    except Failed as failure:
        raise failure.saying("Decoder: a new W is not spread uniformly between -1/√C and 1/√C") from failure
    uses_weights(student.Decoder(5, 3, 4, 2), *forward_inputs(2, 2, 3, 5, 4, 2))


def logits_of(weights, h):
    return h @ weights["out.weight"].T + weights["out.bias"]


@number("4.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_state_after_a_step(student, sizes):
    """One step: attention with the old state, then the token and the context into the cell."""
    n, s, *rest = sizes
    inputs = decoder_inputs(n, s, rest[0], *rest[2:])

    def run_own(weights, tokens, h, states, lengths, *sizes):
        answer = loaded(student.Decoder(*sizes), weights).step(tokens, h, states, lengths)
        return answer[1] if isinstance(answer, tuple | list) and len(answer) == 2 else answer

    agree(run_own, lambda *given: run_step(*given)[1], random_weights(ref.Decoder, *rest), *inputs, *rest)


@number("4.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_logits_of_the_own_state(student, sizes):
    """The logits of a step are those of the state that it returns."""
    n, s, *rest = sizes
    weights = random_weights(ref.Decoder, *rest)
    own = loaded(student.Decoder(*rest), weights)
    logits, h = tensors_of(own.step(*decoder_inputs(n, s, rest[0], *rest[2:])), (n, rest[0]), (n, rest[2]))
    uses_weights(own, *forward_inputs(2, n, s, rest[0], *rest[2:]))
    agree(logits, logits_of(weights, h))


FORWARD = [(4, "all_different"), (1, "one_sentence"), (4, "all_alike"), (33, "one_token"), (3, "widths_of_one")]
"""T, and the other sizes."""


@number("4.5")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("t", "name"), FORWARD)
def test_forward_is_the_own_steps(student, t, name):
    """Teacher forcing: a step for each column of the inputs, each from the state of the step before."""
    n, s, v, _, h_size, c = SIZES[name]
    own, ours = both(student, "Decoder", *SIZES[name][2:])
    inputs, h, states, lengths = forward_inputs(t, n, s, v, h_size, c)
    uses_weights(own, inputs, h, states, lengths)
    own.load_state_dict(ours.state_dict())
    steps, state = [], h
    for column in inputs.T:
        logits, state = tensors_of(own.step(column.clone(), state, states, lengths), (n, v), (n, h_size))
        steps.append(logits)
    agree(own(inputs, h, states, lengths), torch.stack(steps, dim=1))


@number("4.6")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("t", "name"), FORWARD)
def test_decoder_forward(student, t, name):
    """The logits of every step."""
    n, s, *rest = SIZES[name]

    def run_own(weights, inputs, h, states, lengths, *sizes):
        return loaded(student.Decoder(*sizes), weights)(inputs, h, states, lengths)

    inputs = forward_inputs(t, n, s, rest[0], *rest[2:])
    agree(run_own, run_decoder, random_weights(ref.Decoder, *rest), *inputs, *rest)


@number("4.7")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("of", ["step", "forward"])
def test_decoder_conduct(student, of):
    """Gradients reach every input and parameter; dtype, device, mode and earlier calls do not matter."""

    def drawn(t, n, s):
        return decoder_inputs(n, s, 7, 6, 2) if of == "step" else forward_inputs(t, n, s, 7, 6, 2)

    sizes = 7, 4, 6, 2
    modules, inputs = both(student, "Decoder", *sizes), drawn(3, 3, 5)
    own, ours = (module.step if of == "step" else module for module in modules)
    agree(own, ours, *inputs)
    for call in (inputs, drawn(1, 1, 1), drawn(2, 4, 3)):
        gradients_agree(own, ours, *call)
    for check in (repeatable, leaves_inputs, works_on_meta):
        check(own, *inputs)
    agree_in_turn(own, ours, inputs, drawn(4, 4, 8), drawn(1, 1, 1), (*inputs[:3], torch.tensor([1, 5, 2])))
    for factor in (0, 100):
        large = inputs[0], factor * inputs[1], inputs[2], inputs[3]
        agree(own, ours, *large)
        gradients_agree(own, ours, *large)
        agree(own, ours, *inputs[:2], factor * inputs[2], inputs[3])
    for training in (False, True):
        for module in modules:
            module.train(training)
        agree(own, ours, *inputs)
    weights = random_weights(ref.Decoder, *sizes)
    for module in modules:
        loaded(module, to_float32(weights))
    agree(own, ours, *to_float32(inputs))
    keeps_dtype(own, *inputs, dtypes=(torch.float32,))
    twin = both(student, "Decoder", *sizes)
    pairs = [tuple(module.step if of == "step" else module for module in twin), (own, ours)]
    for module in modules:
        loaded(module, weights)
    for pair in (*pairs, pairs[0]):
        agree(*pair, *inputs)

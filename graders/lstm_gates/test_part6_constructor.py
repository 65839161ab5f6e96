"""Hidden tests of part 6, the constructor: the parameters of a new module."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from reference import lstm_gates as ref
from softmark import agree, confirm_reference, draw, uses_weights, without_values


def reference_outlines(num_layers, bidirectional):
    module = ref.LSTM(4, 6, num_layers=num_layers, bidirectional=bidirectional)
    return without_values(dict(module.named_parameters()))


@number("6.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("num_layers", "bidirectional"), [(1, False), (1, True), (2, False), (4, True)])
def test_module_parameters(student, num_layers, bidirectional):
    """The parameters have the names and shapes of nn.LSTM's."""
    options = {"num_layers": num_layers, "bidirectional": bidirectional}
    theirs = without_values(dict(nn.LSTM(4, 6, **options).named_parameters()))
    confirm_reference(lambda: reference_outlines(**options), lambda: theirs, "PyTorch's nn.LSTM")

    def own_outlines(num_layers, bidirectional):
        return without_values(student.LSTM(4, 6, num_layers=num_layers, bidirectional=bidirectional).parameters())

    agree(own_outlines, reference_outlines, **options)
    own = student.LSTM(4, 6, **options)
    own.has_entries(reference_outlines(**options))
    uses_weights(own, draw("t n d", t=3, n=2, d=4))


def spread(parameters, hidden_size):
    """Describe the spread of new parameters, so coarsely that every draw gives the same."""
    seen = {}
    for kind in sorted({kind_and_place(name) for name in parameters}):
        values = torch.cat([value.flatten() for name, value in parameters.items() if kind_and_place(name) == kind])
        values = (values.double().nan_to_num(-math.inf) * math.sqrt(hidden_size)).clamp(-2, 2)
        inside = values.clamp(-1, 1)
        seen[f"the largest size among the {kind}, in sixteenths of 1/√H"] = round(16 * values.abs().max().item())
        seen[f"the mean of the {kind}, in quarters of 1/√H"] = round(4 * inside.mean().item())
        seen[f"the mean size of the {kind}, in sixths of 1/√H"] = round(6 * inside.abs().mean().item())
    return seen


def kind_and_place(name):
    """Return the kind, the layer and the direction of a parameter: "weights of l0_reverse"."""
    place = name.partition("h_")[2]
    return f"{'weights' if name.startswith('weight') else 'biases'} of {place}"


def reference_spread(*sizes):
    return spread(dict(ref.LSTM(*sizes).named_parameters()), sizes[1])


@number("6.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("sizes", "num_layers", "bidirectional"), [((24, 64), 3, False), ((90, 64), 2, True), ((3, 130), 1, False)]
)
def test_module_starts_uniform(student, sizes, num_layers, bidirectional):
    """The parameters of a new module are spread uniformly between -1/√H and 1/√H."""
    options = {"num_layers": num_layers, "bidirectional": bidirectional}
    expected = without_values(dict(nn.LSTM(*sizes, **options).named_parameters()))
    found = student.LSTM(*sizes, **options).parameters()
    own = {name: value for name, value in found.items() if name in expected}
    agree(without_values(own), expected)
    agree(lambda *_: spread(own, sizes[1]), reference_spread, *sizes, num_layers, 0.0, bidirectional)
    uses_weights(student.LSTM(3, 2, num_layers=2), draw("t n d", t=3, n=2, d=3))

"""Hidden tests of part 4, the constructor: the parameters of a new module."""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from graders.recurrent.modules import NAME
from reference import recurrent as ref
from softmark import Failed, agree, confirm_reference, draw, raises, uses_weights, without_values


def outlines(make, sizes, **options):
    return without_values(dict(make(*sizes, **options).named_parameters()))


@number("4.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("num_layers", "bidirectional"), [(1, False), (1, True), (2, False), (4, True)])
def test_module_parameters(student, num_layers, bidirectional):
    """The parameters have the names and shapes of nn.RNN's; another non-linearity is refused."""
    options = {"num_layers": num_layers, "bidirectional": bidirectional}
    theirs = outlines(nn.RNN, (4, 6), **options)
    confirm_reference(lambda: outlines(ref.RNN, (4, 6), **options), lambda: theirs, NAME)
    own = student.RNN(4, 6, **options)
    agree(without_values(own.parameters()), theirs)
    own.has_entries(theirs)
    uses_weights(own, draw("t n d", t=3, n=2, d=4))
    raises(ValueError, lambda: student.RNN(4, 6, nonlinearity="sigmoid", **options))


def spread(parameters, H):
    """Describe the spread of the parameters of each layer and direction, so coarsely that every draw gives the same."""
    places = {}
    for name, value in parameters.items():
        place = name.partition("h_")[2] + (", weights" if name.startswith("weight") else ", biases")
        places.setdefault(place, []).append(math.sqrt(H) * value.detach().double().nan_to_num(math.inf).flatten())
    seen = {}
    for place, values in places.items():
        numbers = torch.cat(values).clamp(-2, 2)
        seen[f"{place}: largest size, in eighths of 1/√H"] = round(8 * float(numbers.abs().max()))
        seen[f"{place}: mean, in halves of 1/√H"] = round(2 * float(numbers.mean()))
        seen[f"{place}: mean size, in quarters of 1/√H"] = round(4 * float(numbers.abs().mean()))
    return seen


@number("4.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((24, 120), {"num_layers": 3}),
        ((90, 120), {"num_layers": 2, "bidirectional": True, "nonlinearity": "relu"}),
        ((3, 130), {"batch_first": True, "dropout": 0.5}),
    ],
)
def test_module_starts_uniform(student, sizes, options):
    """The parameters of a new module are spread uniformly between -1/√H and 1/√H."""
    expected = outlines(ref.RNN, sizes, **options)
    found = student.RNN(*sizes, **options).parameters()
    agree(without_values(found), expected)

    def reference_spread():
        return spread(dict(ref.RNN(*sizes, **options).named_parameters()), sizes[1])

    try:
        agree(lambda: spread(found, sizes[1]), reference_spread)
    except Failed as failure:
        raise failure.saying("RNN: new parameters are not spread uniformly between -1/√H and 1/√H") from failure
    uses_weights(student.RNN(3, 2, num_layers=2), draw("t n d", t=3, n=2, d=3))

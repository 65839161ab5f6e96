"""Hidden tests of part 4, the forward pass: layers, directions and switches give PyTorch's numbers."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.modules import check_module


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n"),
    [(True, 4, 6, 5, 3), (False, 4, 6, 5, 3), (True, 1, 1, 5, 3), (True, 3, 3, 3, 3), (False, 5, 2, 33, 1)],
)
def test_module_of_one_layer(student, nonlinearity, given, d, h, t, n):
    """One layer with the weights of an nn.RNN, with each non-linearity, from a given state or from None."""
    check_module(student, given, d, h, t=t, n=n, nonlinearity=nonlinearity)


@number("4.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n", "num_layers"),
    [
        *((True, 4, 5, 4, 2, 3), (False, 4, 5, 4, 2, 2), (True, 5, 5, 3, 3, 3), (True, 2, 3, 4, 4, 4)),
        *((True, 3, 2, 1, 5, 5), (True, 2, 2, 2, 1, 12)),
    ],
)
def test_module_of_several_layers(student, given, d, h, t, n, num_layers):
    """Several layers: each reads the outputs of the one below and has a state and weights of its own."""
    check_module(student, given, d, h, t=t, n=n, num_layers=num_layers)


@number("4.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n", "num_layers"),
    [
        *((True, 5, 3, 4, 2, 1), (False, 5, 3, 4, 2, 1), (True, 5, 3, 4, 2, 2), (False, 6, 3, 4, 4, 2)),
        *((True, 2, 2, 6, 6, 3), (False, 4, 2, 1, 3, 3), (True, 3, 4, 18, 1, 2), (True, 1, 1, 2, 2, 1)),
    ],
)
def test_module_in_both_directions(student, given, d, h, t, n, num_layers):
    """Both directions, each output at its own time, the rows of the states in order."""
    check_module(student, given, d, h, t=t, n=n, num_layers=num_layers, bidirectional=True)


@number("4.6")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n", "options"),
    [
        (True, 4, 5, 3, 2, {}),
        (False, 3, 5, 1, 4, {"num_layers": 3}),
        (True, 2, 3, 4, 1, {"num_layers": 2, "bidirectional": True, "nonlinearity": "relu"}),
        (True, 3, 3, 3, 3, {"nonlinearity": "relu", "bidirectional": True}),
    ],
)
def test_module_with_the_batch_first(student, given, d, h, t, n, options):
    """batch_first: x and the output begin with the batch, the states do not."""
    check_module(student, given, d, h, t=t, n=n, batch_first=True, **options)

"""Hidden tests of part 6, the forward pass: layers and directions give PyTorch's numbers."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from graders.lstm_gates.modules import in_float64, random_weights, run, run_reference
from graders.lstm_gates.pytorch import NAME
from softmark import agree, confirm_reference, draw


def check_module(student, given, *sizes, t, n, **options):
    """Check that the student's module gives PyTorch's numbers, from a given state or from None."""
    weights = random_weights(*sizes, **options)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    x, h0, c0 = draw("t n d", "rows n h", "rows n h", t=t, n=n, d=sizes[0], h=sizes[1], rows=rows)
    inputs = (weights, x, (h0, c0) if given else None, sizes, options)
    confirm_reference(lambda: run_reference(*inputs), lambda: run(in_float64(nn.LSTM), *inputs), NAME)
    agree(lambda *inputs: run(student.LSTM, *inputs), run_reference, *inputs)


@number("6.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n"),
    [(True, 4, 6, 5, 3), (False, 4, 6, 5, 3), (True, 1, 1, 5, 3), (True, 3, 3, 3, 3), (True, 8, 2, 33, 1)],
)
def test_module_of_one_layer(student, given, d, h, t, n):
    """One layer with the weights of an nn.LSTM, from a given state or from None."""
    check_module(student, given, d, h, t=t, n=n)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("given", "d", "h", "t", "n", "num_layers"),
    [
        (True, 4, 5, 4, 2, 3),
        (False, 4, 5, 4, 2, 3),
        (True, 5, 5, 3, 3, 3),
        (True, 2, 3, 4, 4, 4),
        (True, 3, 2, 1, 5, 5),
        (True, 2, 2, 2, 1, 12),
    ],
)
def test_module_of_three_layers(student, given, d, h, t, n, num_layers):
    """Three layers or more: each reads the outputs of the one below and has a state and weights of its own."""
    check_module(student, given, d, h, t=t, n=n, num_layers=num_layers)


@number("6.5")
@weight(0.75)
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

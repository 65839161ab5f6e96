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
@pytest.mark.parametrize(("given", "d", "h"), [(True, 4, 6), (False, 4, 6), (True, 1, 1)])
def test_module_of_one_layer(student, given, d, h):
    """One layer with the weights of an nn.LSTM, from a given state or from None."""
    check_module(student, given, d, h, t=5, n=3)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("given", [True, False])
def test_module_of_three_layers(student, given):
    """Three layers: each reads the outputs of the one below and has a state and weights of its own."""
    check_module(student, given, 4, 5, t=4, n=2, num_layers=3)


@number("6.5")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("num_layers", "given"), [(1, True), (1, False), (2, True)])
def test_module_in_both_directions(student, num_layers, given):
    """Both directions, each output at its own time, the rows of the states in order."""
    check_module(student, given, 5, 3, t=4, n=2, num_layers=num_layers, bidirectional=True)

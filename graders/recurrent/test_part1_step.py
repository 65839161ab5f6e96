"""Hidden tests: recurrent networks, 20 points; part 1, one step and its two weights as one matrix.

Each test shows one thing that can be wrong, and the tests of a part go from the isolated to the full. Where PyTorch has
the same computation, the reference is compared with it (`witnesses.py`).
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.inputs import ALIKE, step_inputs
from reference import recurrent as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved


@number("1.1")
@weight(0.5)
@visibility("after_published")
def test_step_of_x(student):
    """The share of the input: tanh(W_x x + b), with h zero."""
    x, h, *weights = step_inputs(batch=(5,), d=3, h=4)
    agree(student.rnn_step, ref.rnn_step, x, 0 * h, *weights)


@number("1.2")
@weight(0.5)
@visibility("after_published")
def test_step_of_h(student):
    """The share of the state before: tanh(W_h h + b), with x zero."""
    x, h, *weights = step_inputs(batch=(5,), d=3, h=4)
    agree(student.rnn_step, ref.rnn_step, 0 * x, h, *weights)


@number("1.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "d", "h"), [((), 4, 6), ((5,), 3, 4), ((2, 7), 5, 3), ((1,), 2, 7), ((67,), 33, 17), *ALIKE]
)
def test_step(student, batch, d, h):
    """The whole equation, with any batch dimensions and widths."""
    agree(student.rnn_step, ref.rnn_step, *step_inputs(batch, d, h))


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_step_conduct(student):
    """Gradients pass, large numbers stay finite, the dtype stays, and any calls may come before."""
    inputs = step_inputs(batch=(5,), d=3, h=4)
    gradients_agree(student.rnn_step, ref.rnn_step, *inputs)
    agree_at_extremes(student.rnn_step, ref.rnn_step, *inputs, large=(0, 1))
    for sizes in ((), 4, 5), ((2, 3), 8, 2), ((1,), 1, 1):
        gradients_agree(student.rnn_step, ref.rnn_step, *step_inputs(*sizes))
    well_behaved(student.rnn_step, ref.rnn_step, *inputs)
    others = step_inputs((1, 3), 6, 7), step_inputs((), 1, 1), [40 * value for value in inputs]
    agree_in_turn(student.rnn_step, ref.rnn_step, inputs, *others)


@number("1.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("h", "d"), [(3, 5), (5, 3), (4, 4), (1, 3), (3, 1), (1, 1), (17, 33), (2, 4)])
def test_joined(student, h, d):
    """The columns that h meets come first, then those that x meets."""
    agree(student.joined, ref.joined, *draw("h h", "h d", h=h, d=d))


@number("1.6")
@weight(0.25)
@visibility("after_published")
def test_joined_conduct(student):
    """Gradients pass, the dtype stays, no input is changed, and any calls may come before."""
    weights = draw("3 3", "3 5")
    for scale in (1, 1000):
        gradients_agree(student.joined, ref.joined, *(scale * value for value in weights))
    well_behaved(student.joined, ref.joined, *weights)
    agree_in_turn(student.joined, ref.joined, weights, draw("4 4", "4 6"), draw("1 1", "1 1"), draw("3 3", "3 3"))

"""Hidden tests of part 1: what recurrent layers cost."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.cost_model.counts import KEPT, LONGEST_PATH, MULTIPLY_ADDS, SERIAL_STEPS, own_count, rnn_count
from softmark import agree, agree_in_turn

SIZES = [(7, 3, 5), (3, 5, 1), (1, 4, 3), (5, 1, 2), (1, 1, 1), (4, 4, 4), (2, 11, 5)]
"""n, d and the number of layers."""


def check_rnn(student, place):
    """Check one count: one layer and several, small sizes and large ones."""
    own = own_count(student.rnn_cost)
    for sizes in SIZES:
        agree(own, rnn_count, place, *sizes)
    agree(own, rnn_count, place, 7, 3)
    agree(own, rnn_count, place, n=11, d=7, n_layers=3)
    agree(own, rnn_count, place, 30_011, 1_000_000_007, 97)


@number("1.1")
@weight(0.5)
@visibility("after_published")
def test_multiply_adds_of_rnn(student):
    """The multiply-adds of both matrices, for each token and each layer, after any calls."""
    check_rnn(student, MULTIPLY_ADDS)
    calls = (7, 3, 2), (11, 5, 3), (5, 2, 1), (7, 5, 2)
    agree_in_turn(own_count(student.rnn_cost), rnn_count, *((MULTIPLY_ADDS, *sizes) for sizes in calls))


@number("1.2")
@weight(0.5)
@visibility("after_published")
def test_serial_steps_of_rnn(student):
    """The serial steps: a layer begins as soon as the layer below has done its first token."""
    check_rnn(student, SERIAL_STEPS)


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_longest_path_of_rnn(student):
    """The longest path: one move from each token to the next, however many layers there are."""
    check_rnn(student, LONGEST_PATH)


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_kept_of_rnn(student):
    """The numbers that are kept: the tokens once, and the states of each layer."""
    check_rnn(student, KEPT)

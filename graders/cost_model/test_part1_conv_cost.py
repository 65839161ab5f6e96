"""Hidden tests of part 1: what convolutions over time cost."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.cost_model.counts import KEPT, LONGEST_PATH, MULTIPLY_ADDS, SERIAL_STEPS, conv_count, own_count
from softmark import agree, agree_in_turn, raises

SIZES = [(11, 3, 5, 7), (7, 3, 2, 3), (11, 2, 5, 1), (1, 4, 3, 2), (5, 1, 2, 3), (1, 1, 2, 1), (4, 4, 4, 4)]
SIZES += [(2, 11, 7, 5)]
"""n, d, k and the number of layers."""
REACHES = [(5, 3), (6, 3), (9, 9), (10, 9), (2, 5)]
DILATED = [(9, 3), (10, 3), (125, 5), (126, 5), (243, 3), (64, 2), (65, 2), (1000, 10), (1001, 10), (59_050, 3)]
"""n and k with which the last layer that is needed just suffices, or does not."""


def check_conv(student, place):
    """Check one count: one layer and several, dilated or not, small sizes and large ones."""
    own = own_count(student.conv_cost)
    for row, sizes in enumerate(SIZES):
        agree(own, conv_count, place, *sizes, row % 2 == 0)
    agree(own, conv_count, place, 7, 3, 2)
    agree(own, conv_count, place, n=11, d=7, k=3, n_layers=2, dilated=True)
    agree(own, conv_count, place, 30_011, 1_000_000_007, 13, 97)


@number("1.5")
@weight(0.5)
@visibility("after_published")
def test_multiply_adds_of_conv(student):
    """The multiply-adds of each entry of the kernel, for each token and each layer, after any calls."""
    check_conv(student, MULTIPLY_ADDS)
    calls = (7, 3, 2, 2), (11, 5, 3, 3), (5, 2, 2), (7, 3, 2, 2, True), (7, 3, 5, 2)
    agree_in_turn(own_count(student.conv_cost), conv_count, *((MULTIPLY_ADDS, *sizes) for sizes in calls))


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_serial_steps_of_conv(student):
    """The serial steps: one for each layer; a kernel that sees no other token is refused."""
    check_conv(student, SERIAL_STEPS)
    raises(ValueError, student.conv_cost, 5, 3, 1)


@number("1.7")
@weight(0.5)
@visibility("after_published")
def test_longest_path_of_conv(student):
    """The longest path: as many layers as it takes until the last output sees the first token."""
    check_conv(student, LONGEST_PATH)
    for dilated, reaches in (False, REACHES), (True, DILATED):
        for n, k in reaches:
            agree(own_count(student.conv_cost), conv_count, LONGEST_PATH, n, 3, k, 1, dilated)


@number("1.8")
@weight(0.5)
@visibility("after_published")
def test_kept_of_conv(student):
    """The numbers that are kept: the tokens once, and the outputs of each layer."""
    check_conv(student, KEPT)

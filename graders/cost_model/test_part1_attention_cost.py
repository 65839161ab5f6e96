"""Hidden tests of part 1: what attention layers cost."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.cost_model.counts import KEPT, LONGEST_PATH, MULTIPLY_ADDS, SERIAL_STEPS, attention_count, own_count
from softmark import agree, agree_in_turn, raises

SIZES = [(7, 15, 3, 11), (5, 6, 2, 2), (11, 14, 2, 1), (5, 35, 5, 3), (1, 6, 2, 2), (3, 1, 1, 5), (1, 1, 1, 1)]
SIZES += [(4, 4, 4, 4), (2, 22, 11, 3), (13, 6, 1, 2)]
"""n, d, the number of heads and the number of layers."""


def check_attention(student, place):
    """Check one count: one layer and several, small sizes and large ones."""
    own = own_count(student.attention_cost)
    for sizes in SIZES:
        agree(own, attention_count, place, *sizes)
    agree(own, attention_count, place, 7, 15)
    agree(own, attention_count, place, n=11, d=21, n_heads=3)
    agree(own, attention_count, place, n=11, d=7, n_layers=2)
    agree(own, attention_count, place, 1_000_003, 13_000_001 * 16, 16, 97)


@number("1.9")
@weight(0.5)
@visibility("after_published")
def test_multiply_adds_of_attention(student):
    """The multiply-adds of projections, scores, mixing and output, for each layer, after any calls."""
    check_attention(student, MULTIPLY_ADDS)
    calls = (7, 15, 3, 2), (11, 22, 11, 3), (5, 4, 2), (7, 15, 5, 2), (2, 3, 1, 1)
    agree_in_turn(own_count(student.attention_cost), attention_count, *((MULTIPLY_ADDS, *sizes) for sizes in calls))


@number("1.10")
@weight(0.5)
@visibility("after_published")
def test_serial_steps_of_attention(student):
    """The serial steps: four products for each layer; a width that the heads cannot share is refused."""
    check_attention(student, SERIAL_STEPS)
    for d, n_heads in (5, 2), (3, 4), (12, 5), (1, 2):
        raises(ValueError, student.attention_cost, 3, d, n_heads)


@number("1.11")
@weight(0.5)
@visibility("after_published")
def test_longest_path_of_attention(student):
    """The longest path: one move, and none if there is one token."""
    check_attention(student, LONGEST_PATH)


@number("1.12")
@weight(0.5)
@visibility("after_published")
def test_kept_of_attention(student):
    """The numbers that are kept in each layer: tokens, queries, keys, values, weights of each head, joined heads."""
    check_attention(student, KEPT)

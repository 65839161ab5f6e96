"""Hidden tests of part 6: parameters that exist, and parameters that a token meets."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import cost_model as ref
from softmark import Category, agree, agree_in_turn, fail

SIZES = [(3, 5, 7, 2, 11), (3, 5, 7, 2, 1), (5, 3, 4, 1, 2), (2, 11, 13, 3, 3), (1, 1, 1, 1, 1), (4, 4, 4, 4, 4)]
SIZES += [(7, 2, 3, 3, 5), (3, 1, 2, 1, 1), (1, 5, 2, 2, 3), (11, 7, 5, 2, 2), (4096, 14_336, 8, 2, 32)]
SIZES += [(10**10 + 19, 3, 5, 2, 3), (3, 5, 1, 1, 2), (3, 5, 2, 1, 7)]
"""d, f, the number of experts, k and the number of blocks."""


def total(place, *sizes, **named):
    """Return one of the two counts."""
    return ref.active_parameters(*sizes, **named)[place]


def own_total(student):
    """Return the same for the student's function."""

    def own(place, *sizes, **named):
        totals = student.active_parameters(*sizes, **named)
        if not isinstance(totals, tuple | list) or len(totals) != 2:
            fail(Category.TYPE, "active_parameters: the answer is no tuple of two whole numbers")
        return totals[place]

    return own


def check_total(student, place):
    """Check one count, by position and by name, and after any calls."""
    own = own_total(student)
    for sizes in SIZES:
        agree(own, total, place, *sizes)
    agree(own, total, place, d=5, f=7, n_experts=11, k=3, n_layers=2)
    calls = (3, 5, 7, 2, 2), (5, 7, 11, 3, 3), (2, 3, 4, 1, 1), (3, 5, 7, 3, 2), (3, 5, 8, 2, 2), (3, 7, 7, 2, 2)
    agree_in_turn(own, total, *((place, *sizes) for sizes in calls))


@number("6.1")
@weight(1)
@visibility("after_published")
def test_exist(student):
    """The parameters that exist: all experts of all blocks, and what the blocks have besides."""
    check_total(student, 0)


@number("6.2")
@weight(1)
@visibility("after_published")
def test_met(student):
    """The parameters that a token meets: k experts of each block, and what the blocks have besides."""
    check_total(student, 1)

"""Hidden tests of part 3: where attention becomes dear."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import cost_model as ref
from softmark import Category, agree, agree_in_turn, fail

SIZES = [(3, 13), (7, 29), (5, 10), (5, 11), (5, 9), (4, 1), (1, 1), (2, 2), (1, 3)]
"""d and f; in some, attention is dearer from the first token on."""


def length(place, *sizes, **named):
    """Return one of the two lengths."""
    return ref.crossover(*sizes, **named)[place]


def own_length(student):
    """Return the same for the student's function."""

    def own(place, *sizes, **named):
        lengths = student.crossover(*sizes, **named)
        if not isinstance(lengths, tuple | list) or len(lengths) != 2:
            fail(Category.TYPE, "crossover: the answer is no tuple of two whole numbers")
        return lengths[place]

    return own


def check_length(student, place):
    """Check one length, with f given and left out, and after any calls."""
    own = own_length(student)
    for d, f in SIZES:
        agree(own, length, place, d, f)
    agree(own, length, place, d=12_289, f=1_000_003)
    agree_in_turn(own, length, (place, 7, 29), (place, 11, 101), (place, 2, 3), (place, 7, 31), (place, 7))
    agree_in_turn(own, length, (place, 7), (place, 11), (place, 2), (place, 7, 29))


@number("3.1")
@weight(0.75)
@visibility("after_published")
def test_crossover_with_feed_forward(student):
    """The length from which on a whole attention layer does more than the feed-forward network."""
    check_length(student, 0)


@number("3.2")
@weight(0.5)
@visibility("after_published")
def test_crossover_without_f(student):
    """Without f, the feed-forward network has four times as many hidden units as features."""
    for d in 1, 2, 5, 12_288, 10**6 + 3:
        agree(own_length(student), length, 0, d)
        agree(own_length(student), length, 0, d, None)


@number("3.3")
@weight(0.75)
@visibility("after_published")
def test_crossover_with_recurrent(student):
    """The length from which on scores and mixing alone do more than a recurrent layer."""
    check_length(student, 1)

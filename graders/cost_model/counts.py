"""Gives the four counts of part 1 one by one, the reference's and the student's: each has marks of its own."""

from reference import cost_model as ref
from softmark import Category, fail

MULTIPLY_ADDS, SERIAL_STEPS, LONGEST_PATH, KEPT = range(4)


def rnn_count(place, *sizes, **named):
    """Return one count of a recurrent layer."""
    return ref.rnn_cost(*sizes, **named)[place]


def conv_count(place, *sizes, **named):
    """Return one count of a convolution."""
    return ref.conv_cost(*sizes, **named)[place]


def attention_count(place, *sizes, **named):
    """Return one count of an attention layer."""
    return ref.attention_cost(*sizes, **named)[place]


def own_count(function):
    """Return the same for a function of the student's."""

    def count(place, *sizes, **named):
        counts = function(*sizes, **named)
        if not isinstance(counts, tuple | list) or len(counts) != 4:
            fail(Category.TYPE, f"{function.name}: the answer is no tuple of four whole numbers")
        return counts[place]

    return count

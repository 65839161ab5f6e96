"""Hidden tests: word vectors, 20 points in all. Part 1, pairs of neighbours."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.neighbours import (
    check_different_words,
    check_in_turn,
    check_repeated_words,
    check_short_texts,
)
from reference import word_vectors as ref


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_pairs(student, window):
    """Every word with every neighbour, in order; windows are shorter at the ends of the text."""
    check_different_words(student.skip_gram_pairs, ref.skip_gram_pairs, window)


@number("1.2")
@weight(0.25)
@visibility("after_published")
def test_pairs_of_repeated_words(student):
    """Places are neighbours, whatever words stand there."""
    check_repeated_words(student.skip_gram_pairs, ref.skip_gram_pairs)


@number("1.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_pairs_of_short_texts(student, window):
    """Texts that are shorter than the window, of one word, and without words."""
    check_short_texts(student.skip_gram_pairs, ref.skip_gram_pairs, window)


@number("1.4")
@weight(0.25)
@visibility("after_published")
def test_pairs_in_turn(student):
    """The text stays as it was, and any calls may come before; long texts, too."""
    check_in_turn(student.skip_gram_pairs, ref.skip_gram_pairs)

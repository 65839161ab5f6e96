"""Hidden tests of part 1: contexts and their words."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.neighbours import (
    check_different_words,
    check_in_turn,
    check_repeated_words,
    check_short_texts,
)
from reference import word_vectors as ref


@number("1.5")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_examples(student, window):
    """One example for each place: its neighbours in order, and the word."""
    check_different_words(student.cbow_examples, ref.cbow_examples, window)


@number("1.6")
@weight(0.25)
@visibility("after_published")
def test_examples_of_repeated_words(student):
    """A context has its words as often as they stand there, the target's own among them."""
    check_repeated_words(student.cbow_examples, ref.cbow_examples)


@number("1.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_examples_of_short_texts(student, window):
    """Texts that are shorter than the window, of one word, and without words."""
    check_short_texts(student.cbow_examples, ref.cbow_examples, window)


@number("1.8")
@weight(0.25)
@visibility("after_published")
def test_examples_in_turn(student):
    """The text stays as it was, and any calls may come before; long texts, too."""
    check_in_turn(student.cbow_examples, ref.cbow_examples)

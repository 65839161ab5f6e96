"""Hidden tests of part 1: contexts and their words."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import different_ids, draw_ids
from reference import word_vectors as ref
from softmark import agree, agree_in_turn, leaves_inputs, repeatable


@number("1.5")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_examples(student, window):
    """One example for each place: its neighbours in order, and the word."""
    for length in 9, 12:
        agree(student.cbow_examples, ref.cbow_examples, different_ids(length), window)


@number("1.6")
@weight(0.25)
@visibility("after_published")
def test_examples_of_repeated_words(student):
    """A context has its words as often as they stand there, the target's own among them."""
    for ids, window in (draw_ids(11, 4), 1), (draw_ids(14, 3), 2), (draw_ids(8, 5), 3), ([6, 6, 6, 6], 2):
        agree(student.cbow_examples, ref.cbow_examples, ids, window)


@number("1.7")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_examples_of_short_texts(student, window):
    """Texts that are shorter than the window, of one word, and without words."""
    agree(student.cbow_examples, ref.cbow_examples, different_ids(3), window)
    for ids in different_ids(2), [4], [], [0, 0], [0]:
        agree(student.cbow_examples, ref.cbow_examples, ids, window)


@number("1.8")
@weight(0.25)
@visibility("after_published")
def test_examples_in_turn(student):
    """The text stays as it was, and any calls may come before; long texts, too."""
    ids = draw_ids(10, 6)
    leaves_inputs(student.cbow_examples, ids, 2)
    repeatable(student.cbow_examples, ids, 2)
    calls = (draw_ids(13, 9), 3), (draw_ids(5, 3), 1), (ids, 1), (ids[::-1], 2), (draw_ids(100, 40), 4)
    agree_in_turn(student.cbow_examples, ref.cbow_examples, (ids, 2), *calls)

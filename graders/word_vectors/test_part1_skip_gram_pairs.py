"""Hidden tests: word vectors, 20 points in all. Part 1, pairs of neighbours."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import different_ids, draw_ids
from reference import word_vectors as ref
from softmark import agree, agree_in_turn, leaves_inputs, repeatable


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_pairs(student, window):
    """Every word with every neighbour, in order; windows are shorter at the ends of the text."""
    for length in 9, 12:
        agree(student.skip_gram_pairs, ref.skip_gram_pairs, different_ids(length), window)


@number("1.2")
@weight(0.25)
@visibility("after_published")
def test_pairs_of_repeated_words(student):
    """Places are neighbours, whatever words stand there."""
    for ids, window in (draw_ids(11, 4), 1), (draw_ids(14, 3), 2), (draw_ids(8, 5), 3), ([6, 6, 6, 6], 2):
        agree(student.skip_gram_pairs, ref.skip_gram_pairs, ids, window)


@number("1.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 5, 8])
def test_pairs_of_short_texts(student, window):
    """Texts that are shorter than the window, of one word, and without words."""
    agree(student.skip_gram_pairs, ref.skip_gram_pairs, different_ids(3), window)
    for ids in different_ids(2), [4], [], [0, 0], [0]:
        agree(student.skip_gram_pairs, ref.skip_gram_pairs, ids, window)


@number("1.4")
@weight(0.25)
@visibility("after_published")
def test_pairs_in_turn(student):
    """The text stays as it was, and any calls may come before; long texts, too."""
    ids = draw_ids(10, 6)
    leaves_inputs(student.skip_gram_pairs, ids, 2)
    repeatable(student.skip_gram_pairs, ids, 2)
    calls = (draw_ids(13, 9), 3), (draw_ids(5, 3), 1), (ids, 1), (ids[::-1], 2), (draw_ids(100, 40), 4)
    agree_in_turn(student.skip_gram_pairs, ref.skip_gram_pairs, (ids, 2), *calls)

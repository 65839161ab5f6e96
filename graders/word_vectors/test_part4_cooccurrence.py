"""Hidden tests of part 4: counts of neighbours."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.word_vectors.inputs import draw_ids
from reference import word_vectors as ref
from softmark import agree, agree_in_turn, leaves_inputs, repeatable


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_cooccurrence(student, window):
    """Neighbours count on both sides, with one over their distance."""
    for ids in [3, 0, 5, 1, 6, 2, 4], [4, 2, 0, 1, 3]:
        agree(student.cooccurrence, ref.cooccurrence, ids, 7, window)
        agree(student.cooccurrence, ref.cooccurrence, ids, 8, window)


@number("4.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_cooccurrence_of_repeated_words(student, window):
    """Words that meet several times add up, and so do words that meet themselves."""
    for length, words in (12, 5), (9, 3), (6, 1), (15, 12):
        agree(student.cooccurrence, ref.cooccurrence, draw_ids(length, words), words, window)


@number("4.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("window", [1, 3, 6, 9])
def test_cooccurrence_of_short_texts(student, window):
    """Texts that are shorter than the window, of one word, and without words."""
    agree(student.cooccurrence, ref.cooccurrence, [1, 0, 3], 4, window)
    for ids in [0, 2], [1, 1], [3], []:
        agree(student.cooccurrence, ref.cooccurrence, ids, 4, window)
    agree(student.cooccurrence, ref.cooccurrence, [0, 0, 0], 1, window)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_cooccurrence_in_turn(student):
    """The text stays as it was, and any calls may come before; long texts, too."""
    ids = draw_ids(10, 6)
    leaves_inputs(student.cooccurrence, ids, 6, 2)
    repeatable(student.cooccurrence, ids, 6, 2)
    calls = (draw_ids(13, 9), 9, 3), (draw_ids(5, 3), 3, 1), (ids, 6, 1), (ids[::-1], 6, 2), (draw_ids(60, 20), 21, 4)
    agree_in_turn(student.cooccurrence, ref.cooccurrence, (ids, 6, 2), *calls)

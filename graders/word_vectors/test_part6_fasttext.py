"""Hidden tests of part 6: vectors of words, known or not."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import word_vectors as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved

TABLES = {"several": [(11, 4), (64, 3), (7, 7), (100, 2)], "one": [(9, 3), (10, 1), (1, 5), (1, 1)]}
"""B and d of the calls of a case."""


def draw_table(B, d, dtype=torch.float64):
    return draw("B d", B=B, d=d, dtype=dtype)


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", TABLES.values(), ids=TABLES)
def test_fasttext(student, sizes):
    """The sum of the rows of all pieces."""
    for table in [draw_table(B, d) for B, d in sizes]:
        for word, shortest, longest in ("neighbour", 3, 6), ("word", 6, 6), ("word", 2, 2), ("Text", 1, 4):
            agree(student.fasttext, ref.fasttext, word, table, shortest, longest)


@number("6.6")
@weight(0.25)
@visibility("after_published")
def test_fasttext_of_any_word(student):
    """Repeated pieces count each time, characters have one byte or several, and a word may have no piece."""
    table = draw_table(13, 3)
    for word in "banana", "aaaaaa", "naïve", "é", "λόγος", "学习", "no", "", "don't":
        agree(student.fasttext, ref.fasttext, word, table, 3, 5)
        agree(student.fasttext, ref.fasttext, word, table, 4, 4)


@number("6.7")
@weight(0.25)
@visibility("after_published")
def test_fasttext_gradients(student):
    """A row of the table gets as many times the gradient as it was used."""
    for B, d, word in (11, 4, "banana"), (5, 3, "neighbour"), (1, 2, "word"), (6, 1, "naïve"), (4, 2, "aaaaa"):
        table = draw_table(B, d)
        agree(student.fasttext, ref.fasttext, word, table, 2, 3)
        for shortest, longest in (2, 3), (1, 1), (3, 6):
            gradients_agree(student.fasttext, ref.fasttext, word, table, shortest, longest)
    agree_at_extremes(student.fasttext, ref.fasttext, "banana", draw_table(11, 4), 2, 3)


@number("6.8")
@weight(0.5)
@visibility("after_published")
def test_fasttext_behaviour(student):
    """float32 stays float32, also without a piece; inputs stay, any device will do, and so will any calls before."""
    table, larger, smaller = draw_table(9, 4), draw_table(20, 6), draw_table(3, 1)
    well_behaved(student.fasttext, ref.fasttext, "vector", table, 2, 4)
    well_behaved(student.fasttext, ref.fasttext, "of", table, 5, 6)
    calls = ("windows", larger, 3, 5), ("at", smaller, 1, 2), ("word", table, 2, 4), ("vector", table, 3, 4)
    agree_in_turn(student.fasttext, ref.fasttext, ("vector", table, 2, 4), *calls, ("vector", 40 * table, 2, 3))
    for B, d in (1, 3), (4, 1), (6, 2):
        agree(student.fasttext, ref.fasttext, "vector", draw_table(B, d, torch.float32), 1, 1)
        agree(student.fasttext, ref.fasttext, "vector", draw_table(B, d, torch.float32), 3, 4)

"""Hidden tests of part 6: pieces of words."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import word_vectors as ref
from softmark import agree, agree_in_turn, repeatable


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("shortest", "longest"), [(3, 3), (3, 6), (2, 4), (4, 5), (1, 2), (1, 1), (5, 5)])
def test_subwords(student, shortest, longest):
    """All pieces from the shortest to the longest, in order, the marks included."""
    for word in "neighbour", "Vector", "windows":
        agree(student.subwords, ref.subwords, word, shortest, longest)


@number("6.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("shortest", "longest"), [(1, 3), (2, 2), (3, 5)])
def test_subwords_of_any_word(student, shortest, longest):
    """Words with pieces that repeat, with letters of other alphabets, with marks and spaces."""
    for word in "banana", "aaaa", "naïve", "été", "λόγος", "学习", "a<b>", "New York", "don't", "x" * 40:
        agree(student.subwords, ref.subwords, word, shortest, longest)


@number("6.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (4, 4), (5, 9), (2, 3)])
def test_subwords_of_short_words(student, shortest, longest):
    """Words with fewer characters than a piece, and the empty word."""
    agree(student.subwords, ref.subwords, "word", shortest, longest)
    for word in "a", "to", "the", "", "é":
        agree(student.subwords, ref.subwords, word, shortest, longest)


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_subwords_in_turn(student):
    """The same call gives the same answer, and any calls may come before."""
    repeatable(student.subwords, "window", 2, 4)
    calls = ("windows", 3, 5), ("window", 1, 1), ("vector", 2, 4), ("window", 2, 6), ("w", 3, 4)
    agree_in_turn(student.subwords, ref.subwords, ("window", 2, 4), *calls)

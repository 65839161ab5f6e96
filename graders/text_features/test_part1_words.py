"""Hidden tests: text features, 20 points in all. Part 1, words, and runs of words and of letters."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import draw_signs
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs

APOSTROPHES = ["don't", "rock'n'roll", "'tis", "dogs'", "'a'", "b''c", "'", "7's o'2", "it's_o'k", "x-'y' - z'"]
SIGNS = [
    "",
    " \n",
    "...!?",
    "a",
    "film_night",
    "_x_",
    "well-known",
    "3.5,10",
    "naïve É\tÉTÉ\nжук",
    "你好,世界",
    "Straße",
]


@number("1.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("words", [1, 7, 30, 90])
def test_tokens(student, words):
    """The words of a text, in lower case, without the signs between them."""
    agree(student.tokens, ref.tokens, draw_text(words))


@number("1.2")
@weight(0.5)
@visibility("after_published")
def test_tokens_of_signs(student):
    """Apostrophes inside and outside of words, underscores and hyphens, letters of any language, empty texts."""
    for text in [*APOSTROPHES, *SIGNS]:
        agree(student.tokens, ref.tokens, text)
    agree_in_turn(student.tokens, ref.tokens, *[(draw_signs(count),) for count in (60, 8, 20)])


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_ngrams(student):
    """Every n adjacent words, joined by a space; none if there are fewer words."""
    words = draw_text(9, different=4).split()
    for n in (2, 1, 3, 5, 9, 10, 12):
        agree(student.ngrams, ref.ngrams, words, n)
    for few in ["One"], ["A", "b"], []:
        for n in 1, 2, 3:
            agree(student.ngrams, ref.ngrams, few, n=n)
    leaves_inputs(student.ngrams, words, 4)
    agree_in_turn(student.ngrams, ref.ngrams, (words, 3), (words[:2], 4), (words[1:], 3), (words, 2))


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_char_ngrams(student):
    """Every n adjacent letters of a word; none if it has fewer letters."""
    for word in "banana", "Don't", "éжß你学", "a", "":
        for n in (2, 3, 1, 5, 6, 7):
            agree(student.char_ngrams, ref.char_ngrams, word, n=n)
    agree_in_turn(student.char_ngrams, ref.char_ngrams, ("anagram", 3), ("naga", 4), ("an", 2), ("margana", 3))

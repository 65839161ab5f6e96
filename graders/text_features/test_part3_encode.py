"""Hidden tests of part 3: from texts to ids."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import draw_known, draw_signs
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw_integers, leaves_inputs


def draw_encodable(count, known, unknown=0):
    """Draw a text of some of these words, with as many words as `unknown` says that are in no vocabulary."""
    places = draw_integers(0, len(known), "count", count=count).tolist()
    words = [known[place].capitalize() for place in places]
    for number_of_word in range(unknown):
        words.insert(2 * number_of_word, f"nobody{number_of_word}")
    return ", ".join(words)


@number("3.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("count", [1, 4, 40])
def test_ids(student, count):
    """START, and the id of each word: all are known, and nothing is cut or padded."""
    known, words = draw_known(7)
    agree(student.encode, ref.encode, draw_encodable(count, words), known, count + 1)


@number("3.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("unknown", [1, 3])
def test_unknown_words(student, unknown):
    """UNK for a word that the vocabulary does not have; nothing is cut or padded."""
    known, words = draw_known(5)
    agree(student.encode, ref.encode, draw_encodable(6, words, unknown), known, 7 + unknown)
    agree(student.encode, ref.encode, " ".join(words), {}, 6)


@number("3.3")
@weight(0.75)
@visibility("after_published")
def test_length(student):
    """Exactly `length` ids: cut or padded on the right, for empty texts, too, and after any calls."""
    known, words = draw_known(5)
    text = draw_encodable(6, words, unknown=2)
    for length in 8, 10, 9, 5, 2, 1, 40:
        agree(student.encode, ref.encode, text, known, length=length)
    for length in 1, 2, 6:
        agree(student.encode, ref.encode, "", known, length)
        agree(student.encode, ref.encode, draw_signs(9), known, length)
    leaves_inputs(student.encode, text, known, 9)
    calls = (text, known, 6), (text[::-1], known, 9), (text, dict.fromkeys(words, 4), 6), ("", known, 4)
    agree_in_turn(student.encode, ref.encode, *calls)

"""Hidden tests of part 6: from ids to text."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import SPECIALS, few_letters, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("merges", [0, 3, 20])
def test_decode_texts(student, merges):
    """The bytes of the ids, one behind the other, spaces and specials as they stand."""
    vocabulary, known = ref.train(few_letters(90), 259 + merges, SPECIALS)
    for text in (few_letters(40), with_specials(5, SPECIALS), " a  b ", "B a\n"):
        agree(student.decode, ref.decode, ref.encode(text, known, SPECIALS), vocabulary)


@number("6.2")
@weight(0.75)
@visibility("after_published")
def test_decode_characters_of_several_tokens(student):
    """A character may be spread over several ids; what is no UTF-8 becomes U+FFFD."""
    vocabulary, known = ref.train("é é 日本 日本語 " + draw_text(30), 275, [])
    for text in ("é", "日本語", "naïve 😀 ok", draw_text(12)):
        ids = ref.encode(text, known, [])
        agree(student.decode, ref.decode, ids, vocabulary)
        agree(student.decode, ref.decode, ids[:-1], vocabulary)
        agree(student.decode, ref.decode, ids[1:], vocabulary)
    for ids in ([255], [97, 195, 98], [195], [230, 151, 97], [128, 128], [237, 160, 128], [240, 159, 152]):
        agree(student.decode, ref.decode, ids, vocabulary)


@number("6.3")
@weight(0.5)
@visibility("after_published")
def test_decode_vocabularies(student):
    """No ids, one id, ids in any order and of any vocabulary; earlier calls make no difference."""
    named = {7: b"ab", 1000: b"\xc3", 3: b"\xa9 ", 0: b"", 12: b"x"}
    for ids in ([], [7], [1000, 3, 7, 12], [3, 1000], [0, 0, 12, 0], [12] * 60):
        agree(student.decode, ref.decode, ids, named)
    leaves_inputs(student.decode, [7, 12], named)
    agree_in_turn(student.decode, ref.decode, ([7, 12], named), ([12], named), ([7, 12], {7: b"c", 12: b"d"}))

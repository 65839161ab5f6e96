"""Hidden tests: byte pair encoding, 20 points in all. Part 1, pieces and segments."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import SPECIALS, chosen, few_letters, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs


@number("1.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("letters", ["abcde ", "aB cD", "éüa ", "日本 語"])
def test_pieces_words(student, letters):
    """A space stays with the word that follows it."""
    agree(student.pieces, ref.pieces, "".join(chosen(letters.replace(" ", ""), 3)))
    agree(student.pieces, ref.pieces, " ".join("".join(chosen(letters.replace(" ", ""), 3)) for _ in range(6)))


@number("1.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("signs", ["ab12 ", "12 ,.", "ab_- ", "a1_,'!? ", "x٣९ "])
def test_pieces_kinds(student, signs):
    """Letters, digits and other signs are pieces apart."""
    for count in (12, 40):
        agree(student.pieces, ref.pieces, "".join(chosen(signs, count)).strip())


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_pieces_spaces(student):
    """Several spaces, line ends and tabs: only the last space belongs to what follows, and only a space."""
    for text in (
        "a  b",
        "a   1",
        "a \n b",
        "a\nb",
        "a\n\n b",
        "\ta",
        " a",
        "a ",
        "a  ",
        "  ",
        " \n",
        "\n",
        ".  ,",
        "a\u00a0b",
    ):
        agree(student.pieces, ref.pieces, text)
    for _ in range(4):
        agree(student.pieces, ref.pieces, "".join(chosen("ab1.   \n\t", 60)))


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_pieces_any_text(student):
    """All alphabets, an empty text, a single character, whatever was asked before."""
    for words in (0, 1, 30):
        agree(student.pieces, ref.pieces, draw_text(words))
    for text in ("a", "_", "7", "😀 é", "naïve café's 3½ x²"):
        agree(student.pieces, ref.pieces, text)
    agree_in_turn(student.pieces, ref.pieces, [draw_text(9)], [draw_text(20)], ["a b"])


@number("1.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("specials", [["<end>"], ["<end>", "xyz"], ["c"], []])
def test_pieces_segments(student, specials):
    """Specials are segments of their own, at the ends and beside each other too; without specials the text is one."""
    for text in ("ab", "", "<end>", "<end>ab", "ab<end>", "a<end><end>b cxyz<en d>end"):
        agree(student.segments, ref.segments, text, specials)
    if specials:
        agree(student.segments, ref.segments, with_specials(8, specials), specials)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_pieces_overlapping_specials(student):
    """The longest special goes first, in whatever order they are given, and each sign stands for itself."""
    for specials in (
        SPECIALS,
        SPECIALS[::-1],
        ["a", "aa", "aaa"],
        ["aa", "aab", "b"],
        ["a+", "(b", "."],
        ["é", "日本"],
    ):
        text = with_specials(12, specials)
        agree(student.segments, ref.segments, text, specials)
        agree(student.segments, ref.segments, few_letters(40), specials)
    leaves_inputs(student.segments, text, specials)
    agree_in_turn(
        student.segments, ref.segments, ("ab<|end|>", SPECIALS), (with_specials(9, ["|a|"]), ["|a|"]), ("a", [])
    )

"""Hidden tests of part 4: training."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import OLD, SPECIALS, few_letters, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("merges", [1, 2, 3])
def test_train_first_merges(student, merges):
    """The most frequent pair is merged first; the vocabulary has the bytes, then what was merged."""
    text = "xy" * 9 + " zxy" * 4 + " zw" * 2
    agree(student.train, ref.train, text, 256 + merges, [])
    agree(student.train, ref.train, "ab ab ab ac ac", 256 + merges, [])


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("merges", [5, 30])
def test_train_ties(student, merges):
    """Of pairs that are equally frequent, the greatest is merged first."""
    agree(student.train, ref.train, OLD, 256 + merges, [])
    for letters in ("abcdef  ", "aab  ", "Zéa日 "):
        agree(student.train, ref.train, few_letters(60, letters), 256 + merges, [])


@number("4.3")
@weight(0.75)
@visibility("after_published")
def test_train_end(student):
    """Training ends when no pair occurs twice, or when the vocabulary is full, even at once."""
    for text in ("ab ab", "abab", "aaaa", "a", "abc", "", "é", "aaa", "ab cd ab", "x xx x"):
        for size in (300, 258, 257, 256):
            agree(student.train, ref.train, text, size, [])


@number("4.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("specials", [["<|end|>"], SPECIALS[::-1], ["é日"], ["a"]])
def test_train_specials(student, specials):
    """Specials count in the size, stand last in their order, and are not trained on."""
    text = with_specials(9, specials)
    for merges in (0, 1, 40):
        agree(student.train, ref.train, text, 256 + merges + len(specials), specials)
    agree(student.train, ref.train, few_letters(30), 263, specials)


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_train_any_text(student):
    """All alphabets; the specials stay as they are, and earlier calls make no difference."""
    agree(student.train, ref.train, draw_text(40), 280, [])
    agree(student.train, ref.train, "a_b a_b  1 12 123 12 1\n\n1", 270, [])
    leaves_inputs(student.train, few_letters(30), 262, SPECIALS)
    calls = (few_letters(30), 262, SPECIALS), (few_letters(60), 265, []), (few_letters(9), 257, ["b"]), (OLD, 300, [])
    agree_in_turn(student.train, ref.train, *calls)
    for size in (257, 261, 264):
        agree(student.train, ref.train, few_letters(40), size, [])

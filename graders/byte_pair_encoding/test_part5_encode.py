"""Hidden tests of part 5: from text to ids."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import OLD, SPECIALS, few_letters, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs


def learned(text, merges):
    """Return the merges that training finds in a text."""
    return ref.train(text, 256 + merges, [])[1]


@number("5.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("merges", [0, 1, 6, 20])
def test_encode_merges(student, merges):
    """Each piece is merged as far as it goes; merge number r has id 256 + r."""
    for letters in ("aab  ", "abcd  "):
        known = learned(few_letters(120, letters), merges)
        agree(student.encode, ref.encode, few_letters(50, letters), known, [])
    agree(student.encode, ref.encode, "lowest low newer wide", learned(OLD, merges), [])


@number("5.2")
@weight(0.75)
@visibility("after_published")
def test_encode_lowest_rank_first(student):
    """In each step the pair with the lowest rank is merged: not the longest token, nor each merge once in its turn."""
    a, b, c, d, ab, bc, abc = b"a", b"b", b"c", b"d", b"ab", b"bc", b"abc"
    lists = [
        [(b, c), (a, b), (ab, c)],
        [(a, b), (b, c), (c, d), (ab, c)],
        [(c, d), (b, c), (a, b), (ab, b"cd")],
        [(ab, c), (a, b)],
        [(abc, d), (ab, c), (a, b)],
        [(a, bc), (bc, d), (b, c)],
    ]
    for merges in lists:
        for text in ("abcd", "abc", "bcd abcabcd", few_letters(30, "abcd ")):
            agree(student.encode, ref.encode, text, merges, [])
    for length in range(2, 8):
        agree(student.encode, ref.encode, "a" * length, [(b"aa", b"a"), (b"a", b"a")], [])


@number("5.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("specials", [["<|end|>"], SPECIALS, SPECIALS[::-1], ["日", "a"]])
def test_encode_specials(student, specials):
    """A special is one id behind all merges, the longest goes first, and nothing is merged across one."""
    for merges in (0, 8):
        known = learned(few_letters(90), merges)
        agree(student.encode, ref.encode, with_specials(7, specials), known, specials)
        agree(student.encode, ref.encode, few_letters(20), known, specials)
    agree(student.encode, ref.encode, "a<|end|>a<|end|", [(b"|", b">"), (b"a", b"<"), (b"<", b"|")], specials)
    agree(student.encode, ref.encode, "a<|end|>", [], [])


@number("5.4")
@weight(0.75)
@visibility("after_published")
def test_encode_any_text(student):
    """Every text has ids: other alphabets, characters that training has not seen, an empty text, a single character."""
    whole = learned("日本語 " * 4, 20)  # more merges than characters
    agree(student.encode, ref.encode, "日本語 日本語", whole, [])
    known = learned("é é naïve 日本 日本語 " + draw_text(40), 25)
    for text in ("", "a", "é", "日本", "😀", " ", "\n", "naïve 日本語 naïve\n", draw_text(15)):
        agree(student.encode, ref.encode, text, known, [])
        agree(student.encode, ref.encode, text, [], ["<|end|>"])


@number("5.5")
@weight(0.5)
@visibility("after_published")
def test_encode_conduct(student):
    """No merge crosses a piece; merges and specials stay as they are, and earlier calls make no difference."""
    across = [(b"a", b" "), (b" ", b"b"), (b"b", b"1"), (b"1", b"."), (b" ", b" "), (b"b", b" b")]
    agree(student.encode, ref.encode, "a b b1 1.  b  1", across, [])
    known = learned(few_letters(80), 9)
    leaves_inputs(student.encode, few_letters(20), known, SPECIALS)
    calls = (
        (few_letters(20), known, SPECIALS),
        (few_letters(20), known[:3], SPECIALS),
        (few_letters(9), known[::-1], []),
    )
    agree_in_turn(student.encode, ref.encode, *calls)
    agree(student.encode, ref.encode, few_letters(20), known, SPECIALS[:1])

"""Hidden tests of part 2: words and pairs."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import SPECIALS, few_letters, merged_words, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs


@number("2.1")
@weight(0.5)
@visibility("after_published")
def test_words_counted(student):
    """Each different piece once, as single bytes, with its count, in the order of the first occurrence."""
    for text in ("ab ab cd ab", "é 日本 é", "a", " a a", "x\n\ny", "aa", ""):
        agree(student.count_words, ref.count_words, text, [])
    agree(student.count_words, ref.count_words, few_letters(60), [])
    agree(student.count_words, ref.count_words, draw_text(12, different=11), [])


@number("2.2")
@weight(0.5)
@visibility("after_published")
def test_words_counted_beside_specials(student):
    """Specials count nothing, and no piece crosses one."""
    for specials in (["<|end|>"], SPECIALS, SPECIALS[::-1], ["a"]):
        agree(student.count_words, ref.count_words, with_specials(9, specials), specials)
    agree(student.count_words, ref.count_words, "ab<|end|>ab c<|end|>", ["<|end|>"])
    agree(student.count_words, ref.count_words, "<|end|>", ["<|end|>"])
    leaves_inputs(student.count_words, "ab<|end|>", SPECIALS)
    calls = ("ab ab", SPECIALS), (few_letters(40), []), ("a", ["a"])
    agree_in_turn(student.count_words, ref.count_words, *calls)


@number("2.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("merges", [0, 1, 4])
def test_words_pairs(student, merges):
    """Each pair is counted once for each occurrence of its word."""
    for count in (0, 1, 12, 80):
        agree(student.pair_counts, ref.pair_counts, merged_words(count, merges))
    agree(student.pair_counts, ref.pair_counts, [([b"a", b"b"], 3), ([b"c", b"a", b"b"], 4)])
    agree(student.pair_counts, ref.pair_counts, [([b"ab", b"c"], 2), ([b"a", b"bc"], 5), ([b"ab", b"c"], 1)])


@number("2.4")
@weight(1)
@visibility("after_published")
def test_words_runs(student):
    """In a run of equal symbols each neighbour counts; a word of one symbol has none; earlier calls change nothing."""
    for length in (1, 2, 3, 4, 7):
        agree(student.pair_counts, ref.pair_counts, [([b"a"] * length, 2), ([b"ab"] * length + [b"a"], 3)])
    agree(student.pair_counts, ref.pair_counts, [([b"a"], 5)])
    agree(student.pair_counts, ref.pair_counts, [])
    words = merged_words(60, 3)
    leaves_inputs(student.pair_counts, words)
    agree_in_turn(student.pair_counts, ref.pair_counts, [words[:4]], [words], [words[:1]])

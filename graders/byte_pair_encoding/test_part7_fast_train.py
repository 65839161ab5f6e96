"""Hidden tests of part 7: training with work that grows with what a merge changes."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import OLD, SPECIALS, few_letters, many_words, with_specials
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, draw_text, leaves_inputs, work_grows_like


@number("7.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("merges", [1, 5, 30])
def test_fast_train_same_merges(student, merges):
    """The merges and the vocabulary of `train`: counts of neighbours are corrected, in runs and in ties too."""
    agree(student.fast_train, ref.fast_train, OLD, 256 + merges, [])
    for letters in ("abcdef  ", "aaab  ", "Zéa日 "):
        agree(student.fast_train, ref.fast_train, few_letters(60, letters), 256 + merges, [])


@number("7.2")
@weight(0.5)
@visibility("after_published")
def test_fast_train_same_ends(student):
    """Short texts, specials, other alphabets, and any calls before."""
    for text in ("abab", "ab ab", "aaaa", "a", "", "x xx x"):
        for size in (256, 257, 300):
            agree(student.fast_train, ref.fast_train, text, size, [])
    for specials in (SPECIALS, ["a"]):
        for merges in (0, 40):
            size = 256 + merges + len(specials)
            agree(student.fast_train, ref.fast_train, with_specials(9, specials), size, specials)
    agree(student.fast_train, ref.fast_train, draw_text(40), 280, [])
    leaves_inputs(student.fast_train, few_letters(30), 262, SPECIALS)
    calls = (few_letters(30), 262, SPECIALS), (few_letters(60), 265, []), (few_letters(9), 257, ["b"]), (OLD, 300, [])
    agree_in_turn(student.fast_train, ref.fast_train, *calls)
    for size in (257, 261, 264):
        agree(student.fast_train, ref.fast_train, few_letters(40), size, [])


def one_merge():
    """Return a question with many words and a single merge."""
    return many_words(1600), 257, []


def many_merges():
    """Return a question with many words and many merges."""
    return many_words(1600), 406, []


@number("7.3")
@weight(1)
@visibility("after_published")
def test_fast_train_work(student):
    """A merge takes work where its pair stands, and not in all words."""
    agree(student.fast_train, ref.fast_train, few_letters(60), 266, [])
    # A heap whose entries are compared in Python takes twice as long as the reference, and `train` 17 times.
    work_grows_like("the number of merges", student.fast_train, ref.fast_train, one_merge, many_merges)

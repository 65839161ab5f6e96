"""Hidden tests of part 3: merging a pair in a word."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.byte_pair_encoding.inputs import chosen
from reference import byte_pair_encoding as ref
from softmark import agree, agree_in_turn, leaves_inputs


def word_of(members, count):
    """Return a word of drawn symbols."""
    return [symbol.encode() for symbol in chosen(members, count)]


@number("3.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("count", [2, 3, 9, 30])
def test_merge_pairs(student, count):
    """Every place of the pair is merged, also the last one, and nothing else."""
    word = word_of("abc", count)
    for pair in ((b"a", b"b"), (b"b", b"a"), (b"c", b"b"), (b"a", b"x")):
        agree(student.merge, ref.merge, word, pair)
        agree(student.merge, ref.merge, [*word, *pair], pair)
    agree(student.merge, ref.merge, [b"a", b"b"], (b"a", b"b"))


@number("3.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("length", [2, 3, 4, 5, 8])
def test_merge_runs(student, length):
    """A run of equal symbols is merged from left to right, each symbol once."""
    run = [b"a"] * length
    for word in (run, [b"b", *run], [*run, b"b"], [*run, b"b", *run]):
        agree(student.merge, ref.merge, word, (b"a", b"a"))


@number("3.3")
@weight(0.5)
@visibility("after_published")
def test_merge_symbols(student):
    """Symbols are compared whole, whatever their bytes; an empty word stays empty, and the word is not changed."""
    for word in ([b"ab", b"c", b"a", b"bc"], [b"a", b"b", b"ab", b"b"], [b"\xc3", b"\xa9", b"\xc3\xa9"], [b"abc"], []):
        for pair in ((b"ab", b"c"), (b"a", b"bc"), (b"a", b"b"), (b"\xc3", b"\xa9")):
            agree(student.merge, ref.merge, word, pair)
    word = word_of("ab", 12)
    leaves_inputs(student.merge, word, (b"a", b"b"))
    calls = (word[:6], (b"a", b"b")), (word, (b"b", b"a")), ([b"b"], (b"a", b"b"))
    agree_in_turn(student.merge, ref.merge, *calls)

"""Public tests: byte pair encoding. Run them with `softmark check`.

The answers are in examples.json: small texts, and what is right for them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number

from softmark import agree, leaves_inputs

TEXT = "a text\n\n  with  _signs_ 123 and naïve words: aaa aaaa 猫!"
SPECIALS = ["<a>", "<a><a>"]


# Part 1: pieces and segments --------------------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["pieces", "pieces, other signs"])
def test_pieces(student, example, name):
    """Letters, digits, other signs, and white space."""
    example(student.pieces, name)


@number("1.2")
def test_pieces_of_any_text(student):
    """Together, the pieces are the text."""
    for text in ("", " ", "a", "\n", TEXT):
        agree("".join(student.pieces(text)), text)
    agree(student.pieces(""), [])


@number("1.3")
@pytest.mark.parametrize("name", ["segments", "segments, no specials"])
def test_segments(student, example, name):
    """Specials are segments of their own."""
    example(student.segments, name)


@number("1.4")
def test_segments_at_the_edges(student):
    """An empty text has no segments; the longest special goes first, in whatever order they are given."""
    agree(student.segments("", SPECIALS), [])
    agree(student.segments("", []), [])
    for specials in (SPECIALS, SPECIALS[::-1]):
        agree(student.segments("<a><a>b<a>", specials), ["<a><a>", "b", "<a>"])


# Part 2: words and pairs ------------------------------------------------------------------------------------


@number("2.1")
def test_count_words(student, example):
    """Words of single bytes, with their counts."""
    example(student.count_words, "count_words")
    agree(student.count_words("", []), [])


@number("2.2")
def test_pair_counts(student, example):
    """The counts of two symbols that stand side by side."""
    example(student.pair_counts, "pair_counts")
    agree(student.pair_counts([]), {})


# Part 3: merge ----------------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["merge", "merge, a run"])
def test_merge(student, example, name):
    """From left to right, and each symbol once."""
    example(student.merge, name)


@number("3.2")
def test_merge_leaves_its_word(student):
    """The result is a new word."""
    leaves_inputs(student.merge, [b"a", b"b", b"a", b"b"], (b"a", b"b"))
    agree(student.merge([b"ab"], (b"a", b"b")), [b"ab"])


# Part 4: train ----------------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["train", "train, ties", "train, specials", "train, until no pair occurs twice"])
def test_train(student, example, name):
    """The vocabulary and the merges."""
    example(student.train, name)


@number("4.2")
def test_train_without_a_text(student):
    """An empty text has no merges, and all bytes are in the vocabulary."""
    vocabulary, merges = student.train("", 300, ["<a>"])
    agree(merges, [])
    agree(vocabulary, {**{i: bytes([i]) for i in range(256)}, 256: b"<a>"})


# Part 5: encode ---------------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["encode", "encode, lowest rank first", "encode, any merges", "encode, specials"])
def test_encode(student, example, name):
    """Specials are one id, pieces are merged by rank."""
    example(student.encode, name)


@number("5.2")
def test_encode_any_text(student):
    """Without merges, the ids are the bytes of the text."""
    for text in ("", "a", "é", TEXT):
        agree(student.encode(text, [], []), list(text.encode()))


# Part 6: decode ---------------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["decode", "decode, no UTF-8"])
def test_decode(student, example, name):
    """The bytes of all ids are one string of UTF-8."""
    example(student.decode, name)


@number("6.2")
def test_there_and_back(student):
    """Decoding what was encoded gives the text again."""
    vocabulary, merges = student.train(TEXT, 275, SPECIALS)
    for text in (TEXT, "<a>" + TEXT + "<a><a>", ""):
        agree(student.decode(student.encode(text, merges, SPECIALS), vocabulary), text)


# Part 7: fast_train -----------------------------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("name", ["fast_train", "fast_train, specials"])
def test_fast_train(student, example, name):
    """The vocabulary and the merges of `train`."""
    example(student.fast_train, name)


@number("7.2")
def test_fast_train_of_runs(student):
    """Runs of equal letters, ties, and texts that are too short."""
    for text in ("", "aaaa", "aaa aaaa aaaaa aaaaaa", "bc cd ac dc cd bc", TEXT):
        agree(student.fast_train(text, 266, SPECIALS), student.train(text, 266, SPECIALS))

"""Byte pair encoding: a vocabulary of subwords, learned from a text.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

    text ── segments ──► specials
                │
                └──► pieces ──► bytes ──► merges, in the order of their ranks ──► ids ── decode ──► text

A word that is frequent becomes one token, a rare one several: 'Aragorn' is 'Ar', 'ag', 'orn'. Nothing is ever
unknown, because the first 256 tokens are the single bytes, and every text is bytes.

A *word* is a list of byte strings, its symbols. At first these are the single bytes of a piece of the text. A *merge*
is a pair of symbols that become one. Training finds the merges: again and again, the pair that stands side by side
most often. Encoding applies them to other texts.
"""

import re
from collections import Counter
from itertools import pairwise

Word = list[bytes]
Pair = tuple[bytes, bytes]

# ------------------------------------------------------------------------------------------------------------
# Part 1: pieces and segments
# ------------------------------------------------------------------------------------------------------------


def pieces(text: str) -> list[str]:
    """Cut a text into pieces of one kind each: letters, digits, other signs, or space.

    A space in front of letters, digits or signs belongs to their piece: the last one, if there are several.

    returns the pieces in their order; together they are the text
    """
    raise NotImplementedError("part 1: pieces")


def segments(text: str, specials: list[str]) -> list[str]:
    """Cut a text at its specials, such as '<|end|>', which are segments of their own.

    Where several specials begin at the same place, the longest is meant.

    returns the segments in their order, none of them empty; together they are the text
    """
    raise NotImplementedError("part 1: segments")


# ------------------------------------------------------------------------------------------------------------
# Part 2: words and pairs
# ------------------------------------------------------------------------------------------------------------


def count_words(text: str, specials: list[str]) -> list[tuple[Word, int]]:
    """List the different pieces of a text outside of its specials, as words of single bytes, with their counts.

    returns tuples (word, count) in the order in which the words occur first
    """
    raise NotImplementedError("part 2: count_words")


def pair_counts(words: list[tuple[Word, int]]) -> dict[Pair, int]:
    """Count how often two symbols stand side by side, in all words together.

    words: tuples (word, count): a word that occurs 5 times counts 5 times
    returns the count of each pair that occurs; in a run a a a the pair (a, a) stands twice
    """
    raise NotImplementedError("part 2: pair_counts")


# ------------------------------------------------------------------------------------------------------------
# Part 3: merge
# ------------------------------------------------------------------------------------------------------------


def merge(word: Word, pair: Pair) -> Word:
    """Join the two symbols of a pair wherever they stand side by side, from left to right.

    returns the new word; a symbol is joined once only, so a run a a a becomes aa a
    """
    raise NotImplementedError("part 3: merge")


# ------------------------------------------------------------------------------------------------------------
# Part 4: train
# ------------------------------------------------------------------------------------------------------------


def train(text: str, size: int, specials: list[str]) -> tuple[dict[int, bytes], list[Pair]]:
    """Learn merges until the vocabulary has `size` tokens, or until no pair occurs twice.

    The most frequent pair is merged next. Of several that are equally frequent, it is the greatest, as Python compares
    them.

    size                the most tokens: 256 bytes, the merges, and the specials
    returns the tuple (vocabulary, merges)
        vocabulary      the bytes of each id: first the single bytes, then the merges, last the specials
        merges          the pairs in the order in which they were merged
    """
    raise NotImplementedError("part 4: train")


# ------------------------------------------------------------------------------------------------------------
# Part 5: encode
# ------------------------------------------------------------------------------------------------------------


def encode(text: str, merges: list[Pair], specials: list[str]) -> list[int]:
    """Turn a text into ids: each special is one id, and each piece is merged as far as it goes.

    In every step, of all pairs of a word the one with the lowest rank (its index in `merges`) is merged, wherever it
    stands.

    returns the ids: a byte is its own id, merge number r has id 256 + r, the specials come behind all merges
    """
    raise NotImplementedError("part 5: encode")


# ------------------------------------------------------------------------------------------------------------
# Part 6: decode
# ------------------------------------------------------------------------------------------------------------


def decode(ids: list[int], vocabulary: dict[int, bytes]) -> str:
    """Turn ids into a text. Bytes that are no UTF-8 become the replacement character U+FFFD.

    A character may be spread over several tokens, so the bytes of all ids are one string before it is read as UTF-8.
    """
    raise NotImplementedError("part 6: decode")


# ------------------------------------------------------------------------------------------------------------
# Part 7: fast_train
# ------------------------------------------------------------------------------------------------------------


def fast_train(text: str, size: int, specials: list[str]) -> tuple[dict[int, bytes], list[Pair]]:
    """Learn what `train` learns, with work that grows with what a merge changes.

    The counts are made once. A merge then looks only at the words that hold its pair, and corrects the counts of their
    pairs.
    """
    raise NotImplementedError("part 7: fast_train")

"""Byte pair encoding: a vocabulary of subwords, learned from a text.

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
    # BEGIN SOLUTION
    letters = r" ?[^\W\d_]+"
    digits = r" ?\d+"
    signs = r" ?(?:[^\w\s]|_)+"
    space_before_a_piece = r"\s+(?!\S)"  # all but the last character, which may belong to what follows
    other_space = r"\s+"
    kinds = [letters, digits, signs, space_before_a_piece, other_space]
    return re.findall("|".join(kinds), text)
    # END SOLUTION


def segments(text: str, specials: list[str]) -> list[str]:
    """Cut a text at its specials, such as '<|end|>', which are segments of their own.

    Where several specials begin at the same place, the longest is meant.

    returns the segments in their order, none of them empty; together they are the text
    """
    # BEGIN SOLUTION
    if not specials:
        return [text] if text else []
    longest_first = sorted(specials, key=len, reverse=True)
    any_special = "|".join(map(re.escape, longest_first))
    cut = re.split(f"({any_special})", text)
    return [segment for segment in cut if segment]
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: words and pairs
# ------------------------------------------------------------------------------------------------------------


def count_words(text: str, specials: list[str]) -> list[tuple[Word, int]]:
    """List the different pieces of a text outside of its specials, as words of single bytes, with their counts.

    returns tuples (word, count) in the order in which the words occur first
    """
    # BEGIN SOLUTION
    counts: Counter[str] = Counter()
    for segment in segments(text, specials):
        if segment not in specials:
            counts.update(pieces(segment))
    words = []
    for piece, count in counts.items():
        word = [bytes([byte]) for byte in piece.encode()]
        words.append((word, count))
    return words
    # END SOLUTION


def pair_counts(words: list[tuple[Word, int]]) -> dict[Pair, int]:
    """Count how often two symbols stand side by side, in all words together.

    words: tuples (word, count): a word that occurs 5 times counts 5 times
    returns the count of each pair that occurs; in a run a a a the pair (a, a) stands twice
    """
    # BEGIN SOLUTION
    counts: dict[Pair, int] = {}
    for word, count in words:
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + count
    return counts
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: merge
# ------------------------------------------------------------------------------------------------------------


def merge(word: Word, pair: Pair) -> Word:
    """Join the two symbols of a pair wherever they stand side by side, from left to right.

    returns the new word; a symbol is joined once only, so a run a a a becomes aa a
    """
    # BEGIN SOLUTION
    merged = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and (word[i], word[i + 1]) == pair:
            merged.append(word[i] + word[i + 1])
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged
    # END SOLUTION


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
    # BEGIN SOLUTION
    words = count_words(text, specials)
    merges: list[Pair] = []
    while 256 + len(merges) + len(specials) < size:
        counts = pair_counts(words)
        best = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        words = [(merge(word, best), count) for word, count in words]
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [first + second for first, second in merges]
    tokens += [special.encode() for special in specials]
    return dict(enumerate(tokens)), merges
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: encode
# ------------------------------------------------------------------------------------------------------------


def encode(text: str, merges: list[Pair], specials: list[str]) -> list[int]:
    """Turn a text into ids: each special is one id, and each piece is merged as far as it goes.

    In every step, of all pairs of a word the one with the lowest rank (its index in `merges`) is merged, wherever it
    stands.

    returns the ids: a byte is its own id, merge number r has id 256 + r, the specials come behind all merges
    """
    # BEGIN SOLUTION
    rank = {pair: r for r, pair in enumerate(merges)}
    id_of = {bytes([byte]): byte for byte in range(256)}
    for (first, second), r in rank.items():
        id_of[first + second] = 256 + r
    ids = []
    for segment in segments(text, specials):
        if segment in specials:
            ids.append(256 + len(merges) + specials.index(segment))
            continue
        for piece in pieces(segment):
            word = [bytes([byte]) for byte in piece.encode()]
            for _ in range(len(word)):  # each merge makes the word shorter
                known = [pair for pair in pairwise(word) if pair in rank]
                if not known:
                    break
                word = merge(word, min(known, key=lambda pair: rank[pair]))
            ids += [id_of[symbol] for symbol in word]
    return ids
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: decode
# ------------------------------------------------------------------------------------------------------------


def decode(ids: list[int], vocabulary: dict[int, bytes]) -> str:
    """Turn ids into a text. Bytes that are no UTF-8 become the replacement character U+FFFD.

    A character may be spread over several tokens, so the bytes of all ids are one string before it is read as UTF-8.
    """
    # BEGIN SOLUTION
    data = b"".join([vocabulary[i] for i in ids])
    return data.decode("utf-8", errors="replace")
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: fast_train
# ------------------------------------------------------------------------------------------------------------


def fast_train(text: str, size: int, specials: list[str]) -> tuple[dict[int, bytes], list[Pair]]:
    """Learn what `train` learns, with work that grows with what a merge changes.

    The counts are made once. A merge then looks only at the words that hold its pair, and corrects the counts of their
    pairs.
    """
    # BEGIN SOLUTION
    words = count_words(text, specials)
    counts = pair_counts(words)
    holders: dict[Pair, set[int]] = {}              # the words in which a pair stands, or has stood
    for number, (word, _) in enumerate(words):
        for pair in pairwise(word):
            holders.setdefault(pair, set()).add(number)
    with_count: dict[int, set[Pair]] = {}           # the pairs of each count
    for pair, count in counts.items():
        with_count.setdefault(count, set()).add(pair)
    most = max(with_count, default=0)               # never grows: a new pair occurs no more often than the one merged

    merges: list[Pair] = []
    while 256 + len(merges) + len(specials) < size:
        while most > 1 and not with_count.get(most):
            most -= 1
        if most < 2:
            break
        best = max(with_count[most])
        merges.append(best)
        changes: Counter[Pair] = Counter()
        for number in holders[best]:
            word, count = words[number]
            merged = merge(word, best)
            for pair in pairwise(word):
                changes[pair] -= count
            for pair in pairwise(merged):
                changes[pair] += count
                holders.setdefault(pair, set()).add(number)
            words[number] = merged, count
        for pair, change in changes.items():
            old = counts.get(pair, 0)
            with_count.get(old, set()).discard(pair)
            counts[pair] = old + change
            with_count.setdefault(old + change, set()).add(pair)
    tokens = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        tokens.append(first + second)
    for special in specials:
        tokens.append(special.encode())
    return dict(enumerate(tokens)), merges
    # END SOLUTION

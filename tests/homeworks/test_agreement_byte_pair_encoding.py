"""The reference of `byte_pair_encoding` agrees with tiktoken, with tokenizers, and with the published algorithm.

Nothing is downloaded: both libraries get the merges that the reference has learned.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
import tiktoken
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from reference import byte_pair_encoding as bpe

PIECE = r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+"
SPECIALS = ["<|end|>", "<|pad|>"]
PAPER = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
"""The words of Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units"."""
TEXTS = [
    "The low lowlands are lower, and the newest is the widest of 120 new ones!\n\n  All is well.",
    "naïve Bäume: größer, größte; 日本語 日本 😀😀 x_1 = 3.5  \t\n",
    "aaaa aaa aa a aaaaa aaaaaaab",
]


def drawn_text(seed: int) -> str:
    dice = random.Random(seed)
    words = [
        "".join(dice.choices("abné日 1_.", weights=[9, 5, 3, 2, 2, 1, 1, 1, 1], k=dice.randint(1, 9)))
        for _ in range(60)
    ]
    return " ".join(dice.choices(words, k=150))


def learned(text: str, merges: int = 60) -> tuple[dict[int, bytes], list[bpe.Pair]]:
    return bpe.train(text, 256 + merges + len(SPECIALS), SPECIALS)


def in_tiktoken(vocabulary: dict[int, bytes]) -> tiktoken.Encoding:
    """Return tiktoken's encoder with this vocabulary: its ranks are ids."""
    specials = {special.encode() for special in SPECIALS}
    ranks = {token: i for i, token in vocabulary.items() if token not in specials}
    of_specials = {token.decode(): i for i, token in vocabulary.items() if token in specials}
    return tiktoken.Encoding("ours", pat_str=PIECE, mergeable_ranks=ranks, special_tokens=of_specials)


def characters() -> dict[int, str]:
    """Return a printable character for each byte, as tokenizers writes bytes."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return {byte: chr(byte) for byte in shown} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def in_tokenizers(vocabulary: dict[int, bytes], merges: list[bpe.Pair]) -> Tokenizer:
    """Return the tokenizer of tokenizers with these merges."""
    table = characters()

    def written(token: bytes) -> str:
        return "".join(table[byte] for byte in token)

    known = {written(token): i for i, token in vocabulary.items()}
    tokenizer = Tokenizer(models.BPE(vocab=known, merges=[(written(a), written(b)) for a, b in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECE), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


@pytest.mark.parametrize("seed", range(6))
class TestLibraries:
    def test_tiktoken(self, seed: int) -> None:
        """Ids, specials included, and the way back."""
        vocabulary, merges = learned(drawn_text(seed))
        theirs = in_tiktoken(vocabulary)
        for text in (*TEXTS, drawn_text(seed + 100), "<|end|>" + "<|pad|>".join(TEXTS) + "<|pad|><|end|>"):
            ids = bpe.encode(text, merges, SPECIALS)
            assert ids == theirs.encode(text, allowed_special="all")
            assert bpe.decode(ids, vocabulary) == theirs.decode(ids) == text
            assert bpe.decode(ids[1:-1], vocabulary) == theirs.decode(ids[1:-1], errors="replace")

    def test_tokenizers(self, seed: int) -> None:
        """Ids, without specials, and the way back."""
        vocabulary, merges = learned(drawn_text(seed))
        theirs = in_tokenizers(vocabulary, merges)
        for text in (*TEXTS, drawn_text(seed + 100)):
            ids = bpe.encode(text, merges, SPECIALS)
            assert ids == theirs.encode(text).ids
            assert theirs.decode(ids) == text


def published(words: dict[str, int], merges: int) -> list[tuple[str, str]]:
    """Return the merges of the program in the paper; its words are texts with spaces between the symbols.

    It takes the first of several most frequent pairs. Here it takes the greatest, as later versions do.
    """
    vocabulary = {" ".join(word): count for word, count in words.items()}
    found = []
    for _ in range(merges):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in vocabulary.items():
            symbols = word.split()
            for i in range(len(symbols) - 1):
                pairs[symbols[i], symbols[i + 1]] += count
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        pattern = re.compile(r"(?<!\S)" + re.escape(" ".join(best)) + r"(?!\S)")
        vocabulary = {pattern.sub("".join(best), word): count for word, count in vocabulary.items()}
        found.append(best)
    return found


class TestPaper:
    def test_merges(self) -> None:
        """The merges are those of the published program, as long as a pair occurs twice."""
        text = ";".join(word for word, count in PAPER.items() for _ in range(count))  # no spaces, so no piece has one
        _, merges = bpe.train(text, 256 + 12, [])
        assert [(a.decode(), b.decode()) for a, b in merges] == published(PAPER, 12)
        assert [(a + b).decode() for a, b in merges[:4]] == ["st", "est", "ow", "low"]

    @pytest.mark.parametrize("seed", range(5))
    def test_drawn_words(self, seed: int) -> None:
        """The same for words of few letters, in which pairs tie."""
        dice = random.Random(seed)
        words = {"".join(dice.choices("abc", k=dice.randint(2, 7))): dice.randint(2, 5) for _ in range(12)}
        text = ";".join(word for word, count in words.items() for _ in range(count))
        for train in (bpe.train, bpe.fast_train):
            _, merges = train(text, 256 + 15, [])
            assert [(a.decode(), b.decode()) for a, b in merges] == published(words, 15)

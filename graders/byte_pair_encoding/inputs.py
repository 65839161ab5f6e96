"""Texts, words and merges that the hidden tests of several parts draw."""

from reference import byte_pair_encoding as ref
from softmark import draw_integers

SPECIALS = ["<|end|>", "<|", "<|end|>s"]
"""Two of them begin like another one. The sign | means something in regular expressions."""
OLD = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"  # its counts tie


def chosen(members: str, count: int) -> list[str]:
    """Return this many of the characters, drawn with their frequencies."""
    return [members[i] for i in draw_integers(0, len(members), "count", count=count).tolist()]


def few_letters(count: int, letters: str = "aaab  ") -> str:
    """Return a text of so many characters: words of few letters, so that they repeat, and so that pairs tie and run."""
    return "".join(chosen(letters, count))


def with_specials(count: int, specials: list[str]) -> str:
    """Return a text of few letters with specials between its words, beside each other, and at both ends."""
    places = draw_integers(0, len(specials), "count", count=count).tolist()
    return "".join(few_letters(6) + specials[place] for place in [0, *places]) + specials[-1]


def merged_words(count: int, merges: int) -> list[tuple[list[bytes], int]]:
    """Return the words of a text with counts, after some merges: their symbols are of different lengths."""
    text = few_letters(count)
    words = ref.count_words(text, [])
    for pair in ref.train(text, 256 + merges, [])[1]:
        words = [(ref.merge(word, pair), count) for word, count in words]
    return words


def many_words(count: int, letters: int = 16) -> str:
    """Return a text of so many different words of 3 to 7 letters."""
    alphabet = "etaoinshrdlcumwf"[:letters]
    words: dict[str, None] = {}
    while len(words) < count:
        lengths = draw_integers(3, 8, "n", n=count).tolist()
        drawn = "".join(chosen(alphabet, sum(lengths)))
        for length in lengths:
            words[drawn[:length]] = None
            drawn = drawn[length:]
    return " ".join(list(words)[:count])

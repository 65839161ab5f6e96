"""Makes texts for hidden tests: few words, repeated and equally frequent, with all signs that break a tokeniser."""

from __future__ import annotations

import torch

from softmark.verdict.context import current_test

_LATIN, _ACCENTED, _GREEK, _CYRILLIC, _HAN = "abdeginorstu", "àçéíñöšüžœ", "αβγδεζλσω", "бгджилнря", "你好世界学习机器"
_ENDS = (" ", " ", " ", " ", ", ", ". ", "  ", "\n", "! ", " – ")
"""The signs between words; a space is the commonest."""


def draw_text(words: int, different: int = 10) -> str:
    """Return a text of this many words: `draw_text(30, different=8)`.

    Its `different` words occur equally often, or once more, in a random order, so that many of them tie. From ten on
    they hold one of each kind: a plain word, one with a capital, an apostrophe, digits, accents, Greek, Cyrillic and
    Chinese letters, a word of one letter, and a very long one. Commas, full stops, dashes, double spaces and line ends
    stand between them.
    """
    if words < 0 or different < 1:
        raise ValueError(
            f"draw_text({words}, {different}): a text has no fewer than 0 words, of 1 different word at least"
        )
    vocabulary = _vocabulary(different)
    order = torch.randperm(words, generator=current_test().generator).tolist()
    return "".join(vocabulary[place % different] + _ENDS[_below(len(_ENDS))] for place in order).rstrip(" ,–")


def draw_documents(count: int, words: int = 12, different: int = 10) -> list[str]:
    """Return this many texts of at most `words` words: `draw_documents(6)`.

    The second of them is empty, the third has a single word, the fourth says one word again and again. The words are
    others in each text, but for one word that is in every text with words.
    """
    if count < 1:
        raise ValueError(f"draw_documents({count}): there is at least one text")
    common = _word("plain")
    texts = [f"{common} {draw_text(1 + _below(words), different)}" for _ in range(count)]
    special = ["", common, " ".join([common] * 5)]
    return [*texts[:1], *special[: count - 1], *texts[4:]]


def _vocabulary(different: int) -> list[str]:
    """Return words that differ from each other in more than upper and lower case."""
    kinds = list(_KINDS)
    words: dict[str, str] = {}
    while len(words) < different:
        word = _word(kinds[len(words) % len(kinds)])
        words.setdefault(word.lower(), word)
    return list(words.values())


def _word(kind: str) -> str:
    return _KINDS[kind]()


def _letters(alphabet: str, shortest: int, longest: int) -> str:
    return "".join(alphabet[_below(len(alphabet))] for _ in range(shortest + _below(longest - shortest + 1)))


def _below(limit: int) -> int:
    """Return a random whole number from 0 to `limit - 1`."""
    return int(torch.randint(limit, (), generator=current_test().generator))


_KINDS = {
    "plain": lambda: _letters(_LATIN, 2, 6),
    "capital": lambda: _letters(_LATIN, 3, 6).capitalize(),
    "apostrophe": lambda: f"{_letters(_LATIN, 2, 4)}'{_letters(_LATIN, 1, 2)}",
    "digits": lambda: f"{_letters(_LATIN, 1, 2)}{_below(90) + 10}",
    "accented": lambda: _letters(_LATIN, 1, 3) + _letters(_ACCENTED, 1, 2),
    "greek": lambda: _letters(_GREEK, 3, 5),
    "cyrillic": lambda: _letters(_CYRILLIC, 3, 5),
    "chinese": lambda: _letters(_HAN, 2, 3),
    "one letter": lambda: _letters(_LATIN, 1, 1),
    "long": lambda: _letters(_LATIN, 40, 60),
}

"""Drawn texts: the same for every student, with ties, and with all that breaks a tokeniser."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from softmark import draw_documents, draw_text
from softmark.verdict.context import TestContext, activate

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@pytest.fixture(autouse=True)
def case() -> object:
    with activate(TestContext(seed=7)):
        yield


def again(seed: int) -> list[str]:
    with activate(TestContext(seed=seed)):
        return draw_documents(5)


class TestText:
    """One text."""

    def test_has_as_many_words_as_were_asked_for(self) -> None:
        """All of its words are found, and they are as many different ones as asked for."""
        words = WORD.findall(draw_text(34, different=11))
        assert len(words) == 34
        assert len({word.lower() for word in words}) == 11

    def test_its_words_tie(self) -> None:
        """Each word occurs as often as the others, or once more."""
        counts = Counter(WORD.findall(draw_text(25, different=10)))
        assert sorted(counts.values()) == [2] * 5 + [3] * 5

    def test_has_every_kind_of_word(self) -> None:
        """Apostrophes, digits, capitals, letters beyond Latin-1, one letter and very many."""
        text = draw_text(40)
        words = WORD.findall(text)
        assert any("'" in word for word in words)
        assert any(word[-1].isdigit() for word in words)
        assert any(word[0].isupper() for word in words)
        assert any(ord(letter) > 0x4E00 for letter in text)
        assert any(0x400 <= ord(letter) < 0x500 for letter in text)
        assert {1, max(map(len, words))} <= {len(word) for word in words}
        assert max(map(len, words)) >= 40

    @pytest.mark.parametrize(("words", "different"), [(0, 3), (1, 1), (3, 9)])
    def test_may_be_short(self, words: int, different: int) -> None:
        """No word, one word, and fewer words than different ones."""
        assert len(WORD.findall(draw_text(words, different))) == words

    @pytest.mark.parametrize(("words", "different"), [(-1, 3), (3, 0)])
    def test_refuses_what_cannot_be(self, words: int, different: int) -> None:
        """An author's slip is told."""
        with pytest.raises(ValueError, match="draw_text"):
            draw_text(words, different)


class TestDocuments:
    """Several texts."""

    def test_have_the_odd_ones(self) -> None:
        """An empty one, one of a single word, and one that repeats a word."""
        first, empty, single, repeated, last = (WORD.findall(text) for text in draw_documents(5))
        assert (len(empty), len(single), len(set(repeated)), len(repeated)) == (0, 1, 1, 5)
        assert single[0] in first
        assert single[0] in last

    @pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
    def test_are_as_many_as_were_asked_for(self, count: int) -> None:
        """Also where there is no room for every odd one."""
        assert len(draw_documents(count)) == count

    def test_refuse_none(self) -> None:
        """A test without a text is an author's slip."""
        with pytest.raises(ValueError, match="at least one text"):
            draw_documents(0)

    def test_depend_on_the_seed_only(self) -> None:
        """Every student gets the same texts, and another case others."""
        assert again(3) == again(3)
        assert again(3) != again(4)

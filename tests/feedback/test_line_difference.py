"""Wrong lists and texts are drawn line by line, for those who may see numbers."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, blocks_of_test, feedback_for
from softmark.feedback.line_difference import SignedLine, rows
from softmark.feedback.terminal import MOST_LINES, show
from softmark.records.result import Result
from softmark.records.verdict import Category, Lines, Verdict
from tests.support.results import PAYLOADS, failed, second_zero, with_cases

WORDS = Lines(expected=("'the'", "'cat'", "'sat'"), got=("'the'", "'dog'", "'sat'"))
VISIBLE, PUBLISHED_LATER = 1, 2
"""Tests of the sample result, by who may see their numbers."""


def result_with(lines: Lines, test: int = VISIBLE) -> Result:
    verdict = Verdict(category=Category.VALUE, fact="1 of 3 entries is wrong", lines=lines)
    return with_cases(second_zero(), test, failed("a" if test == VISIBLE else "", verdict))


def printed(result: Result) -> list[str]:
    file = io.StringIO()
    show(result, Console(file=file, width=100, color_system=None), Audience.STAFF)
    return [line.strip(" │").rstrip() for line in file.getvalue().splitlines()]


class TestRows:
    """The lines of both sides in one order."""

    def test_stand_below_each_other(self) -> None:
        """What is equal stands there once, what was expected before what came."""
        assert rows(WORDS) == [
            SignedLine(" ", "'the'"),
            SignedLine("-", "'cat'"),
            SignedLine("+", "'dog'"),
            SignedLine(" ", "'sat'"),
        ]

    def test_a_missing_line_does_not_shift_the_others(self) -> None:
        """Lines after it are equal again."""
        told = rows(Lines(expected=("a", "b", "c", "d"), got=("a", "c", "d")))
        assert [row.sign for row in told] == [" ", "-", " ", " "]

    def test_lines_before_them_are_counted(self) -> None:
        """Of a long text only the lines around the difference are there."""
        assert rows(Lines(expected=("a",), got=("b",), first=497))[0] == SignedLine(" ", "… 497 before")

    @pytest.mark.parametrize(("line", "seen"), [("  a ", "··a·"), ("   ", "···"), ("a\tb", "a⇥b"), ("", "")])
    def test_spaces_are_visible_where_they_would_be_lost(self, line: str, seen: str) -> None:
        """Spaces at the ends of a line and tabs have signs."""
        assert rows(Lines(expected=(), got=(line,))) == [SignedLine("+", seen)]


class TestRenderers:
    """The same rows for every reader."""

    def test_terminal(self) -> None:
        """Each row has its sign, so that it reads without colour."""
        told = printed(result_with(WORDS))
        start = told.index("- expected, + got")
        assert told[start + 1 : start + 5] == ["'the'", "- 'cat'", "+ 'dog'", "'sat'"]

    def test_terminal_is_not_flooded(self) -> None:
        """Of a long difference the first rows are printed, and how many more there are."""
        told = printed(result_with(Lines(expected=("a",) * 30, got=("b",) * 30)))
        assert f"… {60 - MOST_LINES} more" in told

    def test_page(self) -> None:
        """A row says by its look, and by its sign, whose it is."""
        page = as_html(feedback_for(result_with(WORDS), Audience.STAFF))
        assert '<div class="line expected"><span class="sign">-</span><span class="text">&#39;cat&#39;</span>' in page
        assert '<div class="line got"><span class="sign">+</span><span class="text">&#39;dog&#39;</span>' in page

    def test_markdown(self) -> None:
        """It is a block of code in the language diff."""
        told = as_markdown(feedback_for(result_with(WORDS), Audience.STAFF))
        assert "```diff\n 'the'\n-'cat'\n+'dog'\n 'sat'\n```" in told

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_a_students_text_stays_text(self, payload: str) -> None:
        """No line ends a block, makes an element, or moves the cursor."""
        feedback = feedback_for(result_with(Lines(expected=("a",), got=(payload, "b"))), Audience.STAFF)
        assert "<script" not in as_html(feedback).partition("</style>")[2]
        block = as_markdown(feedback).partition("diff\n")[2]
        assert len(block.partition("\n+b\n")[0].splitlines()) == 2
        assert "\x1b" not in "".join(printed(result_with(Lines(expected=("a",), got=(payload,)))))


def test_of_hidden_tests_students_see_none() -> None:
    """The lines hold what was expected, so they are shown where numbers are."""

    def shown(test: int, audience: Audience) -> bool:
        result = result_with(WORDS, test)
        return any(isinstance(block, Lines) for block in blocks_of_test(result.tests[test], audience))

    assert shown(VISIBLE, Audience.STUDENT)
    assert not shown(PUBLISHED_LATER, Audience.STUDENT)
    assert shown(PUBLISHED_LATER, Audience.STAFF)


def test_are_kept_in_a_result() -> None:
    """They go through the JSON of a result unchanged."""
    result = result_with(WORDS)
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result).tests[VISIBLE].verdicts[0].lines == WORDS

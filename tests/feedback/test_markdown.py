"""Feedback as Markdown: a reader of Markdown sees student text as text."""

import re

import msgspec
import pytest
from markdown_it import MarkdownIt

from softmark.feedback.documents import as_markdown, blocks_as_markdown, escaped
from softmark.feedback.feedback import Audience, feedback_for
from tests.support.results import (
    LATE,
    LATE_LINE,
    PAYLOADS,
    WRONG_SCALE,
    graded,
    handed_in,
    not_gradable,
    with_student_text,
)


def rendered(markdown: str) -> str:
    """What a Markdown reader that passes HTML through makes of it."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))


def elements(html: str) -> set[str]:
    return set(re.findall(r"<([a-z0-9]+)", html))


class TestAsMarkdown:
    def test_of_a_graded_result(self) -> None:
        """Title, total, table of parts, and a section per failure."""
        told = as_markdown(feedback_for(graded(), Audience.STUDENT), lambda picture: "wrong.svg")
        html = rendered(told)
        assert "<h1>From dot products to attention</h1>" in html
        assert "<strong>3 of 10 points</strong>" in html
        assert "<td>2 The score matrix</td>" in html
        assert "<h2>◐ 2.1 The score matrix S = Q Kᵀ / √d_k. (1 of 3)</h2>" in html
        assert "<p>Most likely: <strong>Your scores are √d_k times too large.</strong></p>" in html
        assert "return Q @ K.mT\n</code></pre>" in html
        assert '<img src="wrong.svg" alt="expected, got, difference" />' in html

    def test_of_a_file_that_cannot_be_loaded(self) -> None:
        """The reason comes before the table."""
        told = as_markdown(feedback_for(not_gradable(), Audience.STUDENT))
        assert told.index("was never closed") < told.index("| part |")

    def test_of_a_late_result(self) -> None:
        """The mark comes first, then what was earned and why the mark is less."""
        html = rendered(as_markdown(feedback_for(handed_in(LATE), Audience.STUDENT)))
        assert "ada_lovelace: <strong>1 of 10 points</strong>" in html
        assert f"<p>3 points earned. {LATE_LINE}</p>" in html

    def test_without_a_place_for_pictures(self) -> None:
        """Where no picture can be stored, none is linked."""
        assert blocks_as_markdown([WRONG_SCALE.picture] if WRONG_SCALE.picture else []) == ""


class TestHostileText:
    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_makes_no_element(self, payload: str) -> None:
        """Whatever a student writes, the page has no element but those of our own layout."""
        html = rendered(as_markdown(feedback_for(with_student_text(payload), Audience.STAFF)))
        ours = {"h1", "h2", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "br"}
        assert elements(html) <= ours
        assert len(re.findall("<h1>", html)) == 1

    @pytest.mark.parametrize("payload", ["a\nb", "- a", "1. a", "> a", "a  \nb", "***", "&lt;", "https://x.example"])
    def test_reads_as_it_was_written(self, payload: str) -> None:
        """Escaped text comes out as the same text."""
        html = rendered(escaped(payload)).strip().removeprefix("<p>").removesuffix("</p>")
        shown = html.replace("<br>", "\n").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        assert shown == payload

    @pytest.mark.parametrize(
        "line", ["```", "````", "~~~", "x = 1 # ```", "    ```", "` `` ```python", "</code></pre>"]
    )
    def test_a_line_of_code_ends_no_code_block(self, line: str) -> None:
        """A fence that was pasted into a file with the code stands in its block, and what comes after it as ever."""
        (frame,) = not_gradable().reason_frames
        result = msgspec.structs.replace(
            not_gradable(), reason_frames=(msgspec.structs.replace(frame, text=line),), notes=("A note.",)
        )
        html = rendered(as_markdown(feedback_for(result, Audience.STUDENT)))
        shown = line.strip().replace("<", "&lt;").replace(">", "&gt;")
        assert re.findall("<pre><code[^>]*>([^<]*)</code></pre>", html) == [f"{shown}\n"]
        assert "<td>2 The score matrix</td>" in html
        assert "<h2>Notes</h2>\n<p>A note.</p>" in html

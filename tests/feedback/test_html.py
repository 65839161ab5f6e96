"""The HTML report: one file that loads nothing, runs nothing, and shows student text as text."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from softmark.feedback.documents import as_html
from softmark.feedback.feedback import Audience, feedback_for
from tests.support.results import (
    LATE,
    LATE_LINE,
    PAYLOADS,
    graded,
    handed_in,
    not_gradable,
    second_zero,
    with_student_text,
)


class Elements(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.extend((name, value or "") for name, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Elements:
    elements = Elements()
    elements.feed(page)
    return elements


class TestAsHtml:
    def test_of_a_graded_result(self) -> None:
        """Total, parts, failures in words, the student's line, and the picture."""
        page = read(as_html(feedback_for(graded(), Audience.STUDENT)))
        text = " ".join(page.text.split())
        for expected in (
            "3 of 10 points",
            "2  The score matrix",
            "Most likely: Your scores are √d_k times too large.",
            "attention_scores.py, line 41return Q @ K.mT",
        ):
            assert " ".join(expected.split()) in text
        assert "svg" in page.tags

    def test_of_a_late_result(self) -> None:
        """The mark is in the heading; what lateness took off stands under it."""
        page = read(as_html(feedback_for(handed_in(LATE), Audience.STUDENT)))
        text = " ".join(page.text.split())
        assert "1 of 10 points" in text
        assert f"3 points earned. {LATE_LINE}" in text

    @pytest.mark.parametrize("audience", Audience)
    def test_is_one_file(self, audience: Audience) -> None:
        """Nothing is loaded from anywhere, and nothing in the page can run."""
        for result in (graded(), not_gradable(), second_zero()):
            page = read(as_html(feedback_for(result, audience)))
            assert not page.tags & {"script", "link", "img", "iframe", "object", "embed", "form", "a", "base"}
            assert not [name for name, _ in page.attributes if name in ("src", "href", "style", "action")]
            assert not [name for name, _ in page.attributes if name.startswith("on")]

    def test_policy_allows_its_own_style_alone(self) -> None:
        """The content policy forbids everything but the one style sheet, which it names by its hash."""
        page = as_html(feedback_for(graded(), Audience.STUDENT))
        style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
        assert style
        digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        assert f'content="{policy}"' in page

    def test_is_readable_in_light_and_dark(self) -> None:
        """Every colour of the style sheet is defined for both."""
        page = as_html(feedback_for(graded(), Audience.STUDENT))
        light, dark = re.findall(r":root \{([^}]*)\}", page)
        names = set(re.findall(r"--\w+(?=:)", light))
        assert names == set(re.findall(r"--\w+(?=:)", dark))
        assert set(re.findall(r"var\((--\w+)\)", page)) <= names

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_shows_hostile_text_literally(self, payload: str) -> None:
        """No text of a student's becomes an element, an attribute, or an invisible character."""
        ours = read(as_html(feedback_for(with_student_text("harmless"), Audience.STAFF)))
        page = read(as_html(feedback_for(with_student_text(payload), Audience.STAFF)))
        assert page.tags == ours.tags
        assert {name for name, _ in page.attributes} == {name for name, _ in ours.attributes}
        assert all(c.isprintable() or c in "\n\t\xa0" for c in page.text)

    def test_keeps_the_text(self) -> None:
        """What was written is what is read, brackets and all."""
        page = read(as_html(feedback_for(with_student_text(PAYLOADS["html"]), Audience.STAFF)))
        assert PAYLOADS["html"] in page.text

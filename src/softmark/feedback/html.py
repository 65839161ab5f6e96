"""Feedback as one HTML file: nothing is loaded from elsewhere, nothing can run, all text is escaped."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from softmark.feedback.feedback import Feedback, Sentence
from softmark.feedback.picture import inline
from softmark.records.points import shown
from softmark.records.result import Outcome
from softmark.records.verdict import CodeLine, Picture

MARKS = {
    Outcome.PASSED: ("✓", "passed"),
    Outcome.FAILED: ("✗", "failed"),
    Outcome.NOT_RUN: ("·", "not run"),
    Outcome.GRADER_ERROR: ("!", "grader error"),
}


def as_html(told: Feedback) -> str:
    """The whole page."""
    style = _read("feedback.css")
    return _page().render(told=told, style=Markup(style), style_hash=_hash(style))


@cache
def _page() -> Template:
    """Compiled once: a class has thousands of pages."""
    return _environment().from_string(_read("feedback.html.jinja"))


def _environment() -> Environment:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["points"] = shown
    environment.filters["drawn"] = lambda picture: Markup(inline(picture))
    environment.tests["sentence"] = lambda block: isinstance(block, Sentence)
    environment.tests["code"] = lambda block: isinstance(block, CodeLine)
    environment.tests["picture"] = lambda block: isinstance(block, Picture)
    environment.globals["marks"] = MARKS
    return environment


@cache
def _read(name: str) -> str:
    return files("softmark.feedback").joinpath(name).read_text(encoding="utf-8")


def _hash(style: str) -> str:
    """The content policy names the one style sheet of the page by its hash, so no other can take effect."""
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

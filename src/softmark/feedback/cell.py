"""Lays feedback out as a table below the cell of a notebook: HTML that needs no script and no file beside it.

A reader of notebooks has a theme of its own, light or dark, which a page cannot ask for in one way. So the text has the
colour of the reader's page, and what is coloured carries its own background.
"""

from __future__ import annotations

from functools import cache

from jinja2 import Template
from markupsafe import Markup

from softmark.feedback.documents import environment, read
from softmark.feedback.feedback import Feedback


def as_cell(feedback: Feedback) -> str:
    """Return the table of the parts, and what there is to say about each failing test."""
    return _template().render(feedback=feedback, style=Markup(read("cell.css")))


@cache
def _template() -> Template:
    return environment().from_string(read("cell.html.jinja"))

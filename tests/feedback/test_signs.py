"""The sign before each part means the same on the terminal, on the page and in the text."""

import io
import re
from collections.abc import Callable

import msgspec
import pytest
from rich.console import Console

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.terminal import show
from softmark.records.result import Outcome, Result
from tests.support.results import graded, second_zero


def on_the_terminal(result: Result) -> list[str]:
    file = io.StringIO()
    show(result, Console(file=file, width=100, force_terminal=False), Audience.STUDENT)
    return re.findall(r"^  (\S)   \d  ", file.getvalue(), re.MULTILINE)


def on_the_page(result: Result) -> list[str]:
    page = as_html(feedback_for(result, Audience.STUDENT))
    return re.findall(r'<td class="sign [^"]*" title="[^"]*">(.)</td><td class="part">', page)


def in_the_text(result: Result) -> list[str]:
    return re.findall(r"^\| (\S) \| \d ", as_markdown(feedback_for(result, Audience.STUDENT)), re.MULTILINE)


def broken() -> Result:
    """The grader failed in part 1, and nothing else has been run."""
    result = second_zero()
    return result.with_test(msgspec.structs.replace(result.tests[0], outcome=Outcome.GRADER_ERROR))


def broken_beside_a_failure() -> Result:
    """In part 3 one test is wrong, and at the other the grader failed."""
    return graded().with_test(msgspec.structs.replace(graded().tests[4], outcome=Outcome.GRADER_ERROR))


@pytest.mark.parametrize("signs", [on_the_terminal, on_the_page, in_the_text])
@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (graded(), ["✓", "◐", "✗"]),
        (second_zero(), ["·", "·", "·"]),
        (broken(), ["!", "·", "·"]),
        (broken_beside_a_failure(), ["✓", "◐", "!"]),
    ],
    ids=["graded", "not run", "grader error", "grader error beside a failure"],
)
def test_all_some_none(signs: Callable[[Result], list[str]], result: Result, expected: list[str]) -> None:
    """All points, some, none; not run yet; the grader's own fault."""
    assert signs(result) == expected

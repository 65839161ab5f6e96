"""Lines of the student's own file in what they are told: those that count, however the file is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, write_course
from tests.support.sandboxes import sandbox

HIDDEN = '''
@number("1")
@weight(4)
def test_one(student):
    """One."""
    agree(student.one, lambda x: x + 1, 1.0)
'''


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN)


def quoted(result: Result) -> list[tuple[int, str]]:
    """Number and text of each line of the student's file that is shown beside the one verdict."""
    (verdict,) = result.tests[0].verdicts
    return [(frame.line, frame.text) for frame in verdict.frames]


class TestNamesDefinedTwice:
    """A function that is defined again further down; Python takes the last one."""

    @pytest.mark.parametrize(
        "first",
        ["def one(x):", "def one(x, y):", "one = None", "class one:"],
    )
    def test_the_first_is_not_pointed_at(self, first: str, course: Path, place: Sandbox) -> None:
        """Code that did not count is no place to look at, when the one that counts takes other arguments."""
        body = "" if first == "one = None" else "\n    pass"
        source = f"{first}{body}\n\n\ndef one(a, b, c):\n    return a\n"
        (result,) = grade(course, place, source)
        assert "it does not take the arguments" in result.tests[0].verdicts[0].fact
        assert all("one(a, b, c)" in text for _, text in quoted(result))

    def test_the_only_one_is_pointed_at(self, course: Path, place: Sandbox) -> None:
        """A function that is defined once and takes other arguments is shown with its line."""
        (result,) = grade(course, place, "import torch\n\ndef one(a, b, c):\n    return a\n")
        assert quoted(result) == [(3, "def one(a, b, c):")]


class TestLineEnds:
    """Files from any system."""

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["Unix", "Windows", "old Mac"])
    def test_the_line_is_found(self, end: str, course: Path, place: Sandbox) -> None:
        """The line that raised is shown with its number and text, whatever ends the lines."""
        lines = ["import torch", "", "def one(x):", "    y = [x]", "    return y[5]", ""]
        job = Job(Submission(), SubmittedFiles(FILE, {FILE: end.join(lines).encode()}))
        (result,) = grade(course, place, job)
        assert quoted(result) == [(5, "return y[5]")]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["Unix", "Windows", "old Mac"])
    def test_the_definition_is_found(self, end: str, course: Path, place: Sandbox) -> None:
        """A function that takes other arguments is shown where it is defined, whatever ends the lines."""
        lines = ["import torch", "", "", "def one(a, b, c):", "    return a", ""]
        job = Job(Submission(), SubmittedFiles(FILE, {FILE: end.join(lines).encode()}))
        (result,) = grade(course, place, job)
        assert quoted(result) == [(4, "def one(a, b, c):")]

"""Files that are long in every way: the grader spends little on them, keeps little of them, and the marks are right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission, encode
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, write_course
from tests.support.notebooks import job, written
from tests.support.sandboxes import sandbox

MOST_SECONDS, LARGEST_RESULT = 4.0, 100_000
"""Of this process, which is the trusted side: what a student's code computes is not in it."""
HIDDEN = """
@number("1")
@weight(2)
@pytest.mark.parametrize("x", range(20))
def test_one(student, x):
    '''One.'''
    agree(student.one, lambda x: x + 1, float(x))


@number("2")
@weight(2)
def test_two(student):
    '''Two.'''
    agree(student.two, lambda x: x, 1.0)
"""
LIMITS = "cpu_seconds = 5\nimport_seconds = 20\nmemory_mb = 2000\n"
RIGHT = "def one(x):\n    return x + 1\n"
TWO = "def two(x):\n    return x\n"
EIGHT_FRAMES = "def fall(n):\n    return 1 / 0 if n == 0 else fall(n - 1)\n\n\ndef one(x):\n    return fall(8)\n"
NAMELESS = "def one(x):\n    return np.add(x, 1)\n"
MISSPELT = "def onee(x):\n    return x\n"
LONG = {
    "newlines": "\n" * 4_700_000 + TWO + EIGHT_FRAMES,
    "old line ends": TWO + EIGHT_FRAMES + "\r" * 4_700_000,
    "blank lines": TWO + NAMELESS + (" " * 24 + "\n") * 100_000,
    "one line": TWO + EIGHT_FRAMES + f"text = '{'load' * 1_200_000}'\n",
    "functions": TWO + MISSPELT + "".join(f"def o{n:06}(): pass\n" for n in range(40_000)),
    "names alike": TWO + MISSPELT + "".join(f"o{n:04}e = 1\n" for n in range(9000)),
    "a long line that fails": TWO + f"def one(x):\n    return x.missing {' ' * 4_000_000} + 1\n",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN, (2, 2), limits=LIMITS)


def graded_in_little_time(course: Path, place: Sandbox, submission: Job) -> Result:
    start = time.process_time()
    (result,) = grade(course, place, submission)
    assert time.process_time() - start < MOST_SECONDS
    assert len(encode(result)) < LARGEST_RESULT
    return result


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
def test_part_that_fails(source: str, course: Path, place: Sandbox) -> None:
    """What is said of a part that fails twenty times costs little, and the other part keeps its marks."""
    result = graded_in_little_time(course, place, Job(Submission(), SubmittedFiles(FILE, {FILE: source.encode()})))
    assert [part.earned for part in result.parts] == [0.0, 2.0]


def test_notebook_of_many_cells(course: Path, place: Sandbox) -> None:
    """A thousand cells, each with a thousand lines, before the one that fails."""
    cells = [TWO, *[f"# {n}\n" + "#\n" * 1000 for n in range(1000)], EIGHT_FRAMES]
    result = graded_in_little_time(course, place, job(FILE.replace(".py", ".ipynb"), written(*cells)))
    assert [part.earned for part in result.parts] == [0.0, 2.0]


def test_a_right_file_is_graded_and_the_student_is_told(course: Path, place: Sandbox) -> None:
    """A long file keeps its marks; what feedback quotes from is told once."""
    source = "\n" * 30_000 + RIGHT + TWO
    (long, short) = grade(course, place, source, RIGHT + TWO)
    assert (long.total, short.total) == (4.0, 4.0)
    (note,) = long.notes
    assert note.endswith("feedback quotes only from the first 20,000 lines and 500,000 characters")
    assert short.notes == ()


def test_lines_are_found_up_to_the_bound() -> None:
    """The numbers of lines are right to the last one that is looked into; lines of one file leave room for another."""
    numbered = "\n".join(f"line {n}" for n in range(1, 30_001))
    handed = SubmittedFiles("hw.py", {"hw.py": numbered.encode(), "beside.py": b"text"})
    assert [handed.line("hw.py", n) for n in (1, 20_000, 20_001)] == ["line 1", "line 20000", None]
    assert handed.line("beside.py", 1) is None
    both = SubmittedFiles("hw.py", {"hw.py": b"a\r\nb\rc\n", "beside.py": b"text"})
    assert [both.line("hw.py", n) for n in (1, 2, 3, 4, 5)] == ["a", "b", "c", "", None]
    assert both.line("beside.py", 1) == "text"

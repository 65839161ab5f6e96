"""The work of a submission is measured where its code cannot change it: with the kernel's clock, and by real workers.

A right solution takes the time of the reference, and may take four times as much. A wrong one takes 20 times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, references_of, write_course
from tests.support.sandboxes import sandbox

STEPS = """
def steps(n, k):
    total = 0
    for i in range(n):
        total = (31 * total + i + k) % 1009
    return total

"""
REFERENCE = STEPS + "def one(n, k):\n    return steps(n, k)\n"
HIDDEN = """
from reference import tiny as ref
from softmark import draw_integers, work_grows_like


def few():
    return 20_000, draw_integers(0, 1000, "1").item()


def many():
    return 200_000, draw_integers(0, 1000, "1").item()


@number("1")
@weight(4)
def test_one(student):
    '''Work.'''
    work_grows_like("n", student.one, ref.one, few, many)
"""
AGAIN = "    for _ in range(19):\n        steps(n, k)\n    return steps(n, k)\n"
WAYS = {
    "again and again": f"def one(n, k):\n{AGAIN}",
    "clocks that stand still": f"""
import resource, time
for module, name in [(time, "process_time"), (time, "perf_counter"), (time, "monotonic"), (time, "thread_time")]:
    setattr(module, name, lambda *args: 0.0)
time.clock_gettime = resource.getrusage = lambda *args: 0.0


def one(n, k):
{AGAIN}""",
    "in a thread": f"""
import threading


def slow(n, k):
{AGAIN}

def one(n, k):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(slow(n, k)))
    thread.start()
    thread.join()
    return answers[0]
""",
    "in a process": f"""
import os


def slow(n, k):
{AGAIN}

def one(n, k):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, str(slow(n, k)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(reading, 20))
""",
    "answers that are kept": f"""
import functools


@functools.cache
def one(n, k):
{AGAIN}""",
    "time wasted in the small question": f"""
def one(n, k):
    if n < 100_000:
        for _ in range(4):
            steps(10 * n, k)
{AGAIN}""",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    limits = "cpu_seconds = 60\nmemory_mb = 500\nprocesses = 8\n"
    root = write_course(tmp_path_factory.mktemp("course"), HIDDEN, limits=limits)
    (root / "reference" / FILE).write_text(REFERENCE)
    return root


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def graded(course: Path, place: Sandbox, source: str) -> Result:
    job = Job(Submission(id="one"), SubmittedFiles(FILE, {FILE: (STEPS + source).encode()}))
    with references_of(course):
        (result,) = grade(course, place, job)
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def test_right(course: Path, place: Sandbox) -> None:
    """A solution that takes as long as the reference has full marks."""
    assert graded(course, place, "def one(n, k):\n    return steps(n, k)\n").total == 4


@pytest.mark.parametrize("way", WAYS)
def test_wrong(course: Path, place: Sandbox, way: str) -> None:
    """A solution that does everything 20 times has none, whatever it does to its clocks, and wherever it works."""
    result = graded(course, place, WAYS[way])
    assert result.total == 0
    (verdict,) = [verdict for test in result.tests for verdict in test.verdicts]
    assert "the work grows faster with n than it has to" in verdict.fact

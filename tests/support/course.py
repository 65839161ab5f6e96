"""Makes a course of one tiny homework, and runs its engine in this process on a real sandbox."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from softmark.course.homework import load_homework
from softmark.engines.messages import Begin, Done, EngineReady, GradeRequest, Progress, Refused, receive, send
from softmark.engines.protocol import GradingSpec
from softmark.engines.server import grade_all
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import ConfigError, UsageError
from softmark.records.result import Outcome, Result, Submission, TestResult
from softmark.sandbox.isolation import Sandbox

NAME = "tiny"
FILE = "tiny.py"
IMPORTS = """\
import pytest
import torch
from gradescope_utils.autograder_utils.decorators import (
    hide_errors, leaderboard, number, partial_credit, tags, visibility, weight)
from softmark import Failed, agree, draw
"""
LIMITS = "cpu_seconds = 0.3\nimport_seconds = 2\nmemory_mb = 300\n"


def write_course(root: Path, hidden: str, points: Sequence[float] = (4,), limits: str = LIMITS, more: str = "") -> Path:
    """Make a course whose parts 1, 2, … (functions one, two, three) have these points; return its folder."""
    folder = root / "graders" / NAME
    folder.mkdir(parents=True)
    (root / "reference").mkdir()
    parts = "".join(
        f'[[part]]\nnumber = "{number}"\nfunction = "{function}"\ntitle = "Part {function}"\npoints = {worth}\n'
        for number, (function, worth) in enumerate(zip(("one", "two", "three"), points, strict=False), start=1)
    )
    head = f'title = "Tiny"\nfile = "{FILE}"\npoints = {sum(points)}\n[limits]\n{limits}{parts}{more}'
    (folder / "homework.toml").write_text(head)
    (folder / "test_hidden.py").write_text(IMPORTS + hidden)
    return root


@contextmanager
def references_of(root: Path) -> Iterator[None]:
    """Inside this block, `from reference import …` imports this course's reference, and no other's before or after."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "reference"}
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
        for name in [name for name in sys.modules if name.partition(".")[0] == "reference"]:
            del sys.modules[name]
        sys.modules.update(before)


def talk(
    root: Path,
    place: Sandbox,
    *sources: str | Job,
    budget: float | None = None,
    name: str = NAME,
    backwards: bool = False,
) -> list[object]:
    """Return the engine's results for these submissions, one after the other."""
    jobs = [
        source
        if isinstance(source, Job)
        else Job(Submission(id=f"number {n}"), SubmittedFiles(FILE, {FILE: source.encode()}))
        for n, source in enumerate(sources)
    ]
    requests, replies = io.BytesIO(), io.BytesIO()
    for job in jobs:
        send(requests, GradeRequest(job, progress=True))
    requests.seek(0)
    homework = load_homework(name, root)
    begin = Begin(GradingSpec.of(homework, str(place.level), budget, backwards=backwards))
    before = {name for name in sys.modules if name.startswith("graders")}
    try:
        grade_all(begin, homework, place, (requests, replies), lanes=())
    except (ConfigError, UsageError) as error:
        return [Refused(str(error), usage=True)]
    finally:
        for module in {name for name in sys.modules if name.startswith("graders")} - before:
            del sys.modules[module]
    replies.seek(0)
    return list(_messages(replies))


def grade(
    root: Path,
    place: Sandbox,
    *sources: str | Job,
    budget: float | None = None,
    name: str = NAME,
    backwards: bool = False,
) -> list[Result]:
    """Return the final results of these submissions."""
    said = talk(root, place, *sources, budget=budget, name=name, backwards=backwards)
    assert isinstance(said[0], EngineReady), said
    return [message.result for message in said if isinstance(message, Done)]


def refusal(root: Path, place: Sandbox) -> str:
    """Return why the engine refuses to grade a homework that is configured like this."""
    (said,) = talk(root, place, "")
    assert isinstance(said, Refused)
    assert said.usage
    return said.why


def progress(said: Sequence[object]) -> list[Result]:
    """Return the results that were sent on the way."""
    return [message.result for message in said if isinstance(message, Progress)]


def named(result: Result, name: str) -> TestResult:
    """Return the test of that name."""
    return next(test for test in result.tests if test.name == name)


def lost(result: Result) -> list[str]:
    """Return the numbers of the tests that were not passed."""
    return [test.number for test in result.tests if test.outcome is not Outcome.PASSED]


def timeless(result: Result) -> bytes:
    """Return a result without the times in it."""
    data = msgspec.to_builtins(msgspec.structs.replace(result, seconds=0.0, cpu_seconds=0.0))
    for test in data["tests"]:
        for case in test["cases"]:
            case["seconds"] = 0.0
    return msgspec.json.encode(data)


def _messages(replies: io.BytesIO) -> Iterator[object]:
    while (message := receive(replies)) is not None:
        yield message

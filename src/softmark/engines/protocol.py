"""Defines an engine: it grades submissions of one homework, wherever it runs.

A single file, a class, Gradescope and `verify` use an engine through the calls of `Engine` and nothing else, so one
implementation can replace another. `LocalEngine` (local.py) grades on this machine.

What an engine is given is data that can travel: a `GradingSpec` says what to grade with, a `Job` is one submission.
Which versions it grades with is for the engine to say: `provenance()`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Protocol, Self

import msgspec

from softmark.course.homework import Homework
from softmark.grading.job import Job
from softmark.records.result import Provenance, Result


class EngineError(Exception):
    """The engine ended or broke. No submission is to blame.

    `result` is the result of the submission as far as it was graded; None if its grading had not begun.
    `endless` names what the engine was doing if it was ended because that did not return.
    """

    def __init__(self, why: str, result: Result | None = None, endless: str = "") -> None:
        super().__init__(why)
        self.result, self.endless = result, endless


class Course(msgspec.Struct, frozen=True):
    """The files of one homework that no student has: its hidden tests, settings and reference.

    An engine on this machine reads them at `path`. Another one asks for the files of a digest that it does not have.
    """

    path: str
    sha256: str

    @classmethod
    def of(cls, homework: Homework) -> Course:
        """Return the course of a homework, with the digest of all that grading it needs."""
        digest = hashlib.sha256(msgspec.msgpack.encode(files_of(homework)))
        return cls(str(homework.root), digest.hexdigest())


def files_of(homework: Homework) -> dict[str, bytes]:
    """Return the content of each file that grading a homework needs, by its name in the course."""
    return {name: file.read_bytes() for name, file in homework.secrets.items()}


class GradingSpec(msgspec.Struct, frozen=True):
    """The course, the homework and the settings that an engine grades with."""

    course: Course
    homework: str
    isolation: str
    budget_seconds: float | None = None
    """The time on the clock that one submission may take altogether."""
    device: str = "cpu"
    """The device that submissions run on: cpu, cuda:0, or (for tests of the way there) pretended."""
    backwards: bool = False
    """Run the tests of each part in reverse order. `verify` finds tests that depend on each other in this way."""

    @classmethod
    def of(
        cls,
        homework: Homework,
        isolation: str,
        budget_seconds: float | None = None,
        device: str = "cpu",
        backwards: bool = False,
    ) -> GradingSpec:
        """Return the spec that grades a homework as it is on this machine."""
        return cls(Course.of(homework), homework.name, isolation, budget_seconds, device, backwards)

    @property
    def root(self) -> Path:
        """The folder of the course on this machine."""
        return Path(self.course.path)


class Engine(Protocol):
    """Grade submissions of one homework. An engine is used from one thread, as a context manager."""

    @property
    def spec(self) -> GradingSpec:
        """Return the course, the homework and the settings that it grades with."""
        ...

    @property
    def slots(self) -> int:
        """Return the number of submissions that it grades at the same time. The number may change during a run."""
        ...

    def provenance(self) -> Provenance:
        """Return the versions and digests that it grades with: those in each of its results.

        A run in which nothing has changed asks for nothing else. An engine that knows them need not start for that;
        another one returns `pending().provenance`.
        """
        ...

    def start(self) -> None:
        """Begin to start, without waiting. `pending` and `submit` do so, too."""
        ...

    def pending(self, timeout: float | None = None) -> Result:
        """Wait until it can grade, and return the Result before the first test, with the engine's own versions.

        Raise UsageError if what was asked for cannot be graded, EngineError if the engine cannot grade (any more),
        TimeoutError if it takes longer than so many seconds.
        """
        ...

    def submit(self, job: Job, on_progress: Callable[[Result], None] | None = None) -> Future[Result]:
        """Have one submission graded. `on_progress` is called in another thread after each test.

        The future raises EngineError if the engine broke. The engine replaces what broke, so submitting the same job
        again may succeed.
        """
        ...

    def stop(self) -> None:
        """Stop grading: every open future raises EngineError soon, and nothing more is graded."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

"""Makes sessions for tests: with a real student process, and with one that plays a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from softmark.course.homework import ForbiddenRule, Homework, Part
from softmark.grading.session import StudentSession
from softmark.grading.submission_time import TimeLimits
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Allowed, Level, Limits
from softmark.records.verdict import Category
from softmark.sandbox import wire
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.student_process import Outgoing, StudentProcess
from softmark.sandbox.wire.protocol import ComputedResult, DoneReply, Loaded, Request, done_value
from softmark.sandbox.zygote import Exit
from tests.support.sandboxes import FILE, SHORT

HOMEWORK = Homework(
    name="tiny",
    root=Path("/course"),
    title="A tiny homework",
    file=FILE,
    points=Fraction(4),
    parts=(
        Part("1", "one, Layer", "The first part", points=Fraction(2)),
        Part("2", "two", "The second", points=Fraction(2)),
    ),
    forbidden=(ForbiddenRule(("torch.nn.functional.gelu",), ("aten::gelu",), (), "write it with torch.erf"),),
    limits={},
)

Act = Callable[[Request], DoneReply]


@contextmanager
def session(place: Sandbox, source: str = "def one(): pass\n", **settings: Any) -> Iterator[StudentSession]:
    """Yield a session of the tiny homework, at part 1, for a submission with this text."""
    time = TimeLimits(**{"limits": SHORT, **settings})
    begun = StudentSession(place, SubmittedFiles(FILE, {FILE: source.encode()}), HOMEWORK, time)
    begun.begin("1", "a test")
    try:
        yield begun
    finally:
        begun.close()


class Actor(StudentProcess):
    """A student process that does what it is told: `acts` are called, one for each request, with the request."""

    alive = True

    def __init__(self, acts: Iterator[Act]) -> None:
        self._acts = acts
        self.cpu = 0.0
        self.allowed: list[Allowed] = []
        self.requests: list[tuple[Request, float, float]] = []

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        self.allowed.append(allowed)
        assert outgoing.request is not None
        self.requests.append((outgoing.request, allowed.cpu_seconds, allowed.wall_seconds))
        try:
            answer = next(self._acts)(outgoing.request)
        except StudentFailure as failure:
            self.alive = failure.category not in ("crash", "timeout")
            raise
        return wire.pack(done_value(outgoing.request.id, answer))[wire.PREFIX :]

    def cpu_seconds(self) -> float:
        return self.cpu

    def printed(self) -> tuple[str, str]:
        return "out.", "err."

    def close(self) -> Exit:
        self.alive = False
        return Exit(0, 0.25, 1, True)


class Stage:
    """A sandbox of actors, who share one script. It keeps every actor that it has opened."""

    level = Level.NONE

    def __init__(self, *acts: Act) -> None:
        self._acts = iter(acts)
        self.actors: list[Actor] = []

    def open(self, files: Mapping[str, bytes], limits: Limits) -> Actor:
        self.actors.append(Actor(self._acts))
        return self.actors[-1]

    def close(self) -> None:
        """Do nothing: actors leave nothing behind."""


def answers(value: Any = None) -> Act:
    """Return an act: the answer to a call."""
    return lambda request: ComputedResult(value, [])


def loads(**names: str) -> Act:
    """Return an act: the submission was loaded and defines these names."""
    return lambda request: Loaded(names or {"one": "function"})


def fails(category: str, fact: str = "as the script says") -> Act:
    """Return an act: no answer."""

    def act(request: Request) -> DoneReply:
        raise StudentFailure(Category(category), fact)

    return act

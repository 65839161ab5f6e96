"""Sessions for tests: with a real student process, and with one that plays a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from softmark.course.homework import ForbiddenRule, Homework, PartSpec
from softmark.grading.session import StudentSession
from softmark.intake.submitted_files import Handed
from softmark.records.limits import Allowed, Level, Limits
from softmark.records.verdict import Category
from softmark.sandbox import wire
from softmark.sandbox.asking import Question, StudentProcess
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.zygote import Ended
from tests.support.sandboxes import FILE, SHORT

HOMEWORK = Homework(
    name="tiny",
    root=Path("/course"),
    title="A tiny homework",
    file=FILE,
    points=Fraction(4),
    parts=(PartSpec("1", "one, Layer", "The first part", Fraction(2)), PartSpec("2", "two", "The second", Fraction(2))),
    forbidden=(ForbiddenRule(("torch.nn.functional.gelu",), ("aten::gelu",), "write it with torch.erf"),),
    limits={},
    lines={},
)


@contextmanager
def session(place: Sandbox, source: str = "def one(): pass\n", **settings: Any) -> Iterator[StudentSession]:
    """A session of the tiny homework, at part 1, for a submission with this text."""
    settings = {"limits": SHORT, **settings}
    handed = Handed(FILE, {FILE: source.encode()})
    begun = StudentSession(place, handed, HOMEWORK, **settings)
    begun.begin("1", "a test")
    try:
        yield begun
    finally:
        begun.close()


class Actor(StudentProcess):
    """A student process that does what it is told: `acts` are called, one for each request, with the request."""

    alive = True

    def __init__(self, acts: Iterator[Callable[[dict[str, Any]], Any]]) -> None:
        self._acts = acts
        self.cpu = 0.0
        self.allowed: list[Allowed] = []
        self.requests: list[tuple[dict[str, Any], float, float]] = []

    def exchange(self, question: Question, allowed: Allowed) -> bytes:
        self.allowed.append(allowed)
        self.requests.append((question.message, allowed.cpu_seconds, allowed.wall_seconds))
        try:
            answer = next(self._acts)(question.message)
        except StudentFailure as failure:
            self.alive = failure.category not in ("crash", "timeout")
            raise
        return wire.pack({"id": question.message["id"], "done": answer})[wire.PREFIX :]

    def cpu_seconds(self) -> float:
        return self.cpu

    def printed(self) -> tuple[str, str]:
        return "out.", "err."

    def close(self) -> Ended:
        self.alive = False
        return Ended(0, 0.25, 1, True)


class Stage:
    """A sandbox of actors, who share one script; it keeps everybody who came on."""

    level = Level.NONE

    def __init__(self, *acts: Callable[[dict[str, Any]], Any]) -> None:
        self._acts = iter(acts)
        self.actors: list[Actor] = []

    def open(self, files: Mapping[str, bytes], limits: Limits) -> Actor:
        self.actors.append(Actor(self._acts))
        return self.actors[-1]

    def close(self) -> None:
        """Actors leave nothing behind."""


def answers(value: Any = None) -> Callable[[dict[str, Any]], Any]:
    """An act: the answer to a call."""
    return lambda request: {"value": value, "changed": []}


def loads(**names: str) -> Callable[[dict[str, Any]], Any]:
    """An act: the submission was loaded and defines these names."""
    return lambda request: {"names": names or {"one": "function"}, "mentions": []}


def fails(category: str, fact: str = "as the script says") -> Callable[[dict[str, Any]], Any]:
    """An act: no answer."""

    def act(request: dict[str, Any]) -> Any:
        raise StudentFailure(Category(category), fact)

    return act

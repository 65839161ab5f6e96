"""What Gradescope says of one submission: `submission_metadata.json`, beside the submission in its container.

Every documented field is read and every other one ignored. The format may change without notice, so nothing in it is
relied on: a field that is missing is not known, and one of an unexpected type is told to staff and not known either.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from softmark.intake.names import show
from softmark.intake.source import Refusal, Unreadable, read
from softmark.intake.timestamps import moment
from softmark.records.result import Student

NAME, LARGEST = "submission_metadata.json", 50_000_000


@dataclass(frozen=True)
class Earlier:
    """An earlier attempt, as the platform remembers it."""

    submitted_at: datetime | None = None
    score: float | None = None
    autograder_error: bool = False
    """The autograder failed, through no fault of the student's."""


@dataclass(frozen=True)
class Assignment:
    """The assignment on the platform."""

    id: str = ""
    course_id: str = ""
    title: str = ""
    released_at: datetime | None = None
    due_at: datetime | None = None
    late_due_at: datetime | None = None
    total_points: float | None = None
    """With the points that are given by hand."""
    for_groups: bool = False
    group_size: int | None = None


@dataclass(frozen=True)
class Metadata:
    """Whose submission it is, when it came, and what came before it."""

    id: str = ""
    created_at: datetime | None = None
    method: str = ""
    users: tuple[Student, ...] = ()
    assignment: Assignment = Assignment()
    earlier: tuple[Earlier, ...] = ()
    """In the platform's order: the latest last."""
    staff_notes: tuple[str, ...] = ()


def read_metadata(path: Path) -> Metadata:
    """What the file says; what it should say and does not is a note for staff."""
    try:
        content = json.loads(read(path, LARGEST))
    except Unreadable as error:
        return Metadata(staff_notes=(f"nothing is known about the submission: {error}",))
    except (Refusal, ValueError, RecursionError) as error:
        return Metadata(staff_notes=(f"nothing is known about the submission: {NAME} cannot be read: {error}",))
    notes: list[str] = []
    top = _Table(content, "", notes)
    return Metadata(
        id=top.text("id"),
        created_at=top.time("created_at"),
        method=top.text("submission_method"),
        users=tuple(_student(user) for user in top.tables("users")),
        assignment=_assignment(top.table("assignment")),
        earlier=tuple(_earlier(one) for one in top.tables("previous_submissions")),
        staff_notes=tuple(notes),
    )


def _student(user: _Table) -> Student:
    name, email = show(user.text("name")), show(user.text("email"))
    return Student(id=email or show(user.text("id")), name=name, email=email)


def _assignment(about: _Table) -> Assignment:
    size = about.number("group_size")
    return Assignment(
        id=about.text("id"),
        course_id=about.text("course_id"),
        title=show(about.text("title")),
        released_at=about.time("release_date"),
        due_at=about.time("due_date"),
        late_due_at=about.time("late_due_date"),
        total_points=about.number("total_points"),
        for_groups=about.truth("group_submission"),
        group_size=None if size is None else int(size),
    )


def _earlier(about: _Table) -> Earlier:
    score = about.number("score")
    if score is None:  # only the latest one has its results
        score = about.table("results").number("score")
    return Earlier(about.time("submission_time"), score, about.truth("autograder_error"))


class _Table:
    """A JSON object whose values are asked for by type; null and a missing key are the same."""

    def __init__(self, content: Any, name: str, notes: list[str]) -> None:
        self._name, self._notes = name, notes
        self._content: dict[str, Any] = content if isinstance(content, dict) else {}
        if content is not None and not isinstance(content, dict):
            self._odd(name, content, "an object")

    def text(self, key: str) -> str:
        value = self._content.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is None or isinstance(value, str):
            return value or ""
        self._odd(self._path(key), value, "text")
        return ""

    def number(self, key: str) -> float | None:
        """A finite number, also one written as text: the platform's total_points is "20.0"."""
        value = self._content.get(key)
        if value is None or value == "":
            return None
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self._odd(self._path(key), value, "a number")
            return None
        return number

    def truth(self, key: str) -> bool:
        value = self._content.get(key)
        if value is not None and not isinstance(value, bool):
            self._odd(self._path(key), value, "true or false")
        return value is True

    def time(self, key: str) -> datetime | None:
        text = self.text(key)
        found = moment(text)
        if text and found is None:
            self._odd(self._path(key), text, "a time")
        return found

    def table(self, key: str) -> _Table:
        return _Table(self._content.get(key), self._path(key), self._notes)

    def tables(self, key: str) -> list[_Table]:
        value = self._content.get(key)
        if isinstance(value, list):
            return [_Table(one, f"{self._path(key)}[{index}]", self._notes) for index, one in enumerate(value)]
        if value is not None:
            self._odd(self._path(key), value, "a list")
        return []

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _odd(self, path: str, value: Any, expected: str) -> None:
        written = show(json.dumps(value)[:60])
        self._notes.append(f"{NAME}: {path or 'the whole'} is {written}, not {expected}: ignored")

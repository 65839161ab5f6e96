"""nbgrader's `submitted/<student>/<assignment>/`, with the time in `timestamp.txt`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import PurePath

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry, Student
from softmark.intake.moments import moment
from softmark.intake.names import safe_id, show
from softmark.intake.place import FOLDER, Item, Place
from softmark.intake.plain import contents, holds, of_folder
from softmark.intake.source import Refusal
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

SUBMITTED, TIMESTAMP = "submitted", "timestamp.txt"
_LOOKED_AT = 20


@dataclass(frozen=True)
class _Attempt:
    """One assignment's folder of one student."""

    place: Place
    item: Item
    items: list[Item]
    holds: bool
    submitted_at: datetime | None


def recognise(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    if any(item.name == SUBMITTED and item.kind == FOLDER for item in items):
        place = place.enter(SUBMITTED)
        items = place.items()
    students = [item for item in items if item.kind == FOLDER and not item.name.startswith(".")]
    if PurePath(place.origin).name != SUBMITTED and not _has_timestamps(place, students):
        return None
    attempts = {item.name: _attempts(place.enter(item.name), wanted) for item in students}
    if not any(attempts.values()):
        return None
    usual = Counter(a.item.name for of_student in attempts.values() for a in of_student if a.holds).most_common(1)
    entries, ignored = [], []
    for item in students:
        counted = _counted(attempts[item.name], usual[0][0] if usual else "")
        if counted:
            entries.append(_entry(item, counted))
        elif not attempts[item.name]:
            entries.append(of_folder(place, item))
        else:
            ignored.append(f"{place.origin}/{show(item.name)}: other assignments only")
    return Collection("nbgrader folder", tuple(entries), tuple(ignored))


def _has_timestamps(place: Place, students: list[Item]) -> bool:
    return any(
        item.name == TIMESTAMP
        for student in islice(students, _LOOKED_AT)
        for assignment in contents(place.enter(student.name))
        if assignment.kind == FOLDER
        for item in contents(place.enter(student.name).enter(assignment.name))
    )


def _attempts(student: Place, wanted: Wanted) -> list[_Attempt]:
    attempts = []
    for assignment in contents(student):
        if assignment.kind == FOLDER and not assignment.name.startswith("."):
            place = student.enter(assignment.name)
            attempts.append(_Attempt(place, assignment, contents(place), holds(place, wanted), _submitted_at(place)))
    return attempts


def _submitted_at(place: Place) -> datetime | None:
    if not any(item.name == TIMESTAMP for item in contents(place)):
        return None
    try:
        return moment(place.read(TIMESTAMP, 10_000).decode("utf-8", "replace"))
    except Refusal:  # a time that cannot be read is no time; what was handed in is graded all the same
        return None


def _counted(attempts: list[_Attempt], usual: str) -> list[_Attempt]:
    """The assignment that is graded, the latest first: what holds the file, or what it is in for the others."""
    holding = [attempt for attempt in attempts if attempt.holds]
    if not holding:
        holding = [attempt for attempt in attempts if attempt.item.name == usual]
    found = holding or (attempts if len(attempts) == 1 and not usual else [])
    return sorted(found, key=lambda attempt: _comparable(attempt.submitted_at), reverse=True)


def _comparable(when: datetime | None) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() if when else 0.0


def _entry(student: Item, counted: list[_Attempt]) -> Entry:
    latest, *earlier = counted
    identity = safe_id(student.name)
    pieces = [Piece(latest.place, item, (item.name,)) for item in latest.items if item.name != TIMESTAMP]
    return Entry(
        identity,
        (Student(identity, show(student.name)),),
        latest.place.origin,
        Submission(tuple(pieces)),
        submitted_at=latest.submitted_at,
        earlier=tuple(attempt.place.origin for attempt in earlier),
    )

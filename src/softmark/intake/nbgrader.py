"""Reads nbgrader's `submitted/<student>/<assignment>/`, with the time in `timestamp.txt`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePath

from softmark.course.homework import Homework
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.model import Collection, Entry
from softmark.intake.names import ending, moment, safe_id, show
from softmark.intake.places import FOLDER, Item, Place, Refusal
from softmark.intake.plain import by_name, contents, holds, holds_somewhere, of_folder, visible
from softmark.records.result import Submission, Submitter

SUBMITTED, TIMESTAMP = "submitted", "timestamp.txt"
_FOLDERS = {"source", "release", SUBMITTED, "autograded", "feedback"}
_OWN = {*_FOLDERS, "gradebook.db", "nbgrader_config.py"}
_BESIDE = "it lies beside nbgrader's own folders, so it is not graded"


@dataclass(frozen=True)
class _AssignmentFolder:
    """One assignment's folder of one student."""

    place: Place
    item: Item
    items: list[Item]
    holds: bool

    @property
    def stamped(self) -> bool:
        """Return True if nbgrader has noted the time of submission."""
        return any(item.name == TIMESTAMP for item in self.items)

    @cached_property
    def submitted_at(self) -> datetime | None:
        try:
            return moment(self.place.read(TIMESTAMP, 10_000).decode("utf-8", "replace")) if self.stamped else None
        except Refusal:  # a time that cannot be read is no time; what was handed in is graded all the same
            return None


@dataclass(frozen=True)
class _StudentFolder:
    """A folder that may be a student's, and the folders of assignments in it."""

    item: Item
    attempts: list[_AssignmentFolder]

    @property
    def stamped(self) -> bool:
        return any(attempt.stamped for attempt in self.attempts)

    @property
    def holds(self) -> bool:
        return any(attempt.holds for attempt in self.attempts)


def recognise_nbgrader(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return the submissions of a course's folder, or of its folder `submitted`.

    A student can make a `timestamp.txt`, too. So most students must have one. If most have none, the folder must have
    nbgrader's name, and no time is read.
    """
    known, doubts = set[str](), tuple[str, ...]()
    if any(item.name == SUBMITTED and item.kind == FOLDER for item in items):
        beside = [item for item in items if item.name not in _OWN and _may_be_handed_in(place, item, homework)]
        if len(beside) >= sum(item.name in _OWN for item in items):
            return None
        doubts = tuple(f"{place.origin}/{show(item.name)}: {_BESIDE}" for item in beside)
        known = {a.name for item in items if item.name in ("source", "release") for a in _folders(place, item)}
        place = place.enter(SUBMITTED)
        items = visible(place.items())
    students = [_student(place, item, homework) for item in items if item.kind == FOLDER]
    timed = _most(place, students, lambda student: student.stamped, homework)
    named = PurePath(place.origin).name == SUBMITTED and _most(place, students, lambda student: student.holds, homework)
    if not (timed or named) or not any(student.attempts for student in students):
        return None
    found = _by_assignment(place, students, known, timed, homework)
    beside_students = by_name(place, [item for item in items if item.kind != FOLDER], homework)
    return Collection(
        "nbgrader folder",
        (*found.entries, *beside_students.entries),
        (*found.ignored, *beside_students.ignored),
        doubts,
    )


def _by_assignment(
    place: Place, students: list[_StudentFolder], known: set[str], timed: bool, homework: Homework
) -> Collection:
    """Return each student's attempt at the homework. A student who has only other assignments has handed in nothing."""
    usual = _usual(students)
    often = Counter(attempt.item.name for student in students for attempt in student.attempts)
    entries, ignored = [], []
    for student in students:
        names = [attempt.item.name for attempt in student.attempts]
        others_only = bool(names) and all(name in known or often[name] > 1 for name in names)
        if counted := _counted(student.attempts, usual):
            entries.append(_entry(student.item, counted, timed))
        elif others_only and not holds_somewhere(place, student.item, homework):
            ignored.append(f"{place.origin}/{show(student.item.name)}: other assignments only")
        else:
            entries.append(of_folder(place, student.item))
    return Collection("", tuple(entries), tuple(ignored))


def _usual(students: list[_StudentFolder]) -> str:
    """Return the name under which most students hand in the homework; one student alone does not decide it."""
    often = Counter(attempt.item.name for student in students for attempt in student.attempts)
    holding = Counter(attempt.item.name for student in students for attempt in student.attempts if attempt.holds)
    several = [name for name in holding if holding[name] > 1]
    return max(several, key=lambda name: (holding[name], often[name]), default="")


def _most(
    place: Place, students: list[_StudentFolder], fits: Callable[[_StudentFolder], bool], homework: Homework
) -> bool:
    """Return whether more students fit than there are others who handed in the homework."""
    others = [student.item for student in students if not fits(student)]
    more = len(students) - len(others)
    for other in others:
        if more <= 0:
            return False
        more -= holds_somewhere(place, other, homework)
    return more > 0


def _student(place: Place, item: Item, homework: Homework) -> _StudentFolder:
    student = place.enter(item.name)
    attempts = []
    for folder in _folders(place, item):
        inner = student.enter(folder.name)
        inside = contents(inner)
        attempts.append(_AssignmentFolder(inner, folder, inside, holds(inside, homework)))
    return _StudentFolder(item, attempts)


def _may_be_handed_in(place: Place, item: Item, homework: Homework) -> bool:
    return holds_somewhere(place, item, homework) if item.kind == FOLDER else bool(ending(item.name))


def _folders(place: Place, item: Item) -> list[Item]:
    return [folder for folder in visible(contents(place.enter(item.name))) if folder.kind == FOLDER]


def _counted(attempts: list[_AssignmentFolder], usual: str) -> list[_AssignmentFolder]:
    """Return the assignments that hold the file, or have the name that others use; the latest first."""
    holding = [attempt for attempt in attempts if attempt.holds]
    if not holding:
        holding = [attempt for attempt in attempts if attempt.item.name == usual]
    found = holding or (attempts if len(attempts) == 1 and not usual else [])
    return sorted(found, key=lambda attempt: _comparable(attempt.submitted_at), reverse=True)


def _comparable(when: datetime | None) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() if when else 0.0


def _entry(student: Item, counted: list[_AssignmentFolder], timed: bool) -> Entry:
    latest, *earlier = counted
    identity = safe_id(student.name)
    pieces = [Piece(latest.place, item, (item.name,)) for item in latest.items if item.name != TIMESTAMP]
    submission = Submission(
        id=identity,
        students=(Submitter(identity, show(student.name)),),
        origin=latest.place.origin,
        submitted_at=latest.submitted_at if timed else None,
        earlier=tuple(attempt.place.origin for attempt in earlier),
    )
    return Entry(submission, Pieces(tuple(pieces)))

"""From what was handed in to what an engine is asked to grade, and to what makes two gradings the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from softmark.grading.homework import Homework
from softmark.grading.messages import Job, Setup
from softmark.grading.provenance import provenance
from softmark.grading.result import Result, Submission, refused
from softmark.intake.handed_in import Entry, HandedIn
from softmark.intake.source import Refusal, check
from softmark.intake.wanted import Wanted


def wanted_by(homework: Homework) -> Wanted:
    """What a homework asks to be handed in."""
    names = (name.partition(".")[0] for part in homework.parts for name in part.functions)
    return Wanted(homework.file, tuple(dict.fromkeys(names)))


@dataclass(frozen=True)
class Task:
    """One submission, read: ready to be graded, or refused."""

    submission: Submission
    handed: HandedIn

    @property
    def job(self) -> Job:
        return Job(self.submission, self.handed.main, dict(self.handed.files), notes=self.handed.notes)

    def refused(self, pending: Result) -> Result:
        """The result of a submission that no engine is asked to grade."""
        result = msgspec.structs.replace(pending, submission=self.submission, notes=self.handed.notes)
        return refused(self.with_staff_notes(result), self.handed.refusal)

    def with_staff_notes(self, result: Result) -> Result:
        """The result, with what only staff are told about the files."""
        return msgspec.structs.replace(result, staff_notes=(*self.handed.staff_notes, *result.staff_notes))


def read(entry: Entry, wanted: Wanted) -> Task:
    """Load a submission; a file that Python would misread is refused here."""
    handed = entry.load(wanted)
    if not handed.refusal:
        try:
            check(handed.files[handed.main])
        except Refusal as refusal:
            handed = HandedIn(notes=handed.notes, staff_notes=handed.staff_notes, refusal=str(refusal))
    name = ", ".join(student.name or student.id for student in entry.students) or entry.id
    sha256 = _digest(handed.files) if handed.files else ""
    return Task(Submission(id=entry.id, name=name, file=handed.main or wanted.file, sha256=sha256), handed)


class Fingerprints:
    """What a grading depends on: two with the same fingerprint have the same result."""

    def __init__(self, homework: Homework, setup: Setup) -> None:
        self._with = msgspec.json.encode((provenance(homework, setup.isolation), setup.budget_seconds))

    def of(self, task: Task) -> str:
        handed = task.handed
        own = msgspec.json.encode((handed.main, task.submission.sha256, handed.refusal, handed.notes))
        return hashlib.sha256(self._with + b"\0" + own).hexdigest()


def _digest(files: Mapping[str, bytes]) -> str:
    """One file has its own hash, which anybody can compute; several have that of their names and hashes."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(msgspec.json.encode(hashes, order="sorted")).hexdigest()

"""From what was handed in to what an engine is asked to grade, and to what makes two gradings the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from softmark.batch.journal import Known
from softmark.course.digest import SOFTWARE, provenance, software_digest
from softmark.course.homework import Homework
from softmark.engines.messages import Setup
from softmark.grading.job import Job
from softmark.intake.model import Entry, SubmittedFiles
from softmark.intake.notebook import with_cells
from softmark.intake.places import Refusal
from softmark.records.result import Result, Submission, not_gradable


@dataclass(frozen=True)
class Task:
    """One submission, read: ready to be graded, or refused."""

    submission: Submission
    handed: SubmittedFiles
    cells: tuple[str, ...] = ()
    """Of a notebook, those of the files that are its cells, in order."""

    @property
    def job(self) -> Job:
        handed = self.handed
        return Job(self.submission, handed.main, dict(handed.files), self.cells, handed.notes, handed.staff_notes)

    def result(self, pending: Result) -> Result:
        """The result of second zero: the final one if it is refused, for then no engine is asked to grade it."""
        handed = self.handed
        result = msgspec.structs.replace(
            pending, submission=self.submission, notes=handed.notes, staff_notes=handed.staff_notes
        )
        return not_gradable(result, handed.refusal) if handed.refusal else result


def read(entry: Entry, homework: Homework) -> Task:
    """Load a submission. What is no notebook though it is called one is refused, too."""
    handed = entry.load(homework)
    name = ", ".join(student.name or student.id for student in entry.students) or entry.id
    sha256 = _digest(handed.files) if handed.files else ""
    submission = Submission(id=entry.id, name=name, file=handed.main or homework.file, sha256=sha256)
    if handed.main != homework.notebook:
        return Task(submission, handed)
    try:
        return Task(submission, *with_cells(handed))
    except Refusal as refusal:
        return Task(submission, replace(handed, refusal=str(refusal)))


class Fingerprints:
    """Say what a grading depends on: two with the same fingerprint have the same marks and the same files.

    The part behind the dot stands for softmark and its libraries. Fingerprints of older versions have no dot.
    """

    def __init__(self, homework: Homework, setup: Setup) -> None:
        graded_with = provenance(homework, setup.isolation, setup.device)
        self._software = software_digest(graded_with)
        others = msgspec.structs.replace(graded_with, **dict.fromkeys(SOFTWARE, ""))
        self._others = msgspec.json.encode((others, setup.budget_seconds))

    def of(self, task: Task, known: Known) -> str:
        """Return the fingerprint of a submission."""
        handed = task.handed
        files = (handed.main, task.submission.sha256, handed.refusal, handed.notes, handed.staff_notes)
        own = msgspec.json.encode((files, known.students, known.submitted_at, known.due_at, known.late))
        others = hashlib.sha256(self._others + b"\0" + own).hexdigest()
        return f"{others}.{self._software}"


def only_software_differs(before: str, now: str) -> bool:
    """Return whether only softmark or its libraries have changed since, as far as the earlier fingerprint tells."""
    (others, dot, software), (others_now, _, software_now) = before.partition("."), now.partition(".")
    return not dot or (others == others_now and software != software_now)


def _digest(files: Mapping[str, bytes]) -> str:
    """One file has its own hash, which anybody can compute; several have that of their names and hashes."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(msgspec.json.encode(hashes, order="sorted")).hexdigest()

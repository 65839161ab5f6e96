"""Reads one submission into a job: all data that grading it needs, in a form that can travel to an engine."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from softmark.course.homework import Homework
from softmark.intake.model import Entry, SubmittedFiles
from softmark.intake.notebook import with_cells
from softmark.intake.places import Refusal
from softmark.records.result import Result, Submission, not_gradable


class Job(msgspec.Struct, frozen=True):
    """One submission, read. If its files are refused, no engine is asked to grade it."""

    submission: Submission
    files: SubmittedFiles
    endless: tuple[str, ...] = ()
    """The tests that did not return before, in the words of a Note (own_time.py). They are left out."""
    naming: bool = True
    """True if the names of mistakes are searched for."""

    parts: tuple[str, ...] = ()
    """The parts whose tests are run; empty for all parts. `verify` runs only those that can find a planted mistake."""
    until_wrong: bool = False
    """True if a wrong answer that costs marks ends its part: `mutate` and the table of `verify` need no more."""

    repairs: bool = False
    """True if a failure without a named mistake makes grading search for the wrong line (repairs.py)."""

    def result(self, pending: Result) -> Result:
        """Return the result of this submission before its first test; the final one if it is refused."""
        files = self.files
        result = msgspec.structs.replace(
            pending, submission=self.submission, notes=files.notes, staff_notes=files.staff_notes
        )
        return not_gradable(result, files.refusal) if files.refusal else result


def read_job(entry: Entry, homework: Homework) -> Job:
    """Read a submission. Refuse a file that is named like a notebook and is none."""
    files = entry.load(homework)
    sha256 = _digest(files.files) if files.files else ""
    if files.main == homework.notebook:
        try:
            files = with_cells(files)
        except Refusal as refusal:
            files = replace(files, refusal=str(refusal))
    name = ", ".join(student.name or student.id for student in entry.submission.students) or entry.id
    file = files.main or homework.file
    return Job(msgspec.structs.replace(entry.submission, name=name, file=file, sha256=sha256), files, repairs=True)


def _digest(files: Mapping[str, bytes]) -> str:
    """Return the hash of a single file, as `sha256sum` computes it, or of the names and hashes of several files."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(msgspec.json.encode(hashes, order="sorted")).hexdigest()

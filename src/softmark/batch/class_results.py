"""Keeps the results of a class in one folder: the journal, the folder of each student, and the gradebook.

A grading is in the journal if its files are in the folder, and not otherwise. Marks are computed with the late policy
of today, not with that of the day when a submission was graded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import msgspec

from softmark.batch.journal import Journal, homework_of, ids_in
from softmark.course.deadlines import lateness
from softmark.course.digest import SOFTWARE, software_digest
from softmark.course.homework import Homework, load_homework
from softmark.engines.protocol import GradingSpec
from softmark.feedback.safe_files import remove_leftovers, writable
from softmark.grading.job import Job
from softmark.intake.collect import collect
from softmark.intake.model import Collection, Entry
from softmark.records.errors import UsageError
from softmark.records.points import exact_weight, rounded, shown
from softmark.records.result import Graded, Provenance, Result, Status
from softmark.report.class_view import ClassSummary
from softmark.report.gradebook import GRADES, Grade, class_grades, grades_of, write_gradebook
from softmark.report.student_folder import SUBMISSIONS, close_tree, has_feedback, write_feedback

_MOST_SUGGESTED = 3


def collect_class(paths: Sequence[Path], homework: Homework, folder: Path) -> Collection:
    """Return all submissions in `paths`, with the ids that they have in the results in `folder`.

    Raise UsageError if the results would lie among the submissions, because the next run would take them for one.
    """
    kept = folder.resolve()
    for path in (path for path in paths if path.is_dir()):
        graded = path.resolve()
        if kept.is_relative_to(graded) or graded.is_relative_to(kept / SUBMISSIONS):
            raise UsageError(f"results in {folder} would be among what is in {path}; choose another folder with -o")
    return collect(paths, homework, ids_in(folder))


@dataclass(frozen=True)
class Gradebook:
    """The content of grades.csv and tests.csv, and the submissions that are left out."""

    grades: tuple[Grade, ...]
    summary: ClassSummary
    outdated: tuple[str, ...]
    """Submissions that were graded with other parts or points than the homework has now. They are left out."""

    @property
    def gone(self) -> list[str]:
        """The submissions that are not handed in any more. Their marks are kept."""
        return sorted({grade.submission for grade in self.grades if grade.gone})


class ClassResults:
    """The results of one class, open for one run. A context manager."""

    def __init__(self, folder: Path, homework: Homework, *, write: bool = True) -> None:
        self.folder, self.homework = folder, homework
        self._journal = Journal(folder, homework.name, write=write)

    @classmethod
    def open(cls, folder: Path, *, write: bool = False) -> ClassResults:
        """Open the results in a folder, of whatever homework they are."""
        return cls(folder, load_homework(homework_of(folder)), write=write)

    def __enter__(self) -> ClassResults:
        return self

    def __exit__(self, *exception: object) -> None:
        self._journal.__exit__(*exception)

    def save_submissions(self, submissions: Iterable[Entry]) -> None:
        """Note which submissions this run has, and whose they are."""
        self._journal.save_submissions(entry.submission for entry in submissions)

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of each submission's latest grading, unless that failed."""
        return self._journal.fingerprints()

    def record(self, submission: str, fingerprint: str, result: Result) -> None:
        """Add a grading, and write what its student gets back."""
        with writable(self.folder), self._journal.record(submission, fingerprint, result) as current:
            write_feedback(self._with_lateness(current), self.folder)

    def restore_feedback(self, submission: str) -> None:
        """Write what a student gets back once more, if any of it is lost or empty."""
        if not has_feedback(self.folder, submission):
            with writable(self.folder):
                write_feedback(self._with_lateness(self._journal.current_of(submission)), self.folder)

    def adjust(self, submission: str, points: float, why: str, *, force: bool = False) -> Graded:
        """Add points to a mark by hand, or take some off; 0 takes back what was decided before. Return what counts now.

        Raise UsageError, and change nothing, if there is no mark to adjust, or if it would be beyond full marks and
        `force` is not set.
        """
        try:
            exact_weight(abs(points))
        except ValueError as error:
            raise UsageError(f"--points {error}") from None
        if points and not why.strip():
            raise UsageError('say why, for the student and for whoever asks in a year: --why "…"')
        with writable(self.folder), self._journal.adjust(submission, points, why.strip()) as current:
            graded = self._with_lateness(current)
            result = graded.result
            if result.status is Status.GRADER_ERROR:
                raise UsageError(
                    f"{graded.submission.id} has no mark yet, because the grader failed: grade again first"
                )
            if result.mark > result.max_score and not force:
                mark = f"{shown(result.mark)} of {shown(result.max_score)}"
                raise UsageError(f"that would be {mark} points, more than full marks: say --force if it is meant")
            write_feedback(graded, self.folder)
        return graded

    def current(self) -> Iterator[Graded]:
        """Yield what counts of each submission, in the order of their ids."""
        return (self._with_lateness(one) for one in self._journal.current())

    def before_last_change(self) -> Iterator[Graded]:
        """Yield what counted before the last run that graded anything."""
        run = self._journal.before_last_change()
        return (self._with_lateness(one) for one in self._journal.current(run))

    def submission_of(self, who: str) -> str:
        """Return the submission that an id or a submission of grades.csv names. Raise UsageError if it names none."""
        book = self.gradebook()
        grades = book.grades
        found = {grade.submission for grade in grades if who in (grade.student.id, grade.submission)}
        if len(found) == 1:
            return found.pop()
        if who in book.outdated:
            raise UsageError(f"{who} was graded with other parts or points: grade again first")
        which = "is the id of one and the submission of another" if found else f"is nobody there{_near(who, grades)}"
        raise UsageError(f"{who} {which}: name an id or a submission of {self.folder / GRADES}")

    def gradebook(self) -> Gradebook:
        """Return the gradebook, with what earlier runs graded."""
        summary, outdated = ClassSummary(), list[str]()
        fitting = self._fitting(summary, outdated)
        grades = class_grades(grade for graded in fitting for grade in grades_of(graded))
        return Gradebook(grades, summary, tuple(outdated))

    def write_gradebook(self) -> Gradebook:
        """Write grades.csv and tests.csv, and return what stands in them."""
        summary, outdated = ClassSummary(), list[str]()
        with writable(self.folder):
            close_tree(self.folder / SUBMISSIONS)
            remove_leftovers(self.folder)
            grades = write_gradebook(self._fitting(summary, outdated), self.folder)
        return Gradebook(grades, summary, tuple(outdated))

    def finish(self) -> None:
        """Note that nothing of this run is left to be done."""
        self._journal.finish()

    def _fitting(self, summary: ClassSummary, outdated: list[str]) -> Iterator[Graded]:
        """Yield the gradings with the parts and points of today; note the others as outdated."""
        parts = [(part.number, part.function, rounded(part.points)) for part in self.homework.parts]
        for graded in self.current():
            if [(part.number, part.function, part.points) for part in graded.result.parts] != parts:
                outdated.append(graded.submission.id)
            else:
                summary.add(graded)
                yield graded

    def _with_lateness(self, graded: Graded) -> Graded:
        """Apply the late policy as it is now, not as it was when this was graded."""
        homework, handed_in = self.homework, graded.submission
        late = lateness(homework.late, homework.points, handed_in.submitted_at, handed_in.due_at, handed_in.late)
        return msgspec.structs.replace(graded, result=msgspec.structs.replace(graded.result, lateness=late))


def fingerprint(job: Job, spec: GradingSpec, graded_with: Provenance) -> str:
    """Return a digest of all that a grading depends on: the same fingerprint means the same marks and the same files.

    The part behind the dot stands for softmark and its libraries. Fingerprints of older versions have no dot.
    """
    handed_in, read = job.submission, job.files
    files = (read.main, handed_in.sha256, read.refusal, read.notes, read.staff_notes)
    times = [None if time is None else time.isoformat() for time in (handed_in.submitted_at, handed_in.due_at)]
    own = msgspec.json.encode((files, handed_in.students, *times, handed_in.late))
    others = msgspec.structs.replace(graded_with, **dict.fromkeys(SOFTWARE, ""))
    both = msgspec.json.encode((others, spec.budget_seconds)) + b"\0" + own
    return f"{hashlib.sha256(both).hexdigest()}.{software_digest(graded_with)}"


def only_software_differs(before: str, now: str) -> bool:
    """Return True if only softmark or its libraries have changed since, as far as the earlier fingerprint tells."""
    (others, dot, software), (others_now, _, software_now) = before.partition("."), now.partition(".")
    return not dot or (others == others_now and software != software_now)


def _near(who: str, grades: Iterable[Grade]) -> str:
    """Return a question that names students whose id, name or address is similar, in any case; empty if none is."""
    ids: dict[str, list[str]] = {}
    for grade in grades:
        student = grade.student
        own = f"{student.id} ({student.name})" if student.name not in ("", student.id) else student.id
        for name in {student.id, grade.submission, student.name, student.email} - {""}:
            ids.setdefault(name.casefold(), []).append(own)
    near = get_close_matches(who.casefold(), ids, n=_MOST_SUGGESTED, cutoff=0.6)
    meant = dict.fromkeys(own for name in near for own in ids[name])
    return f" (did you mean {' or '.join(list(meant)[:_MOST_SUGGESTED])}?)" if meant else ""

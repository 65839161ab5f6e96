"""Grades the one submission that a platform has put into its container, under the platform's rules.

The paths are Gradescope's: `submission/` and `submission_metadata.json` are read, `source/` holds the homework. The
whole run has a budget below the platform's timeout. Whatever happens, the last result that was written is a valid one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from softmark.batch.one import Sink
from softmark.course.deadlines import Attempt, attempt, lateness
from softmark.course.homework import Homework
from softmark.engines.protocol import Engine, EngineError
from softmark.grading.job import Job, read_job
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.gradescope import METADATA_JSON, EarlierAttempt, Metadata, read_metadata
from softmark.intake.model import Entry
from softmark.intake.names import safe_id
from softmark.intake.places import FOLDER, Folder, Item
from softmark.records.errors import ConfigError, UsageError
from softmark.records.result import Result, Status, Submission, Submitter, decode, encode, not_gradable

DEFAULT_SECONDS = 540.0
"""A minute less than Gradescope's default."""
_RESERVE = 45.0
"""Seconds of the whole run for all that is not the student's, such as the import of torch on half a slow processor."""


@dataclass(frozen=True)
class ContainerPaths:
    """The places in which the platform puts files."""

    root: Path

    @property
    def source(self) -> Path:
        """The content of the bundle: graders/ and reference/."""
        return self.root / "source"

    @property
    def results(self) -> Path:
        return self.root / "results" / "results.json"

    @property
    def pending(self) -> Path:
        """Return the results.json before the first test. run_autograder puts it in place before anything is started."""
        return self.source / "pending.json"

    @property
    def prepared(self) -> Path:
        """Return the file of the same as a Result, for a run whose engine cannot start."""
        return self.source / "prepared.json"


def seconds_of_a_submission(seconds: float) -> float:
    """Return how long a submission may take if the whole run may take so many seconds."""
    return max(seconds - _RESERVE, seconds / 2)


def prepare(place: ContainerPaths, engine: Engine) -> Result:
    """Return the Result before the first test and keep it, when the image is built. Raise if nothing can be graded."""
    pending = engine.pending()
    place.prepared.write_bytes(encode(pending))
    return pending


def grade_there(place: ContainerPaths, homework: Homework, engine: Engine, seconds: float, sink: Sink) -> Result:
    """Return the final Result. `sink` is given every result on the way to it, and the final one last."""
    end = time.monotonic() + seconds
    engine.start()
    handed = _HandedIn.at(place, homework)
    latest = handed.prepared(place)

    def keep(result: Result) -> None:
        nonlocal latest
        latest = result
        sink(result)

    try:
        pending = handed.pending(engine.pending(end - time.monotonic()))
        keep(pending)
        result = handed.graded(engine, pending, end, keep)
        if result.status is Status.GRADER_ERROR:
            result = handed.failed(result)
    except TimeoutError:
        engine.stop()
        why = f"the grading engine was stopped when the {seconds:g} seconds for the whole run were over"
        if latest is None:
            raise EngineError(why) from None
        result = handed.failed(latest, why)
    except (EngineError, UsageError, ConfigError) as failure:
        if latest is None:
            raise
        result = handed.failed(latest, str(failure))
    keep(result)
    return result


@dataclass(frozen=True)
class _HandedIn:
    """The submission, its times, and its place among earlier attempts."""

    homework: Homework
    about: Metadata
    job: Job
    attempt: Attempt | None

    @classmethod
    def at(cls, place: ContainerPaths, homework: Homework) -> _HandedIn:
        about = read_metadata(place.root / METADATA_JSON)
        submission = Submission(
            id=safe_id(about.id or "submission"),
            students=about.users or (Submitter("submission"),),
            origin="submission",
            submitted_at=about.created_at,
            due_at=about.assignment.due_at,
        )
        source = Pieces((Piece(Folder(place.root, place.root.name), Item("submission", FOLDER), ()),))
        return cls(homework, about, read_job(Entry(submission, source), homework), _attempt(homework, about))

    def prepared(self, place: ContainerPaths) -> Result | None:
        """Return the result that was prepared when the image was built; None if there is none."""
        try:
            prepared = place.prepared.read_bytes()
        except FileNotFoundError:
            return None
        return self.pending(decode(prepared))

    def pending(self, of_nobody: Result) -> Result:
        """Return the result of this submission before its first test; the final one if it cannot be graded."""
        return self.dressed(self.job.result(of_nobody))

    def graded(self, engine: Engine, pending: Result, end: float, keep: Sink) -> Result:
        """Return the final result. Stop the engine and raise TimeoutError if it is not there in time."""
        if self.attempt is not None and not self.attempt.counts:
            return msgspec.structs.replace(not_gradable(pending, self.attempt.line), kept=self._earlier_mark)
        if self.job.files.refusal:
            return pending
        future = engine.submit(self.job, lambda so_far: keep(self.dressed(so_far)))
        try:
            return self.dressed(future.result(end - time.monotonic()))
        except TimeoutError:
            engine.stop()
            future.exception()  # after this, `keep` is not called any more
            raise

    def dressed(self, result: Result) -> Result:
        """Add the lateness, the number of the attempt and the notes for staff to a result."""
        told = (self.attempt.line,) if self.attempt is not None and self.attempt.counts else ()
        due = self.about.assignment.due_at
        return msgspec.structs.replace(
            result,
            notes=(*result.notes, *told),
            staff_notes=(*self._staff_notes(), *result.staff_notes),
            lateness=lateness(self.homework.late, self.homework.points, self.about.created_at, due),
        )

    def failed(self, result: Result, why: str = "") -> Result:
        """Return the result as a failure of the grader. An earlier mark stands if it is better."""
        notes = (*result.staff_notes, why) if why else result.staff_notes
        return msgspec.structs.replace(result, status=Status.GRADER_ERROR, staff_notes=notes, kept=self._earlier_mark)

    @property
    def _earlier_mark(self) -> float:
        """Return the mark of the latest attempt that has one: it would count if this submission had not been made."""
        marks = [one.score for one in self.about.earlier if one.score is not None and not one.autograder_error]
        return min(max(marks[-1], 0.0), float(self.homework.points)) if marks else 0.0

    def _staff_notes(self) -> Iterator[str]:
        yield from self.about.staff_notes
        assignment = self.about.assignment
        if self.homework.attempts is not None and self.attempt is None:
            yield "the limit of attempts was not applied: no time of submission is known"
        if assignment.late_due_at and self.about.created_at and _after(self.about.created_at, assignment.late_due_at):
            yield f"handed in after the late due date, {assignment.late_due_at.isoformat()}"
        if assignment.total_points is not None and assignment.total_points < self.homework.points:
            yield (
                f"the assignment is set up for {assignment.total_points:g} points, the autograder gives up to "
                f"{float(self.homework.points):g}: change the autograder points in its settings"
            )


def _attempt(homework: Homework, about: Metadata) -> Attempt | None:
    if homework.attempts is None or about.created_at is None:
        return None
    return attempt(homework.attempts, about.created_at, [t for one in about.earlier if (t := _counting(one))])


def _counting(one: EarlierAttempt) -> datetime | None:
    return None if one.autograder_error else one.submitted_at


def _after(time: datetime, other: datetime) -> bool:
    """Return True if a time is after the other. Times of which only one has an offset cannot be compared."""
    if (time.utcoffset() is None) != (other.utcoffset() is None):
        return False
    return time > other

"""The platform's rules for one submission, with an engine whose answers a test has written down."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest

from softmark.course.deadlines import AttemptLimit, LatePolicy
from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.intake.gradescope import METADATA_JSON
from softmark.platforms.gradescope import ContainerPaths, grade_there, prepare
from softmark.records.errors import ConfigError, UsageError
from softmark.records.result import Result, Status, Submitter
from tests.support.engine_double import ScriptedEngine
from tests.support.results import HOMEWORK, graded, second_zero

RULES = replace(HOMEWORK, late=LatePolicy(Fraction(10)), attempts=AttemptLimit(2, timedelta(hours=24)))
NOON = "2026-03-02T12:00:00-08:00"
DUE = "2026-03-02T20:00:00+00:00"
DEFINES = b"def project(): pass\ndef scores(): pass\ndef mask(): pass\n"
PRINTED = ("one process was left behind",)
"""What the engine's answer says to staff."""


class Engine(ScriptedEngine):
    """Tells its answer on the way, too, and raises a failure of its own when it is asked whether it can grade."""

    broken: Exception | None = None
    waited: float | None = None

    def pending(self, timeout: float | None = None) -> Result:
        assert self.started or timeout is None, "it starts while the submission is read"
        self.waited = timeout
        if self.broken is not None:
            raise self.broken
        return super().pending(timeout)

    def submit(self, job: Job, on_progress: Callable[[Result], None] | None = None) -> Future[Result]:
        future = super().submit(job, on_progress)
        if on_progress is not None:
            on_progress(second_zero())
        return future


@dataclass
class Container:
    """The platform's folder, and what was written on the way."""

    place: ContainerPaths
    told: list[Result] = field(default_factory=list)

    def engine(self, *answers: Result | Exception | None, name: str = "7") -> Engine:
        return Engine(GradingSpec.of(HOMEWORK, "full"), second_zero(), {name: answers})

    def grade(
        self, metadata: Any = None, engine: Engine | None = None, seconds: float = 60.0, homework: Any = RULES
    ) -> Result:
        """Return the final result of what is in the folder."""
        if metadata is not None:
            (self.place.root / METADATA_JSON).write_text(json.dumps(metadata))
        self.told.clear()
        engine = engine or self.engine(graded(), name="7" if metadata else "submission")
        result = grade_there(self.place, homework, engine, seconds, self.told.append)
        assert self.told[-1] == result
        assert engine.waited is not None
        assert 0 < engine.waited <= seconds
        return result


@pytest.fixture
def container(tmp_path: Path) -> Container:
    (tmp_path / "submission").mkdir()
    (tmp_path / "source").mkdir()
    (tmp_path / "submission" / HOMEWORK.file).write_text("x = 1\n")
    return Container(ContainerPaths(tmp_path))


def metadata(created_at: str = NOON, **assignment: Any) -> dict[str, Any]:
    return {"id": 7, "created_at": created_at, "assignment": {"due_date": DUE, **assignment}}


def with_earlier(*attempts: dict[str, Any]) -> dict[str, Any]:
    return {**metadata(), "previous_submissions": list(attempts)}


def earlier(at: str, score: Any, error: bool = False) -> dict[str, Any]:
    return {"submission_time": at, "score": score, "autograder_error": error}


class TestSubmission:
    def test_is_known_by_what_the_platform_says(self, container: Container) -> None:
        """Its number, its students and its times are in the result, and so is the file that was handed in."""
        ada = {"id": 1, "name": "Ada", "email": "ada@example.org"}
        about = {**metadata("2026-03-02T11:00:00-08:00"), "users": [ada, {"id": 2, "name": "Ben"}]}
        submission = container.grade(about).submission
        graded_as = container.told[0].submission
        assert (graded_as.id, graded_as.name, graded_as.file) == ("7", "Ada, Ben", HOMEWORK.file)
        assert graded_as.students == (Submitter("ada@example.org", "Ada", "ada@example.org"), Submitter("2", "Ben"))
        assert graded_as.submitted_at is not None
        assert graded_as.due_at is not None
        assert (graded_as.submitted_at.isoformat(), graded_as.due_at.isoformat()) == (about["created_at"], DUE)
        assert submission == graded().submission  # the engine's own answer is not touched

    def test_without_metadata(self, container: Container) -> None:
        """It is graded all the same; staff are told what is not known."""
        result = container.grade(homework=HOMEWORK)
        assert result.mark == graded().mark
        assert container.told[0].submission.students == (Submitter("submission"),)
        (note,) = set(result.staff_notes) - set(PRINTED)
        assert note.startswith("nothing is known about the submission: no such file: ")

    @pytest.mark.parametrize(("at", "late"), [(NOON, False), ("2026-03-02T12:01:00-08:00", True)])
    def test_late_by_instants(self, at: str, late: bool, container: Container) -> None:
        """Noon in California is the due date itself, and a minute later is late."""
        lateness = container.grade(metadata(at)).lateness
        assert (lateness is not None and lateness.line.startswith("Handed in 1 minute late")) == late

    def test_results_on_the_way(self, container: Container) -> None:
        """What is written first, and after each test, has the lateness and the notes of the end."""
        late = metadata("2026-03-02T12:30:00-08:00", total_points="5.0")
        result = container.grade(late)
        assert [one.mark for one in container.told] == [0, 0, result.mark]
        assert len({one.lateness for one in container.told}) == 1
        for one in container.told:
            assert one.lateness is not None
            assert one.lateness.line.startswith("Handed in 30 minutes late")
            assert one.notes[-1] == "This is attempt 1 of 2 in 1 day."
            assert one.staff_notes[0].startswith("the assignment is set up for 5 points")
        assert result.notes == (*graded().notes, "This is attempt 1 of 2 in 1 day.")
        assert result.staff_notes[1:] == PRINTED
        assert result.mark == graded().total - 1

    @pytest.mark.parametrize(
        ("files", "says"),
        [
            ({}, "expected attention_scores.py; found nothing"),
            ({"notes.txt": b"hello"}, "expected attention_scores.py; found"),
            ({"a.py": DEFINES, "b.py": DEFINES + b"x = 1\n"}, "which one is meant is not clear"),
            ({"attention_scores.py": b""}, "empty"),
            ({"work.zip": b"PK\x03\x04 broken"}, "zip"),
        ],
        ids=["nothing", "no such file", "several files", "empty file", "broken zip"],
    )
    def test_that_cannot_be_graded(self, files: dict[str, bytes], says: str, container: Container) -> None:
        """It is a real zero with one reason, and no engine is asked to grade it."""
        (container.place.root / "submission" / HOMEWORK.file).unlink()
        for name, content in files.items():
            (container.place.root / "submission" / name).write_bytes(content)
        engine = container.engine()
        result = container.grade(metadata(), engine)
        assert (result.status, result.mark, engine.jobs) == (Status.NOT_GRADABLE, 0, [])
        assert says in result.reason
        assert result.notes == ("This is attempt 1 of 2 in 1 day.",)

    def test_zip_inside_is_looked_into(self, container: Container) -> None:
        """A zip of the right file is as good as the file."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("hw/attention_scores.py", "x = 1\n")
        (container.place.root / "submission" / HOMEWORK.file).unlink()
        (container.place.root / "submission/hw.zip").write_bytes(packed.getvalue())
        engine = container.engine(graded())
        container.grade(metadata(), engine)
        assert engine.jobs[0].files.files == {HOMEWORK.file: b"x = 1\n"}


class TestAttempts:
    @pytest.mark.parametrize(
        ("marks", "kept"),
        [
            ((9.0, 4.0), 4),
            ((4.0, "8.5"), 8.5),
            ((9.0, -4.0), 0),
            ((4.0, 900.0), 10),
            ((9.0, 4.0, None), 4),
            ((None, None), 0),
        ],
        ids=["a worse one", "a better one", "below nothing", "above everything", "one without a mark", "no mark"],
    )
    def test_one_too_many_keeps_the_latest_mark(
        self, marks: tuple[Any, ...], kept: float, container: Container
    ) -> None:
        """It is not graded, and what counted before it stands: the latest mark, and not the best."""
        before = [earlier(f"2026-03-02T1{n}:00:00-08:00", mark) for n, mark in enumerate(marks)]
        engine = container.engine()
        result = container.grade(with_earlier(*before), engine)
        assert (result.status, result.kept, result.mark, engine.jobs) == (Status.NOT_GRADABLE, kept, kept, [])
        assert result.reason == (
            "not graded: attempts are limited to 2 in 1 day; the next one counts from 2026-03-03 18:00 UTC on"
        )
        assert not any("This is attempt" in note for note in result.notes)

    def test_those_at_which_the_autograder_failed_do_not_count(self, container: Container) -> None:
        """Nor does their mark, if the grader fails again."""
        before = [
            earlier("2026-03-02T10:00:00-08:00", 3.0),
            earlier("2026-03-02T11:00:00-08:00", 9.0, error=True),
        ]
        result = container.grade(with_earlier(*before))
        assert result.notes[-1] == "This is attempt 2 of 2 in 1 day."
        assert result.kept == 0
        failed = container.grade(with_earlier(*before), container.engine(EngineError("gone")))
        assert (failed.status, failed.kept) == (Status.GRADER_ERROR, 3)

    @pytest.mark.parametrize("limited", [True, False])
    def test_without_a_time(self, limited: bool, container: Container) -> None:
        """The limit cannot be applied: everybody is graded, and staff are told if there is a limit."""
        about = with_earlier(*[earlier(NOON, 1.0)] * 3)
        del about["created_at"]
        result = container.grade(about, homework=replace(RULES, attempts=RULES.attempts if limited else None))
        said = "the limit of attempts was not applied: no time of submission is known"
        assert (said in result.staff_notes) == limited
        assert (result.status, result.notes) == (Status.GRADED, graded().notes)


class TestStaffNotes:
    @pytest.mark.parametrize(
        ("created", "late_due", "told"),
        [
            (NOON, "2026-03-02T11:59:59-08:00", True),
            (NOON, "2026-03-02T20:00:00Z", False),
            (NOON, "2026-03-02T23:00:00", False),
            ("2026-03-02T12:00:00", "2026-03-01T23:00:00-08:00", False),
            ("2026-03-02T12:00:00", "2026-03-02T11:00:00", True),
            (NOON, None, False),
        ],
        ids=["after", "at", "due without an offset", "handed in without an offset", "neither", "none"],
    )
    def test_late_due_date(self, created: str, late_due: str | None, told: bool, container: Container) -> None:
        """Staff are told of what was handed in after it. Times that cannot be compared cost nobody the grading."""
        result = container.grade(metadata(created, late_due_date=late_due))
        said = [note for note in result.staff_notes if note.startswith("handed in after the late due date, 2026-03-0")]
        assert bool(said) == told
        assert result.total == graded().total

    @pytest.mark.parametrize(
        ("points", "says"),
        [
            (10, None),
            (12, None),
            (None, None),
            (
                8,
                "the assignment is set up for 8 points, the autograder gives up to 10: "
                "change the autograder points in its settings",
            ),
        ],
    )
    def test_points_of_the_assignment(self, points: float | None, says: str | None, container: Container) -> None:
        """An assignment that takes fewer points than the homework gives would cut marks."""
        result = container.grade(metadata(total_points=points))
        assert result.staff_notes == ((says, *PRINTED) if says else PRINTED)

    @pytest.mark.parametrize(
        "odd", [[], {"id": 7, "created_at": 5}, {"id": 7, "users": 7}, {"id": 7, "previous_submissions": {}}]
    )
    def test_odd_metadata_costs_nothing(self, odd: Any, container: Container) -> None:
        """What the platform says may be anything."""
        result = container.grade(odd, container.engine(graded(), name="7" if odd else "submission"))
        assert result.total == graded().total
        assert any(note.startswith("submission_metadata.json: ") for note in result.staff_notes)


class TestGraderFailure:
    """The grader's own failure is never a student's zero."""

    BEFORE = with_earlier(earlier("2026-03-01T10:00:00-08:00", 5.5))

    @pytest.fixture
    def prepared(self, container: Container) -> Container:
        assert prepare(container.place, container.engine()) == second_zero()
        return container

    @pytest.mark.parametrize("failure", [EngineError("no memory"), UsageError("no memory"), ConfigError("f", 1, "no")])
    def test_engine_that_cannot_start(self, failure: Exception, prepared: Container) -> None:
        """What was prepared with the image is the result, and an earlier mark stands."""
        engine = prepared.engine()
        engine.broken = failure
        result = prepared.grade(self.BEFORE, engine)
        assert (result.status, result.kept, result.mark) == (Status.GRADER_ERROR, 5.5, 5.5)
        assert result.staff_notes[-1] == str(failure)
        assert result.submission.id == "7"

    def test_engine_that_starts_too_slowly(self, prepared: Container) -> None:
        """The whole run has so many seconds, the start of the engine included."""
        engine = prepared.engine()
        engine.broken = TimeoutError()
        result = prepared.grade(self.BEFORE, engine, seconds=12)
        why = "the grading engine was stopped when the 12 seconds for the whole run were over"
        assert (result.status, result.mark, result.staff_notes[-1]) == (Status.GRADER_ERROR, 5.5, why)

    @pytest.mark.parametrize("failure", [EngineError("no memory"), TimeoutError(), UsageError("no such device")])
    def test_without_anything_prepared(self, failure: Exception, container: Container) -> None:
        """There is nothing to write, so the run fails with the reason."""
        engine = container.engine()
        engine.broken = failure
        with pytest.raises((EngineError, UsageError)) as raised:
            container.grade(self.BEFORE, engine, seconds=12)
        late = "the grading engine was stopped when the 12 seconds for the whole run were over"
        assert str(raised.value) == (str(failure) or late)

    def test_engine_that_breaks(self, container: Container) -> None:
        """What was known last is the result, with the reason for staff."""
        result = container.grade(self.BEFORE, container.engine(EngineError("the machine went away")))
        assert (result.status, result.kept, result.staff_notes[-1]) == (
            Status.GRADER_ERROR,
            5.5,
            "the machine went away",
        )
        assert result.lateness == container.told[0].lateness

    def test_engine_that_does_not_end(self, container: Container) -> None:
        """It is stopped when the time is over, and what was earned by then counts."""
        engine = container.engine(None)
        result = container.grade(self.BEFORE, engine, seconds=0.01)
        assert result.status is Status.GRADER_ERROR
        assert "when the 0.01 seconds for the whole run were over" in result.staff_notes[-1]
        assert (len(engine.jobs), engine.open) == (1, [])

    @pytest.mark.parametrize(("before", "mark"), [(1.0, 3.0), (5.5, 5.5)])
    def test_one_test_that_breaks(self, before: float, mark: float, container: Container) -> None:
        """The better of both marks counts: the earlier one, and what the other tests have given."""
        broken = msgspec.structs.replace(graded(), status=Status.GRADER_ERROR)
        about = with_earlier(earlier("2026-03-01T10:00:00-08:00", before))
        result = container.grade(about, container.engine(broken))
        assert (result.total, result.mark, result.staff_notes) == (3.0, mark, PRINTED)

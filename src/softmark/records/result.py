"""Defines the Result of grading one submission: all that a report or a gradebook needs, as plain data.

A Result is frozen and survives JSON unchanged. It exists before the first test (every test is "not run yet"), and each
finished test makes a new one (`with_test`). So a run that is killed leaves what was earned until then.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

import msgspec

from softmark.records.points import shown, total
from softmark.records.record import Record
from softmark.records.verdict import Category, CodeLine, FailedCall, Listing, Repair, Verdict

SCHEMA = 1


class Status(StrEnum):
    """The outcome of a whole submission."""

    GRADED = "graded"
    NOT_GRADABLE = "not_gradable"
    """The submission could not be graded at all; `reason` says why. The mark is a real 0."""
    GRADER_ERROR = "grader_error"
    """The grader itself failed: there is no mark, and an earlier one is kept."""


class Outcome(StrEnum):
    """The outcome of one test, or of one of its cases."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
    GRADER_ERROR = "grader_error"


class CaseResult(Record, frozen=True):
    """One parametrised case. Its share of the test is exact, as "2/3"; its score is that in rounded points.

    `given` has the numbers of earlier parts that are wrong: the case is right if they are. `same_slip_as` has those of
    which it repeats a named slip, which has cost its marks there. `unfollowed` names functions for which the pretended
    device did not tell whether they work on any device. `carried` stands in older results only. It names the student's
    own earlier functions by whose answers the case was found right.
    """

    id: str
    outcome: Outcome = Outcome.NOT_RUN
    share: str = "0"
    score: float = 0.0
    verdicts: tuple[Verdict, ...] = ()
    carried: tuple[str, ...] = ()
    unfollowed: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    same_slip_as: tuple[str, ...] = ()
    seconds: float = 0.0
    accepted: float = 0.0
    """The largest error, in tolerances, of an answer that was accepted."""
    refused: float | None = None
    """The smallest error, in tolerances, of an answer that was refused for its values."""
    printed: str = ""
    """The output of the student's code, in results of public tests only."""
    call: FailedCall | None = None
    """The call behind a failure, in results of public tests only."""


class LeaderboardEntry(Record, frozen=True):
    """A student's value in a column of the leaderboard."""

    name: str
    value: float | str
    order: str = "desc"


class TestResult(Record, frozen=True):
    """One hidden test: its declaration and its outcome."""

    __test__: ClassVar[bool] = False

    name: str
    number: str
    part: str
    title: str
    max_score: float
    visibility: str
    tags: tuple[str, ...]
    hide_errors: str | None
    all_or_nothing: bool
    cases: tuple[CaseResult, ...]
    score: float = 0.0
    outcome: Outcome = Outcome.NOT_RUN
    leaderboard: LeaderboardEntry | None = None
    repair: Repair | None = None
    """The line to look at, where no named mistake explains the failure."""

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return all that went wrong, over all cases."""
        return tuple(verdict for case in self.cases for verdict in case.verdicts)

    @property
    def carried(self) -> tuple[str, ...]:
        """Return the student's own earlier functions by which this test was judged, each once."""
        return tuple(dict.fromkeys(name for case in self.cases for name in case.carried))

    @property
    def unfollowed(self) -> tuple[str, ...]:
        """Return the functions of which it is not known whether they work on any device, each once."""
        return tuple(dict.fromkeys(name for case in self.cases for name in case.unfollowed))

    @property
    def given(self) -> tuple[str, ...]:
        """Return the wrong earlier parts without which cases of this test are right, each once."""
        return tuple(dict.fromkeys(part for case in self.cases for part in case.given))

    @property
    def same_slip_as(self) -> tuple[str, ...]:
        """Return the earlier parts whose slip cases of this test repeat, each once."""
        return tuple(dict.fromkeys(part for case in self.cases for part in case.same_slip_as))


class PartResult(Record, frozen=True):
    """One part of the homework, and the points that were earned in it."""

    number: str
    function: str
    title: str
    points: float
    earned: float = 0.0


class Submitter(Record, frozen=True):
    """A student, as far as the source of the submissions names one."""

    id: str
    name: str = ""
    email: str = ""


class Submission(Record, frozen=True):
    """One submission: its students, its file and its time. It never names a path of the grading machine."""

    id: str = ""
    """Unique in the class, the same in every run, and safe as the name of a folder."""
    name: str = ""
    """The students' names, for people."""
    file: str = ""
    """The name that the file is graded as."""
    sha256: str = ""
    """Digest of the files."""
    students: tuple[Submitter, ...] = ()
    """Empty in results from before it was noted, as are the fields below."""
    origin: str = ""
    """The place in the source where it was found, as a person would say it."""
    submitted_at: datetime | None = None
    """With an offset if the source gives one."""
    due_at: datetime | None = None
    late: bool | None = None
    """True if the platform says that it is late; None if it does not say."""
    earlier: tuple[str, ...] = ()
    """Origins of earlier attempts, which do not count."""


class Provenance(Record, frozen=True):
    """The versions and digests that a grading depended on: they explain why two results differ."""

    isolation: str = ""
    softmark: str = ""
    torch: str = ""
    python: str = ""
    device: str = "cpu"
    tests_sha256: str = ""
    reference_sha256: str = ""
    softmark_sha256: str = ""
    """Digest of the installed package's files; empty in results from before it was noted."""
    numpy: str = ""
    pytest: str = ""
    gradescope_utils: str = ""


class Excerpt(Record, frozen=True):
    """The beginning and end of what the student's code printed; for staff only."""

    stdout: str = ""
    stderr: str = ""


class Adjustment(Record, frozen=True):
    """Points that the staff add to a mark by hand, or take off. No grading changes them."""

    points: float
    why: str
    made: str
    """The time of the decision, as ISO 8601."""
    total: float
    """The total of the tests at that time."""

    @property
    def line(self) -> str:
        """Return the sentence for the student."""
        sign, number = ("+", self.points) if self.points > 0 else ("−", -self.points)
        return f"{sign}{shown(number)} {'point' if number == 1 else 'points'} by the course's staff: {self.why}"

    def staff_note(self, total: float) -> str:
        """Return a note for staff if the tests give another total now, else an empty text."""
        if total == self.total:
            return ""
        return f"adjusted when the tests gave {shown(self.total)}; now they give {shown(total)}: does it still hold?"


class Lateness(Record, frozen=True):
    """The time at which a submission was handed in, and what lateness costs."""

    line: str = ""
    """For the student; empty if there is nothing to say to them."""
    staff_note: str = ""
    submitted_at: str | None = None
    due_at: str | None = None
    seconds: float | None = None
    """Seconds after the deadline; None if the times are not known."""
    days: int = 0
    deduction: float = 0.0
    """Points, as the policy has them: they may be more than was earned."""
    excluded: bool = False
    """True if it came after the last day that counts."""


class Result(Record, frozen=True):
    """The result of one submission."""

    homework: str
    title: str
    file: str
    submission: Submission
    parts: tuple[PartResult, ...]
    tests: tuple[TestResult, ...]
    max_score: float
    schema: int = SCHEMA
    status: Status = Status.GRADED
    reason: str = ""
    reason_frames: tuple[CodeLine, ...] = ()
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    provenance: Provenance = Provenance()
    printed: Excerpt = Excerpt()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    total: float = 0.0
    """The sum of the tests, without any deduction for lateness."""
    lateness: Lateness | None = None
    adjustment: Adjustment | None = None
    listings: tuple[Listing, ...] = ()
    """The student's functions behind the failures."""
    kept: float = 0.0
    """The mark of an earlier attempt if this one could not be graded. It counts unless this one is better."""

    @property
    def mark(self) -> float:
        """Return the mark that counts."""
        by_hand = self.adjustment.points if self.adjustment else 0.0
        return max(0.0, total((self.unadjusted, by_hand)))

    @property
    def unadjusted(self) -> float:
        """Return the total less what lateness costs; at least 0, and at least an earlier mark that is kept."""
        taken_off = self.lateness.deduction if self.lateness else 0.0
        return max(0.0, self.kept, total((self.total, -taken_off)))

    @property
    def finished(self) -> bool:
        """Return True if every test has been run."""
        return all(test.outcome is not Outcome.NOT_RUN for test in self.tests)

    @property
    def faults(self) -> tuple[str, ...]:
        """Return, for staff, why the grader failed: what ended it, and what is wrong with which tests."""
        of_tests: dict[str, dict[str, None]] = {}
        for test in self.tests:
            for verdict in test.verdicts:
                if verdict.category is Category.GRADER:
                    of_tests.setdefault(verdict.staff or verdict.fact, {})[test.number] = None
        return (*self.staff_notes, *(f"{', '.join(numbers)}: {why}" for why, numbers in of_tests.items()))

    @property
    def leaderboard(self) -> tuple[LeaderboardEntry, ...]:
        """Return the columns of the leaderboard that were filled."""
        return tuple(test.leaderboard for test in self.tests if test.leaderboard is not None)

    def with_test(self, *finished: TestResult) -> Result:
        """Return the same result with these tests in their places, added up anew."""
        new = {test.name: test for test in finished}
        tests = tuple(new.pop(test.name, test) for test in self.tests)
        if new:
            raise KeyError(f"{', '.join(new)}: none of the tests of {self.homework}")
        parts = tuple(
            msgspec.structs.replace(part, earned=total(t.score for t in tests if t.part == part.number))
            for part in self.parts
        )
        faulty = any(test.outcome is Outcome.GRADER_ERROR for test in finished)
        return msgspec.structs.replace(
            self,
            tests=tests,
            parts=parts,
            total=total(test.score for test in tests),
            status=Status.GRADER_ERROR if faulty else self.status,
        )


class Graded(Record, frozen=True):
    """The latest attempt of a student or a group, with its result."""

    submission: Submission
    result: Result
    gone: bool = False
    """True if the latest run did not find it in the source any more."""


def not_gradable(result: Result, reason: str, frames: tuple[CodeLine, ...] = ()) -> Result:
    """Return the result of a submission that cannot be graded: every test failed, for the one reason at the top."""
    failed = []
    for test in result.tests:
        cases = tuple(msgspec.structs.replace(case, outcome=Outcome.FAILED) for case in test.cases)
        failed.append(msgspec.structs.replace(test, cases=cases, outcome=Outcome.FAILED))
    result = result.with_test(*failed)
    return msgspec.structs.replace(result, status=Status.NOT_GRADABLE, reason=reason, reason_frames=frames)


def grader_error(result: Result, why: str) -> Result:
    """Return the result after a failure of the grader: what was earned until then, which is not the student's mark."""
    return msgspec.structs.replace(result, status=Status.GRADER_ERROR, staff_notes=(*result.staff_notes, why))


def encode(result: Result) -> bytes:
    """Return the result as strict JSON."""
    return msgspec.json.encode(result)


def decode(data: bytes | str) -> Result:
    """Return the result that `encode` wrote. Raise msgspec.ValidationError or DecodeError for anything else."""
    return msgspec.json.decode(data, type=Result)

"""The one Result of grading one submission: all that a report or a gradebook needs, as plain data.

It is frozen and survives JSON unchanged. It exists from the first second (`pending`: every test "not run
yet", 0) and each finished test makes a new one (`with_test`), so that whoever kills the run still finds
what was earned.
"""

from enum import StrEnum
from typing import ClassVar

import msgspec

from softmark.records.adjustment import Adjustment
from softmark.records.lateness import Lateness
from softmark.records.points import total
from softmark.records.record import Record
from softmark.records.verdict import Category, CodeLine, Verdict

SCHEMA = 1


class Status(StrEnum):
    """What became of the whole submission."""

    GRADED = "graded"
    NOT_GRADABLE = "not_gradable"
    """Nothing in it could be graded (it could not be loaded); `reason` says why. A real 0."""
    GRADER_ERROR = "grader_error"
    """The grader itself failed: this is not the student's mark, and an earlier one is kept."""


class Outcome(StrEnum):
    """What became of one test, or of one of its cases."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"
    GRADER_ERROR = "grader_error"


class CaseResult(Record, frozen=True):
    """One parametrised case. Its share of the test is exact, as "2/3"; its score is that in rounded points.

    `carried` names the student's own earlier functions by whose answers this one was found right.
    """

    id: str
    outcome: Outcome = Outcome.NOT_RUN
    share: str = "0"
    score: float = 0.0
    verdicts: tuple[Verdict, ...] = ()
    carried: tuple[str, ...] = ()
    seconds: float = 0.0
    accepted: float = 0.0
    """The largest error, in tolerances, of an answer that was accepted."""
    refused: float | None = None
    """The smallest error, in tolerances, of an answer that was refused for its values."""


class LeaderboardEntry(Record, frozen=True):
    """A student's value in a column of the leaderboard."""

    name: str
    value: float | str
    order: str = "desc"


class TestResult(Record, frozen=True):
    """One hidden test: what was declared about it, and what became of it."""

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

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All that went wrong, over all cases."""
        return tuple(verdict for case in self.cases for verdict in case.verdicts)

    @property
    def carried(self) -> tuple[str, ...]:
        """The student's own earlier functions this test was judged by, each once."""
        return tuple(dict.fromkeys(name for case in self.cases for name in case.carried))


class PartResult(Record, frozen=True):
    """One part of the homework and what was earned in it."""

    number: str
    function: str
    title: str
    points: float
    earned: float = 0.0


class Submission(Record, frozen=True):
    """What was handed in, as far as a result names it: never a path of the grading machine."""

    id: str = ""
    name: str = ""
    file: str = ""
    sha256: str = ""


class Provenance(Record, frozen=True):
    """With what it was graded, so that two results can be compared and a regrade explained."""

    isolation: str = ""
    softmark: str = ""
    torch: str = ""
    python: str = ""
    device: str = "cpu"
    tests_sha256: str = ""
    reference_sha256: str = ""
    softmark_sha256: str = ""
    """Of the installed package's files; empty in results from before it was noted."""
    numpy: str = ""
    pytest: str = ""
    gradescope_utils: str = ""


class Excerpt(Record, frozen=True):
    """What the student's code printed, shortened; for staff only."""

    stdout: str = ""
    stderr: str = ""


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
    """The sum of the tests, whenever it was handed in."""
    lateness: Lateness | None = None
    adjustment: Adjustment | None = None
    kept: float = 0.0
    """The mark of an earlier attempt, if this one could not be judged: it counts unless this one is better."""

    @property
    def mark(self) -> float:
        """What counts."""
        by_hand = self.adjustment.points if self.adjustment else 0.0
        return max(0.0, total((self.unadjusted, by_hand)))

    @property
    def unadjusted(self) -> float:
        """The total less what lateness costs, and never less than nothing or an earlier mark kept."""
        taken_off = self.lateness.deduction if self.lateness else 0.0
        return max(0.0, self.kept, total((self.total, -taken_off)))

    @property
    def finished(self) -> bool:
        """Whether every test has been run."""
        return all(test.outcome is not Outcome.NOT_RUN for test in self.tests)

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the grader failed, for staff: what ended it, and what is wrong with which tests."""
        of_tests: dict[str, dict[str, None]] = {}
        for test in self.tests:
            for verdict in test.verdicts:
                if verdict.category is Category.GRADER:
                    of_tests.setdefault(verdict.staff or verdict.fact, {})[test.number] = None
        return (*self.staff_notes, *(f"{', '.join(numbers)}: {why}" for why, numbers in of_tests.items()))

    @property
    def leaderboard(self) -> tuple[LeaderboardEntry, ...]:
        """The columns that were filled."""
        return tuple(test.leaderboard for test in self.tests if test.leaderboard is not None)

    def with_test(self, *finished: TestResult) -> "Result":
        """The same result with these tests in their places, added up anew."""
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
    """The result as strict JSON."""
    return msgspec.json.encode(result)


def decode(data: bytes | str) -> Result:
    """The result that `encode` wrote; msgspec.ValidationError or DecodeError for anything else."""
    return msgspec.json.decode(data, type=Result)

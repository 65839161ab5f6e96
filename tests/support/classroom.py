"""Makes a small class to export, in which everything happens that can become of a submission."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from softmark.records.result import CaseResult, Graded, Outcome, Result, Submission, Submitter
from tests.support.results import LATE, graded, handed_in, not_gradable, with_cases

LOVELACE = Submitter(id="1001", name="Lovelace, Ada", email="ada@example.org")
HOPPER = Submitter(id="1002", name="Hopper, Grace", email="grace@example.org")
NOETHER = Submitter(id="1003", name="Noether, Emmy", email="emmy@example.org")
TURING = Submitter(id="1004", name="Turing, Alan", email="alan@example.org")
SHANNON = Submitter(id="1005", name="Shannon, Claude", email="claude@example.org")

MONDAY = "2026-03-02T12:00:00+01:00"
TUESDAY = "2026-03-03T12:00:00+01:00"


def one(id: str, *students: Submitter, result: Result | None = None, gone: bool = False, **changes: Any) -> Graded:
    if changes.get("submitted_at"):
        changes["submitted_at"] = datetime.fromisoformat(changes["submitted_at"])
    submission = Submission(id=id, students=students, **{"origin": f"export/{id}", **changes})
    return Graded(submission, result or graded(), gone)


def grader_error() -> Result:
    return with_cases(graded(), 2, CaseResult(id="", outcome=Outcome.GRADER_ERROR))


def better() -> Result:
    """Return a result of which part 2 has 2 points more than in `graded`."""
    return with_cases(graded(), 2, CaseResult(id="", outcome=Outcome.PASSED, share="1"))


def class_of_five() -> tuple[Graded, ...]:
    """Return a class: one in time, one late, two in a group, one not loadable, and one at which the grader failed."""
    return (
        one("s1", LOVELACE, submitted_at=MONDAY),
        one("s2", HOPPER, result=handed_in(LATE), submitted_at=TUESDAY, earlier=("export/s2/1",)),
        one("s3", NOETHER, result=not_gradable()),
        one("s4", TURING, SHANNON, result=grader_error()),
    )


def very_late() -> Result:
    return handed_in(timedelta(days=30))


def renamed(graded: Graded, name: str) -> Graded:
    """Return the same submission, of a student of this name."""
    student = msgspec.structs.replace(graded.submission.students[0], name=name)
    return msgspec.structs.replace(graded, submission=msgspec.structs.replace(graded.submission, students=(student,)))

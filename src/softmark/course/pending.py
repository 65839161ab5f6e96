"""Makes the Result before the first test, and the result of one test from those of its cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

import msgspec

from softmark.course.homework import Homework
from softmark.course.testspecs import TestSpec
from softmark.records.points import FULL, rounded, score_of_test
from softmark.records.result import (
    CaseResult,
    LeaderboardEntry,
    Outcome,
    PartResult,
    Provenance,
    Result,
    Submission,
    TestResult,
)


def pending(
    homework: Homework,
    specs: Sequence[TestSpec],
    submission: Submission,
    provenance: Provenance | None = None,
) -> Result:
    """Return the Result before the first test: the fixed list of tests and maxima, nothing run, nothing earned."""
    return Result(
        homework=homework.name,
        title=homework.title,
        file=homework.file,
        submission=submission,
        parts=tuple(
            PartResult(number=p.number, function=p.function, title=p.title, points=rounded(p.points))
            for p in homework.parts
        ),
        tests=tuple(_pending_test(spec) for spec in specs),
        max_score=rounded(homework.points),
        provenance=provenance or Provenance(),
    )


def finished_test(
    spec: TestSpec,
    cases: Mapping[str, CaseResult],
    leaderboard_value: float | str | None = None,
) -> TestResult:
    """Return the result of a test with these cases, scored by their shares. A missing case is not run yet."""
    judged = tuple(
        msgspec.structs.replace(case, score=rounded(spec.case_weight * Fraction(case.share)))
        for case in (cases.get(name) or CaseResult(id=name) for name in spec.cases)
    )
    shares = [Fraction(case.share) for case in judged]
    column = spec.leaderboard
    entry = None
    if column is not None and leaderboard_value is not None:
        entry = LeaderboardEntry(name=column.name, value=leaderboard_value, order=column.order)
    return msgspec.structs.replace(
        _pending_test(spec),
        cases=judged,
        score=score_of_test(spec.weight, shares, all_or_nothing=spec.all_or_nothing),
        outcome=_outcome(judged),
        leaderboard=entry,
    )


@lru_cache(maxsize=1024)
def _pending_test(spec: TestSpec) -> TestResult:
    return TestResult(
        name=spec.name,
        number=spec.number,
        part=spec.part,
        title=spec.title,
        max_score=rounded(spec.weight),
        visibility=spec.visibility,
        tags=spec.tags,
        hide_errors=spec.hide_errors,
        all_or_nothing=spec.all_or_nothing,
        cases=tuple(CaseResult(id=case) for case in spec.cases),
    )


def _outcome(cases: Sequence[CaseResult]) -> Outcome:
    """Return the outcome of a test: that of its worst case."""
    outcomes = {case.outcome for case in cases}
    for outcome in (Outcome.GRADER_ERROR, Outcome.NOT_RUN, Outcome.FAILED):
        if outcome in outcomes:
            return outcome
    full = all(Fraction(case.share) == FULL for case in cases)
    return Outcome.PASSED if full else Outcome.FAILED

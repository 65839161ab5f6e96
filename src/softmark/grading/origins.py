"""Finds failures that may follow from other failures, and says which to mend first.

An exception in a function of an earlier part that has lost marks may follow from that part. Wrong gradients may follow
from wrong values of the same part.
"""

from __future__ import annotations

import msgspec

from softmark.course.homework import Homework, Part
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Outcome, Result
from softmark.records.verdict import Category, Code, Verdict

_OF_VALUES = (Category.TYPE, Category.SHAPE, Category.NAN, Category.VALUE)


def with_origins(result: Result, handed: SubmittedFiles, homework: Homework) -> Result:
    """Return the result in which these failures say what to mend first."""
    failed = [test for test in result.tests if test.outcome is Outcome.FAILED]
    failing = {test.part for test in failed}
    wrong = [part for part in homework.parts if part.number in failing]
    values = {test.part for test in failed for verdict in test.verdicts if _is_of_values(verdict)}
    changed = []
    for test in failed:
        own = homework.part_of(test.part)
        cases = []
        for case in test.cases:
            verdicts = (_explained(verdict, own, wrong, handed) for verdict in case.verdicts)
            verdicts = (_after_values(v) if test.part in values else v for v in verdicts)
            cases.append(msgspec.structs.replace(case, verdicts=tuple(verdicts)))
        changed.append(msgspec.structs.replace(test, cases=tuple(cases)))
    return result.with_test(*changed)


def _is_of_values(verdict: Verdict) -> bool:
    return verdict.category in _OF_VALUES and verdict.code != Code.GRADIENT


def _after_values(verdict: Verdict) -> Verdict:
    """Return the verdict; a verdict on gradients says to mend the values first."""
    if verdict.code != Code.GRADIENT:
        return verdict
    return msgspec.structs.replace(verdict, fact=f"{verdict.fact}; the values are wrong, too: mend them first")


def _explained(verdict: Verdict, own: Part | None, wrong: list[Part], handed: SubmittedFiles) -> Verdict:
    if not verdict.exception or not verdict.frames or own is None:
        return verdict
    innermost = verdict.frames[-1]
    name = handed.around(innermost.file, innermost.line)
    origin = next((part for part in wrong if name in part.roots and part.number in own.builds_on), None)
    if origin is None or name in own.roots:
        return verdict
    said = f"it may follow from part {origin.number} ({origin.function}): mend that first"
    return msgspec.structs.replace(verdict, fact=f"{verdict.fact}; {said}")

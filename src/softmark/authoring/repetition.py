"""Grades some variants twice: the second time in reverse order, and the tests of each part in reverse order.

A result that differs depends on what ran before, on the time, or on numbers that nobody seeded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from softmark.authoring.gaps import Verification, placed
from softmark.authoring.variants import Round, Variant
from softmark.course.homework import Homework
from softmark.records.result import CaseResult, Result, Status, TestResult

_REPEATED = 12
"""Number of variants that are graded twice, beside the reference."""
_ADVICE = "a test must draw its numbers with `draw`, and keep nothing for another test"


def repeated(variants: Sequence[Variant]) -> list[Variant]:
    """Return the variants that are graded a second time, in the order of that time."""
    return list(variants[:: max(1, len(variants) // _REPEATED)])[::-1]


def judge_repetition(verification: Verification, homework: Homework, first: Round, second: Round) -> None:
    """Note each test that judges a variant otherwise the second time."""
    before = {
        (variant.kind, variant.name): result for variant, result in zip(first.variants, first.results(), strict=True)
    }
    for variant, again in zip(second.variants, second.results(), strict=True):
        _judge_pair(verification, variant, before[variant.kind, variant.name], again, homework)


def _judge_pair(
    verification: Verification, variant: Variant, first: Result, second: Result, homework: Homework
) -> None:
    if Status.GRADER_ERROR in (first.status, second.status):
        if first.status is not second.status:
            verification.add_gap(variant.name, f"two runs differ: the grader fails in one of them; {_ADVICE}")
        return
    found = list(_differences(first, second))
    for one, other in found:
        where = placed(one.number, one.name, homework)
        what = f"two runs differ: {where}: {_difference(one, other)}; {_ADVICE}"
        verification.add_gap(variant.name, what, same_as=("two runs differ", where))
    if not found and (fields := _other_differences(first, second)):
        verification.add_gap(
            variant.name, f"two runs differ in {fields}; was a file of the course or of softmark changed meanwhile?"
        )


def _differences(first: Result, second: Result) -> Iterator[tuple[TestResult, TestResult]]:
    for one, other in zip(first.tests, second.tests, strict=True):
        if _judged(one) != _judged(other):
            yield one, other


def _difference(one: TestResult, other: TestResult) -> str:
    """Return the largest difference between two judgements of one test, in words."""
    if one.score != other.score:
        return f"{one.score:g} and {other.score:g} points"
    facts, others = ([verdict.fact for verdict in test.verdicts] for test in (one, other))
    for fact, another in zip(facts, others, strict=False):
        if fact != another:
            return f"“{fact}” and “{another}”"
    causes, named = ([cause.name for v in test.verdicts for cause in v.causes] for test in (one, other))
    if causes != named:
        return f"the mistake is called {' or '.join(causes) or 'nothing'} and {' or '.join(named) or 'nothing'}"
    return "the numbers are others"


def _other_differences(first: Result, second: Result) -> str:
    """Return the fields of a result that differ, its tests and times left out."""
    fields = [name for name in Result.__struct_fields__ if name not in ("tests", "seconds", "cpu_seconds")]
    return ", ".join(name for name in fields if getattr(first, name) != getattr(second, name))


_of_a_case = attrgetter(*(name for name in CaseResult.__struct_fields__ if name != "seconds"))


def _judged(test: TestResult) -> tuple[TestResult, list[Any]]:
    """Return all that a result says but the times of its cases."""
    return msgspec.structs.replace(test, cases=()), list(map(_of_a_case, test.cases))

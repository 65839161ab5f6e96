"""Finds failures that say the same, in one test and in tests of several parts, so that each is told once."""

from __future__ import annotations

import re

from softmark.records.result import Outcome, Result, TestResult
from softmark.records.verdict import Category, Verdict

_VISIBLE_FIRST = ("visible", "after_due_date", "after_published", "hidden")
_Reason = tuple[str, ...]


def told_before(result: Result) -> dict[str, TestResult]:
    """Return, by the name of a test, the test of an earlier part that fails for all of the same reasons.

    Whoever sees the one sees the other: the earlier test is published no later, and does not hide its errors.
    """
    told: list[tuple[TestResult, frozenset[_Reason]]] = []
    again: dict[str, TestResult] = {}
    for test in result.tests:
        reasons = reasons_of(test)
        if not reasons or test.hide_errors is not None:
            continue
        known = (earlier for earlier, its in told if reasons <= its and _may_be_named(earlier, test))
        first = next(known, None)
        if first is not None:
            again[test.name] = first
        else:
            told.append((test, reasons))
    return again


def _may_be_named(earlier: TestResult, test: TestResult) -> bool:
    order = _VISIBLE_FIRST.index
    return earlier.part != test.part and order(earlier.visibility) <= order(test.visibility)


def reasons_of(test: TestResult) -> frozenset[_Reason]:
    """Return the reasons of a failure; none if one of them cannot be recognised again."""
    reasons = [_reason(verdict) for verdict in test.verdicts]
    return frozenset(reasons) if test.outcome is Outcome.FAILED and all(reasons) else frozenset()


def _reason(verdict: Verdict) -> _Reason:
    """Return the named mistakes, or the exception and its line; empty if there is neither."""
    if verdict.causes:
        return ("mistake", *sorted(cause.name for cause in verdict.causes))
    if verdict.category is Category.ERROR and verdict.exception and verdict.frames:
        return ("exception", verdict.exception, verdict.frames[-1].file, str(verdict.frames[-1].line))
    return ()


def alike(test: TestResult) -> list[list[Verdict]]:
    """Return the failures of a test, those that say the same put together, in the order they came."""
    groups: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in test.verdicts:
        causes = tuple((cause.says, cause.hint) for cause in verdict.causes)
        raised = verdict.exception if verdict.frames else ""  # the sizes in a message differ from case to case
        fact = "" if causes else raised or without_sizes(verdict.fact)
        key = (causes or verdict.category, fact, verdict.frames)
        groups.setdefault(key, []).append(verdict)
    return list(groups.values())


_SIZES = (
    (r"(?:all|\d+ of) \d+ (values|entries) (?:is|are)", r"… \1 are"),
    (r"\d+ entr(?:y|ies)\b", "… entries"),
    (r"(expected|at index|from index|character|byte) \d+", r"\1 …"),
    (r"\([\d, ]*\)", "(…)"),
)


def without_sizes(fact: str) -> str:
    """Return a fact as it reads for inputs of any size: "all 35 values are wrong" and "104 of 105 values" are alike."""
    for pattern, replacement in _SIZES:
        fact = re.sub(pattern, replacement, fact)
    return fact

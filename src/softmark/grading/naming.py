"""Settles which mistake the failures of a part are called, once all its tests have run.

A student is told the mistakes that explain every failed check of the part. If none does (a part may hold two mistakes),
each test is named by itself. A mistake in the function itself goes before one in a function that it calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from softmark.grading.case_run import CaseRun
from softmark.records.verdict import Cause
from softmark.verdict.mistakes import Registry
from softmark.verdict.naming import common_causes


def name_part(runs: Sequence[CaseRun], registry: Registry) -> None:
    """Give each run of one part the causes that hold for its test."""
    tests: dict[str, list[CaseRun]] = {}
    for run in runs:
        tests.setdefault(run.spec.nodeid, []).append(run)
    shared = _causes(runs, runs, registry)
    for own in tests.values():
        causes = shared or _causes(own, runs, registry)
        for run in own:
            run.causes = causes


def _causes(failed: Sequence[CaseRun], part: Sequence[CaseRun], registry: Registry) -> tuple[Cause, ...]:
    """Return what explains these failures and is not contradicted by the rest of the part."""
    passed = [check for run in part for check in run.context.checks if check.category is None]
    raised = [expected for run in part for expected in run.context.raised]
    verdicts = [verdict for run in failed for verdict in run.verdicts]
    causes = common_causes(verdicts, passed, registry, raised)
    return tuple(cause for cause in causes if cause.direct) or causes

"""Settles which mistake the failures of a part are called, once all its tests have run.

A single wrong answer often fits several mistakes. What is said to a student is what fits *every* failing case of the
part and is not contradicted by any check the same code passed; if nothing fits them all (a part may hold two
mistakes), each test is named by itself. A mistake in the function itself goes before one in a function it calls.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from softmark.grading.case_run import CaseRun
from softmark.records.verdict import Cause, Failed
from softmark.verdict.context import Check
from softmark.verdict.diagnose import common_causes
from softmark.verdict.mistakes import Registry
from softmark.verdict.truth import Truth


def name_mistakes(runs: Sequence[CaseRun], registry: Registry) -> None:
    """Give the failing verdicts of one part's runs the causes that hold."""
    passed = [check for run in runs for check in run.context.checks if check.category is None]
    raised = [truth for run in runs for truth in run.context.raised]
    failures = _failures(runs)
    shared = _causes(failures, passed, registry, raised)
    for test in dict.fromkeys(run.spec.nodeid for run in runs):
        own = _failures([run for run in runs if run.spec.nodeid == test])
        causes = shared or _causes(own, passed, registry, raised)
        for failure in own:
            failure.verdict = msgspec.structs.replace(failure.verdict, causes=causes)


def _failures(runs: Sequence[CaseRun]) -> list[Failed]:
    """Failures with an answer that could be compared with what the mistakes give."""
    errors = [error for run in runs for error in run.errors]
    return [error for error in errors if isinstance(error, Failed) and error.verdict.diagnosed]


def _causes(
    failures: Sequence[Failed], passed: Sequence[Check], registry: Registry, raised: Sequence[Truth]
) -> tuple[Cause, ...]:
    causes = common_causes([failure.verdict for failure in failures], passed, registry, raised)
    return tuple(cause for cause in causes if cause.direct) or causes

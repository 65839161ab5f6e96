"""Settles which mistake the failures of a part are called, once all its tests have run.

A single wrong answer often fits several mistakes. What is said to a student is what fits *every* failing case of the
part and is not contradicted by any check the same code passed; if nothing fits them all (a part may hold two
mistakes), each test is named by itself. A mistake in the function itself goes before one in a function it calls.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from softmark.grading.trial import Trial
from softmark.records.verdict import Cause, Failed
from softmark.verdict.context import Check
from softmark.verdict.diagnose import common_causes
from softmark.verdict.mistakes import Registry
from softmark.verdict.truth import Truth


def name_mistakes(trials: Sequence[Trial], registry: Registry) -> None:
    """Give the failing verdicts of one part's trials the causes that hold."""
    passed = [check for trial in trials for check in trial.case.checks if check.category is None]
    raised = [truth for trial in trials for truth in trial.case.raised]
    failures = _failures(trials)
    shared = _causes(failures, passed, registry, raised)
    for test in dict.fromkeys(trial.spec.nodeid for trial in trials):
        own = _failures([trial for trial in trials if trial.spec.nodeid == test])
        causes = shared or _causes(own, passed, registry, raised)
        for failure in own:
            failure.verdict = msgspec.structs.replace(failure.verdict, causes=causes)


def _failures(trials: Sequence[Trial]) -> list[Failed]:
    """Failures with an answer that could be compared with what the mistakes give."""
    errors = [error for trial in trials for error in trial.errors]
    return [error for error in errors if isinstance(error, Failed) and error.verdict.diagnosed]


def _causes(
    failures: Sequence[Failed], passed: Sequence[Check], registry: Registry, raised: Sequence[Truth]
) -> tuple[Cause, ...]:
    causes = common_causes([failure.verdict for failure in failures], passed, registry, raised)
    return tuple(cause for cause in causes if cause.direct) or causes

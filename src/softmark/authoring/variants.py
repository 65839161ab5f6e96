"""Grades source texts that are made up: the reference, mistakes planted into it, and whatever else `verify` tries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from softmark.course.homework import Homework
from softmark.engines.local import LocalEngine, slots_for
from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission

STRONGEST = "full" if hasattr(os, "geteuid") and os.geteuid() == 0 else "user"


@dataclass(frozen=True)
class Variant:
    """A source text to grade: what it is (reference, equivalent, …), its name, its text."""

    kind: str
    name: str
    source: str


def grade_variants(
    homework: Homework, variants: Sequence[Variant], jobs: int, *, backwards: bool = False
) -> list[Result]:
    """Return the result of each variant, in their order. `backwards` runs the tests of each part in reverse."""
    spec = GradingSpec.of(homework, STRONGEST, backwards=backwards)
    with LocalEngine(spec, slots_for(homework, jobs, len(variants))) as engine:
        futures = [engine.submit(_job(homework, variant)) for variant in variants]
        results = []
        for future in futures:
            try:
                results.append(future.result())
            except EngineError as failure:
                if failure.result is None:
                    raise
                results.append(failure.result)
        return results


def _job(homework: Homework, variant: Variant) -> Job:
    naming = variant.kind not in ("trivial", "starter")
    files = SubmittedFiles(homework.file, {homework.file: variant.source.encode()})
    return Job(Submission(id=variant.name), files, naming=naming)

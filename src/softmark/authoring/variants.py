"""Grades source texts that are made up: the reference, mistakes planted into it, and others that `verify` needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from softmark.course.homework import Homework
from softmark.engines.local import engine_for, slots_for
from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission, TestResult

STRONGEST = "full" if hasattr(os, "geteuid") and os.geteuid() == 0 else "user"


@dataclass(frozen=True)
class Variant:
    """A source text to grade, with its kind (reference, equivalent, …) and its name."""

    kind: str
    name: str
    source: str
    parts: tuple[str, ...] = ()
    """The parts whose tests are run; all of them if none is named."""
    kept: tuple[str, ...] = ()
    """The parts in which it must not lose marks; all that are run if none is named."""
    members: tuple[Variant, ...] = ()
    """The variants that are planted in this one together (together.py); none if it is a single one."""


def kept_tests(variant: Variant, result: Result) -> list[TestResult]:
    """Return the tests of the parts in which a variant must not lose marks."""
    kept = variant.kept or variant.parts
    return [test for test in result.tests if not kept or test.part in kept]


def lost_by(variant: Variant, result: Result) -> TestResult | None:
    """Return the first test that cost marks in a part where the variant must keep them; None if there is none."""
    return next((test for test in kept_tests(variant, result) if test.score != test.max_score), None)


class Round:
    """Variants of one homework, with an engine of their own; `backwards` reverses the tests of each part."""

    def __init__(self, homework: Homework, variants: Sequence[Variant], jobs: int, *, backwards: bool = False) -> None:
        self.variants = list(variants)
        self._homework = homework
        self.engine = engine_for(
            GradingSpec.of(homework, STRONGEST, backwards=backwards), slots_for(homework, jobs, len(variants))
        )
        self.futures: list[Future[Result]] = []

    def submit(self) -> None:
        """Have all variants graded."""
        self.futures = [self.engine.submit(_job(self._homework, variant)) for variant in self.variants]

    def add(self, variants: Sequence[Variant]) -> None:
        """Have more variants graded by the same engine, which must not have been closed."""
        self.variants += variants
        self.futures += [self.engine.submit(_job(self._homework, variant)) for variant in variants]

    @property
    def running(self) -> int:
        """The number of variants that are being graded now."""
        return min(self.engine.slots, sum(not future.done() for future in self.futures))

    def results(self, first: int | None = None) -> list[Result]:
        """Wait for the result of each variant, or of the first ones, and return them in the order of the variants."""
        return [_result_of(future) for future in self.futures[:first]]


class Rounds:
    """Grades rounds of variants one after the other, about `jobs` variants at the same time.

    The engine of the next round starts, which takes seconds, while variants of earlier rounds are still graded.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._open: list[Round] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with ExitStack() as engines:
            for each in self._open:
                engines.push(each.engine)

    def begin(
        self, homework: Homework, variants: Sequence[Variant], *, jobs: int | None = None, backwards: bool = False
    ) -> Round:
        """Have variants graded as soon as earlier rounds leave a slot free; wait until then.

        If the engine cannot start, raise its error: UsageError if hidden tests cannot be imported.
        """
        new = Round(homework, variants, jobs or self._jobs, backwards=backwards)
        self._open.append(new)
        new.engine.start()
        while sum(each.running for each in self._open) >= self._jobs:
            wait([future for each in self._open for future in each.futures if not future.done()], None, FIRST_COMPLETED)
        new.engine.pending()
        new.submit()
        for each in [each for each in self._open if not each.running]:
            self._open.remove(each)
            with each.engine:  # ends its processes, because they hold memory
                pass
        return new


def _result_of(future: Future[Result]) -> Result:
    """Wait for a result. If the engine broke, return the result as far as it was graded."""
    try:
        return future.result()
    except EngineError as failure:
        if failure.result is None:
            raise
        return failure.result


def _job(homework: Homework, variant: Variant) -> Job:
    naming = variant.kind not in ("trivial", "starter", "recorder", "conditional", "mutant", "elsewhere")
    files = SubmittedFiles(homework.file, {homework.file: variant.source.encode()})
    one_tells_all = variant.kind in ("mutant", "conditional", "elsewhere") or bool(variant.members)
    return Job(
        Submission(id=variant.name),
        files,
        naming=naming,
        parts=variant.parts,
        until_wrong=one_tells_all,
        repairs=variant.kind == "sample",
    )

"""Remembers how each function of a submission did in the tests of its own part. Earlier parts are judged first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from softmark.course.homework import Part
from softmark.verdict.context import UNKNOWN, Standing

if TYPE_CHECKING:
    from softmark.grading.case_run import CaseRun
    from softmark.verdict.expected import Expected


class Standings:
    """The runs of one submission so far, and what they say about its functions."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._part: dict[str, str] = {}
        for part in parts:
            for name in part.functions:
                self._part.setdefault(name.partition(".")[0], part.number)
        self._runs: defaultdict[str, list[CaseRun]] = defaultdict(list)
        self.unknown: frozenset[str] = frozenset()
        """Parts of which not all tests are run, so that nothing is known of their functions."""
        self.assumed: set[str] = set()
        """Unknown parts that a test of a later part asked about."""

    def note(self, run: CaseRun) -> None:
        """Remember what came of one case."""
        self._runs[run.spec.part].append(run)

    def of(self, name: str) -> Standing:
        """Return how a function did. It is unknown if no part asks for it, or if tests of its part are not run."""
        part = self._part.get(name)
        if part is None:
            return UNKNOWN
        if part in self.unknown:
            self.assumed.add(part)
            return UNKNOWN
        if not any(run.failed or run.context.carried or run.context.excused for run in self._runs[part]):
            return Standing(errs=False)  # nor does it hand on the errors of the parts before it
        return Standing(errs=True, met=self._met(name))

    def _met(self, name: str) -> tuple[Expected, ...]:
        """Return what a function answered right in the tests of its part."""
        runs = self._runs[self._part.get(name, "")]
        right = (check.expected for run in runs for check in run.context.checks)
        return tuple(e for e in right if e is not None and getattr(e.want, "__qualname__", "") == name)

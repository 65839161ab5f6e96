"""How each function of a submission did in the tests of its own part, which are judged before those of later parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from softmark.course.homework import Part
from softmark.verdict.standing import UNKNOWN, Standing

if TYPE_CHECKING:
    from softmark.grading.trial import Trial
    from softmark.verdict.truth import Truth


class Standings:
    """The trials of one submission so far, and what they say of its functions."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._part: dict[str, str] = {}
        for part in parts:
            for name in part.functions:
                self._part.setdefault(name.partition(".")[0], part.number)
        self._trials: defaultdict[str, list[Trial]] = defaultdict(list)
        self.cases: Mapping[str, int] = {}
        """How many cases each part has, where some may be left out or run late: then nothing is known of the part."""
        self.assumed: set[str] = set()
        """Parts that were asked about when nothing was known of them."""

    def note(self, trial: Trial) -> None:
        """Remember what came of one case."""
        self._trials[trial.spec.part].append(trial)

    def of(self, name: str) -> Standing:
        """How a function of the homework did; unknown, if it is none or if tests of its part have not run."""
        part = self._part.get(name)
        if part is None:
            return UNKNOWN
        if len(self._trials[part]) < self.cases.get(part, 0):
            self.assumed.add(part)
            return UNKNOWN
        if not any(trial.failed or trial.case.carried or trial.case.excused for trial in self._trials[part]):
            return Standing(errs=False)  # nor does it hand on the errors of the parts before it
        return Standing(errs=True, met=self._met(name))

    def _met(self, name: str) -> tuple[Truth, ...]:
        """Return what a function answered right in the tests of its part."""
        trials = self._trials[self._part.get(name, "")]
        truths = (check.truth for trial in trials for check in trial.case.checks)
        return tuple(t for t in truths if t is not None and getattr(t.want, "__qualname__", "") == name)

"""How each function of a submission did in the tests of its own part, which are judged before those of later parts."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from softmark.course.homework import PartSpec
from softmark.verdict.standing import UNKNOWN, Standing

if TYPE_CHECKING:
    from softmark.grading.trial import Trial
    from softmark.verdict.truth import Truth


class Standings:
    """The trials of one submission so far, and what they say of its functions."""

    def __init__(self, parts: Sequence[PartSpec]) -> None:
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
        return Standing(errs=True, met=tuple(truth for _, truth in self._met(name)))

    def digest(self, name: str) -> bytes:
        """What stands for a standing where only its sameness matters."""
        errs = self.of(name).errs
        met = [place for place, _ in self._met(name)] if errs else []
        return hashlib.sha256(repr((name, errs, met)).encode()).digest()

    def _met(self, name: str) -> list[tuple[tuple[str, int], Truth]]:
        """What a function answered right in the tests of its part, with the case and the number of the check."""
        return [
            ((trial.case.id, number), check.truth)
            for trial in self._trials[self._part.get(name, "")]
            for number, check in enumerate(trial.case.checks)
            if check.truth is not None and getattr(check.truth.want, "__qualname__", "") == name
        ]

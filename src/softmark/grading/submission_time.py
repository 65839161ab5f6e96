"""Counts the time of a submission against its limits (records/limits.py): by test, by part, and for the whole."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from softmark.grading.own_time import OwnTime
from softmark.records.limits import Allowed, Limits, Spent, of_the_whole
from softmark.records.verdict import Category, Code
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.student_process import StudentProcess

_TIMEOUTS_PER_PART = 2  # after these, the rest of the part is not tried, because each try costs its whole limit
_WAITS = 2  # a submission that has waited for this many whole limits may hardly wait any more; right code never waits
OUT_OF_TIME = "not run: the time for the whole submission was used up"


@dataclass(frozen=True)
class TimeLimits:
    """The time that a submission may take, and the clock of the judge."""

    limits: Limits
    deadline: float | None = None
    """Grading ends then, even if something is left to be done. On the clock of time.monotonic()."""
    whole_seconds: float = math.inf
    own_time: OwnTime = field(default_factory=OwnTime)
    """The judge's own time. It pauses while the student's code runs."""

    def at_most(self, cpu_seconds: float, whole_seconds: float) -> TimeLimits:
        """Return these limits, with at most so many seconds for a test, and for the whole."""
        limits = replace(self.limits, cpu_seconds=min(cpu_seconds, self.limits.cpu_seconds))
        return replace(self, limits=limits, whole_seconds=min(whole_seconds, self.whole_seconds))


class SubmissionTime:
    """The time that one submission has taken, and what it may still take."""

    def __init__(self, given: TimeLimits) -> None:
        self.given = given
        self._whole_left = given.whole_seconds
        self._of_the_test = Spent()
        self._timeouts: Counter[tuple[str, bool]] = Counter()
        self._waited = 0
        """The number of times that the submission ran out of time because it waited and did not compute."""

    def begin_test(self) -> None:
        self._of_the_test = Spent()

    @property
    def is_up(self) -> bool:
        """True if the time for the whole submission is used up."""
        return self._whole_left <= 0 or (self.given.deadline is not None and time.monotonic() >= self.given.deadline)

    @contextmanager
    def of_loading(self, process: StudentProcess) -> Iterator[Allowed]:
        """Count the time of this block as time of loading. Yield how much it may take."""
        limit = min(self.given.limits.import_seconds, max(self._whole_left, 0.0))
        with self._counted(process, Spent()):
            yield Allowed.of(limit, self._until_deadline())

    @contextmanager
    def of_a_call(self, process: StudentProcess, group: tuple[str, bool], *, counts: bool) -> Iterator[Allowed]:
        """Count the time of this block as time of the present test. Yield how much it may take.

        If it runs out of time and that `counts`, this is noted for the group of tests.
        """
        limit, whole = self.given.limits.cpu_seconds, self._whole_left
        allowed = self._of_the_test.left_of(limit, whole, self._until_deadline(), may_wait=self._waited < _WAITS)
        try:
            with self._counted(process, self._of_the_test):
                yield allowed
        except StudentFailure as failure:
            if failure.category is Category.TIMEOUT:
                self._timeouts[group] += counts
                waited = self._of_the_test.cpu < limit
                self._waited += waited
                if waited and allowed.clock_seconds == whole:  # computing at the end does not excuse the waiting
                    self._whole_left = 0.0
            raise self.told(failure) from None

    def require_a_try(self, group: tuple[str, bool]) -> None:
        """Raise StudentFailure if so many of these tests ran out of time that no more are tried."""
        if self._timeouts[group] >= _TIMEOUTS_PER_PART:
            why = "not run: other tests of this part already ran out of time"
            raise StudentFailure(Category.TIMEOUT, why, code=Code.NOT_TRIED)

    def forget_timeouts(self) -> None:
        """Let all tests be tried again."""
        self._timeouts.clear()

    def told(self, failure: StudentFailure) -> StudentFailure:
        """Return the failure, or an out-of-time failure if the time limit of the whole submission caused it."""
        if failure.category is Category.TIMEOUT and self.is_up:
            return StudentFailure(Category.TIMEOUT, OUT_OF_TIME)
        return failure

    @contextmanager
    def _counted(self, process: StudentProcess, spent: Spent) -> Iterator[None]:
        """Count the time of a request, for its test and for the submission. The judge's own time pauses meanwhile."""
        before, start = process.cpu_seconds(), time.monotonic()
        try:
            with self.given.own_time.paused():
                yield
        finally:
            cpu, wall = max(0.0, process.cpu_seconds() - before), time.monotonic() - start
            spent.add(cpu, wall)
            self._whole_left -= of_the_whole(cpu, wall)

    def _until_deadline(self) -> float:
        deadline = self.given.deadline
        return math.inf if deadline is None else max(deadline - time.monotonic(), 0.1)

"""How long a student's code may take: for one request, for all requests of a test, and for a whole submission.

Processor time is the measure, so that a busy machine fails nobody. Time on the clock is limited, too, or a program that
waits would never end. A program that computes takes longer on the clock where the machine is busy, so each second that
it computes excuses four on the clock. A program that waits has no such excuse.

    a test          cpu <= limit    and    wall - 4 cpu <= limit + 2, or 2 after it has waited too long twice
    a submission    the sum of max(cpu, wall - 4 cpu) over its requests <= the sum of limit + 2 over import and tests
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_EXCUSED = 4.0
SPARE = 2.0
"""Seconds on the clock that nobody computes."""


@dataclass(frozen=True)
class Allowed:
    """How long one request may take."""

    cpu_seconds: float
    clock_seconds: float
    """On the clock, less what is excused."""
    wall_seconds: float = math.inf
    """On the clock, without excuse."""
    wall_before: float = 0.0
    """What earlier requests of the same test have taken on the clock."""

    @classmethod
    def of(cls, limit: float, wall_seconds: float = math.inf) -> Allowed:
        """Return what a request may take that is the first for which this limit holds."""
        return cls(limit, limit + SPARE, wall_seconds)

    @property
    def longest(self) -> float:
        """Seconds on the clock where it is not known how many of them are computed."""
        return min(3 * self.cpu_seconds + SPARE, self.wall_seconds)

    def exceeded(self, cpu: float, wall: float) -> bool:
        """Return whether a request has taken too long that has computed for `cpu` of `wall` seconds."""
        return cpu > self.cpu_seconds or wall - _EXCUSED * cpu > self.clock_seconds or wall > self.wall_seconds


@dataclass
class Spent:
    """What the requests of one test have taken so far."""

    cpu: float = 0.0
    wall: float = 0.0

    def add(self, cpu: float, wall: float) -> None:
        self.cpu += cpu
        self.wall += wall

    def left_of(self, limit: float, whole_left: float, wall_seconds: float, *, may_wait: bool = True) -> Allowed:
        """Return what the next request may take, of the test's limit and of what is left for the submission."""
        on_the_clock = self.wall - _EXCUSED * self.cpu
        patience = limit + SPARE if may_wait else SPARE
        return Allowed(
            max(0.0, min(limit - self.cpu, whole_left)),
            max(0.0, min(patience - on_the_clock, whole_left)),
            wall_seconds,
            self.wall,
        )


def of_the_whole(cpu: float, wall: float) -> float:
    """Return how much of a submission's time a request has used up."""
    return max(cpu, wall - _EXCUSED * cpu)

"""Says how much of the machine a student's code may use, for how long, and behind which walls.

Processor time is the measure, so that a busy machine fails nobody. Time on the clock is limited, too, or a program that
waits would never end. A program that computes takes longer on the clock where the machine is busy, so each second that
it computes excuses four on the clock. A program that waits has no such excuse.

    a test          cpu <= limit    and    wall - 4 cpu <= limit + 2, or 2 after it has waited too long twice
    a submission    the sum of max(cpu, wall - 4 cpu) over its requests <= the sum of limit + 2 over import and tests
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

_TESTS_OF_A_WORKER = 60  # at their full limit
_EXCUSED = 4.0
SPARE = 2.0
"""Seconds on the clock that a request may take without computing."""


@dataclass(frozen=True)
class Limits:
    """Limits of one worker; a homework may set some of them in its homework.toml."""

    cpu_seconds: float = 10.0
    """Processor time of one test."""
    import_seconds: float = 20.0
    """Processor time of loading the submission."""
    test_seconds: float = 60.0
    """Time on the clock that a hidden test may take itself, without what it waits for."""
    memory_mb: int = 2048
    """Memory beyond what the interpreter and torch already hold."""
    file_mb: int = 100
    """Size of one file, and of all files together."""
    processes: int = 64
    """Processes and threads at one time, the worker's own included."""
    open_files: int = 64
    """Files, pipes and sockets that one process has open at one time."""
    answer_mb: int = 8
    """Size of an answer, beyond sixteen times what is expected of it."""
    output_bytes: int = 16384
    """Bytes that are kept of the beginning of what the code prints, and as many of its end."""

    def of_a_submission(self, tests: int) -> float:
        """Return the seconds that a submission may take altogether: what its import and all its tests may take."""
        return self.import_seconds + SPARE + tests * (self.cpu_seconds + SPARE)

    def of_a_worker(self) -> int:
        """Return the seconds of processor time after which the kernel ends a worker, whatever it is asked."""
        return math.ceil(self.import_seconds + _TESTS_OF_A_WORKER * self.cpu_seconds)


DEFAULTS = Limits()
"""The limits of a homework that sets none of its own."""


class Level(Enum):
    """Ordered from nothing to everything; see docs/limits.md for what each one stops."""

    NONE = "none"
    PROCESS = "process"
    USER = "user"
    FULL = "full"

    @property
    def rank(self) -> int:
        return list(Level).index(self)

    def __le__(self, other: Level) -> bool:
        return self.rank <= other.rank

    def __lt__(self, other: Level) -> bool:
        return self.rank < other.rank

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Allowed:
    """The time that one request may take."""

    cpu_seconds: float
    clock_seconds: float
    """On the clock, less what is excused."""
    wall_seconds: float = math.inf
    """On the clock, without excuse."""
    wall_before: float = 0.0
    """Seconds on the clock that earlier requests of the same test have taken."""

    @classmethod
    def of(cls, limit: float, wall_seconds: float = math.inf) -> Allowed:
        """Return the time for the first request under this limit."""
        return cls(limit, limit + SPARE, wall_seconds)

    @property
    def longest(self) -> float:
        """Return the seconds on the clock to wait if it is unknown how many of them are computed."""
        return min(3 * self.cpu_seconds + SPARE, self.wall_seconds)

    def exceeded(self, cpu: float, wall: float) -> bool:
        """Return True if a request that has computed for `cpu` of `wall` seconds has taken too long."""
        return cpu > self.cpu_seconds or wall - _EXCUSED * cpu > self.clock_seconds or wall > self.wall_seconds


@dataclass
class Spent:
    """The time that the requests of one test have taken so far."""

    cpu: float = 0.0
    wall: float = 0.0

    def add(self, cpu: float, wall: float) -> None:
        self.cpu += cpu
        self.wall += wall

    def left_of(self, limit: float, whole_left: float, wall_seconds: float, *, may_wait: bool = True) -> Allowed:
        """Return the time for the next request, within the test's limit and within what is left for the submission."""
        on_the_clock = self.wall - _EXCUSED * self.cpu
        patience = limit + SPARE if may_wait else SPARE
        return Allowed(
            max(0.0, min(limit - self.cpu, whole_left)),
            max(0.0, min(patience - on_the_clock, whole_left)),
            wall_seconds,
            self.wall,
        )


def of_the_whole(cpu: float, wall: float) -> float:
    """Return the part of a submission's time that a request has used up."""
    return max(cpu, wall - _EXCUSED * cpu)

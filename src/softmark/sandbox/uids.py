"""User ids for student processes: one at a time, nobody else's, returned when the run ends.

Two runs on one machine must never share a uid, because what is left of a worker is found and killed by its uid. A run
leases a block of ids by holding an exclusive lock on a file in a directory only root can write; the kernel releases the
lock when the run dies, however it dies. Within its block a run takes a new id for every worker, so that a file one
worker left behind is not the next one's own.
"""

from __future__ import annotations

import fcntl
import os
import random
from pathlib import Path

from softmark.sandbox.failures import GraderFault

# Above the ids that adduser hands out, below the ranges of systemd and of "nobody"; present in a 16-bit user namespace.
FIRST, BLOCK, BLOCKS = 50_000, 16, 600
_LOCKS = Path("/run/softmark")


class UidLease:
    """A block of user ids that this run alone uses."""

    def __init__(self) -> None:
        _LOCKS.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock, self._first = self._acquire()
        self._used = 0

    def next(self) -> int:
        uid = self._first + self._used % BLOCK
        self._used += 1
        return uid

    def close(self) -> None:
        os.close(self._lock)

    @staticmethod
    def _acquire() -> tuple[int, int]:
        for block in random.SystemRandom().sample(range(BLOCKS), BLOCKS):
            path = _LOCKS / f"uids-{FIRST + block * BLOCK}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                continue
            return descriptor, FIRST + block * BLOCK
        raise GraderFault(f"all {BLOCKS} blocks of student user ids are in use on this machine; end other runs")

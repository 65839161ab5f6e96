"""How much processor time and memory the processes of one student use, read from /proc by the trusted side.

Numbers come from the kernel, never from the student's process. Everything here tolerates a process that ends while it
is being read.

The time of a process that has ended is not lost. Until its parent has reaped it, it is a zombie below the zygote, with
a time of its own; then the kernel adds its time to the parent's `cutime`. Only a parent that ignores the ends of its
children would lose it, and seccomp.py keeps a worker from ignoring them. A parent is read before its children, so that
a child that is reaped in between is counted at the next look, and never twice.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

_TICK = 1 / os.sysconf("SC_CLK_TCK")
# Positions after the command name in /proc/<pid>/stat.
_STATE, _PPID, _THREADS = 0, 1, 17
_OWN, _OF_REAPED = slice(11, 13), slice(13, 15)  # in user mode and in the kernel


@dataclass(frozen=True)
class Usage:
    """What a set of processes uses together."""

    cpu_seconds: float
    memory_bytes: int
    processes: int


def process_cpu(pid: int) -> float:
    """Processor seconds of all threads of one process, exact to the nanosecond; 0 once it is gone."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's CPU clock id of another process
    except OSError:
        return 0.0


def private_memory(pid: int) -> int:
    """Bytes of a process that are its own: anonymous and shared-memory pages, not the libraries' files."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            for line in status:
                if line.startswith((b"RssAnon:", b"RssShmem:")):
                    total += int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return total


def descendants(ancestor: int) -> list[int]:
    """Return every living process below `ancestor`, however deep.

    The zygote adopts orphans, so whatever a worker leaves behind is found here too. A process whose main thread has
    ended has the state of a dead one, and is alive as long as it has other threads.
    """
    return [pid for pid, alive in _below(ancestor) if alive]


def users_of_processes() -> set[int]:
    """Return every user and group id that some living process here has, be it real, effective or saved."""
    found: set[int] = set()
    for pid in _pids():
        fields = _status(pid)
        dead = fields.get(b"State", b"Z").startswith(b"Z") and int(fields.get(b"Threads", 0)) <= 1
        if not dead:
            found.update(int(number) for name in (b"Uid", b"Gid") for number in fields[name].split())
    return found


def usage(zygote: int, worker: int, baseline: int) -> Usage:
    """What a worker and all it started use now; `baseline` bytes of each were the zygote's before the fork."""
    below = _below(zygote)
    cpu = process_cpu(worker) + sum(reaped_cpu(pid) if pid == worker else _cpu(pid) for pid, _ in below)
    living = [pid for pid, alive in below if alive]
    memory = sum(max(0, private_memory(pid) - baseline) for pid in living)
    return Usage(cpu, memory, len(living))


def reaped_cpu(pid: int) -> float:
    """Processor seconds of the children that a process has reaped, and of theirs."""
    return _seconds(_stat(pid)[_OF_REAPED])


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return _seconds(fields[_OWN] + fields[_OF_REAPED])


def _seconds(ticks: list[bytes]) -> float:
    return sum(map(int, ticks)) * _TICK


def _below(ancestor: int) -> list[tuple[int, bool]]:
    """Every process below `ancestor`, a parent before its children, and whether it is alive or waits to be reaped."""
    children: dict[int, list[tuple[int, bool]]] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields:
            alive = fields[_STATE] != b"Z" or int(fields[_THREADS]) > 1
            children.setdefault(int(fields[_PPID]), []).append((pid, alive))
    found = list(children.get(ancestor, []))
    for pid, _ in found:  # it grows while we go through it
        found += children.get(pid, [])
    return found


class OomKills:
    """Counts how often the kernel has killed a process of this machine for want of memory."""

    def __init__(self) -> None:
        self._seen = _oom_kills()

    def known(self) -> bool:
        """Whether the kernel here counts them at all."""
        return self._seen is not None

    def any_since(self) -> bool:
        """Whether there was one since the last look."""
        before, self._seen = self._seen, _oom_kills()
        return self._seen != before


def _oom_kills() -> int | None:
    try:
        with open("/proc/vmstat", "rb") as counters:
            return next((int(line.split()[1]) for line in counters if line.startswith(b"oom_kill ")), None)
    except OSError:
        return None


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> list[bytes]:
    """The fields after the command name (which may hold anything, closing brackets too)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _status(pid: int) -> dict[bytes, bytes]:
    """The lines of /proc/<pid>/status by name; empty once it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            lines = (line.partition(b":") for line in status)
            return {name: value.strip() for name, _, value in lines}
    except (FileNotFoundError, ProcessLookupError):
        return {}

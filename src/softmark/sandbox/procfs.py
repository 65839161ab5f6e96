"""How much processor time and memory the processes of one student use, read from /proc by the trusted side.

Numbers come from the kernel, never from the student's process. Everything here tolerates a process that ends while it
is being read.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_STATE, _PPID, _UTIME, _STIME, _THREADS = 0, 1, 11, 12, 17  # positions after the command name in /proc/<pid>/stat


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
    children: dict[int, list[int]] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields and (fields[_STATE] != b"Z" or int(fields[_THREADS]) > 1):
            children.setdefault(int(fields[_PPID]), []).append(pid)
    found: list[int] = []
    unseen = list(children.get(ancestor, []))
    while unseen:
        pid = unseen.pop()
        found.append(pid)
        unseen += children.get(pid, [])
    return found


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
    """What a worker and its children use now; `baseline` bytes of each were the zygote's before the fork."""
    pids = descendants(zygote)
    cpu = process_cpu(worker) + sum(_ticks(pid) for pid in pids if pid != worker)
    memory = sum(max(0, private_memory(pid) - baseline) for pid in pids)
    return Usage(cpu, memory, len(pids))


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


def _ticks(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[_UTIME]) + int(fields[_STIME])) * _TICK if fields else 0.0

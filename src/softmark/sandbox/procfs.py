"""Reads from /proc how much processor time and memory the processes of one student use. Runs on the trusted side.

Numbers come from the kernel, never from the student's process. A process may end while its entry is being read.

The time of a process that has ended is not lost. Until its parent has reaped it, it is a zombie below the zygote, with
a time of its own; then the kernel adds its time to the parent's `cutime`. A parent that ignores the ends of its
children would lose it, but seccomp.py keeps a worker from ignoring them. A parent is read before its children, so a
child that is reaped in between is counted at the next look, and never twice.

The memory of a process is the sum of: its pages that belong to no file, private and shared; its page tables; and for
each open descriptor the most that the buffers of a pipe or a socket can hold, because the kernel does not tell how full
they are. Pages that the worker has from the zygote are shared with the zygote and not counted. A further process of the
student's could make those pages its own by writing to them. That shows as page faults, each of which copies at most one
page. Other page faults look the same, so a further process may count as larger than it is, at most by the zygote's
pages.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import cache

_TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_OF_A_DESCRIPTOR = 300_000  # a socket's buffer, as large as seccomp.py lets it be
_MEMORY = re.compile(rb"^(?:RssAnon|RssShmem|VmPTE|HugetlbPages):\s+(\d+) kB", re.MULTILINE)
# Positions after the command name in /proc/<pid>/stat.
_STATE, _PPID, _FAULTS, _THREADS = 0, 1, 7, 17
_OWN, _OF_REAPED = slice(11, 13), slice(13, 15)  # in user mode and in the kernel


@dataclass(frozen=True)
class Usage:
    """The resources that a set of processes uses together."""

    cpu_seconds: float
    memory_bytes: int
    processes: int


def process_cpu(pid: int) -> float:
    """Return the processor seconds of all threads of one process, to the nanosecond.

    Return 0 once it is gone, and on a system that does not tell.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)  # the kernel's CPU clock id of another process
    except (OSError, AttributeError):
        return 0.0


def private_memory(pid: int) -> int:
    """Return the bytes of a process's memory that belongs to no file, and of its page tables.

    If the first thread of a process has ended, the process's entry is empty, and those of its other threads are read.
    """
    for place in (f"/proc/{pid}", *threads(pid)):
        kilobytes = [int(number) for number in _MEMORY.findall(_read(f"{place}/status"))]
        if kilobytes:
            return sum(kilobytes) * 1024
    return 0


def descendants(ancestor: int) -> list[int]:
    """Return every living process below `ancestor`, at any depth.

    The zygote adopts orphans, so the processes that a worker leaves behind are among them. A process whose main thread
    has ended has the state of a dead one, but is alive as long as it has other threads.
    """
    return [pid for pid, alive in _below(ancestor) if alive]


def users_of_processes() -> set[int]:
    """Return every real, effective or saved user and group id of a living process here."""
    found: set[int] = set()
    for pid in _pids():
        fields = _status(pid)
        dead = fields.get(b"State", b"Z").startswith(b"Z") and int(fields.get(b"Threads", 0)) <= 1
        if not dead:
            found.update(int(number) for name in (b"Uid", b"Gid") for number in fields[name].split())
    return found


def family(ancestor: int) -> list[int]:
    """Return every process below `ancestor`, including zombies, a parent before its children.

    It reads the kernel's lists of children, which is ten times faster than a search of all processes. But it may miss a
    process while others begin and end, so use it only for looks that are repeated.
    """
    found = _children(ancestor)
    for pid in found:  # the list grows inside the loop
        found += _children(pid)
    return found


def _children(pid: int) -> list[int]:
    return [int(child) for thread in threads(pid) for child in _read(f"{thread}/children").split()]


def usage(zygote: int, worker: int, baseline: int) -> Usage:
    """Return the resources that a worker and all processes it started use now.

    Each of them shares `baseline` bytes with the zygote.
    """
    pids = family(zygote) if _tells_children() else [pid for pid, _ in _below(zygote)]
    cpu = process_cpu(worker) + sum(reaped_cpu(pid) if pid == worker else _cpu(pid) for pid in pids)
    memory = sum(_memory(pid, baseline, is_worker=pid == worker) for pid in pids)
    return Usage(cpu, memory, len(pids))


def reaped_cpu(pid: int) -> float:
    """Return the processor seconds of the children that a process has reaped, and of all that these have reaped."""
    return _seconds(_stat(pid)[_OF_REAPED])


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return _seconds(fields[_OWN] + fields[_OF_REAPED])


def _seconds(ticks: list[bytes]) -> float:
    return sum(map(int, ticks)) * _TICK


def _below(ancestor: int) -> list[tuple[int, bool]]:
    """Return every process below `ancestor`, a parent before its children, and whether it is alive."""
    children: dict[int, list[tuple[int, bool]]] = {}
    for pid in _pids():
        fields = _stat(pid)
        if fields:
            alive = fields[_STATE] != b"Z" or int(fields[_THREADS]) > 1
            children.setdefault(int(fields[_PPID]), []).append((pid, alive))
    found = list(children.get(ancestor, []))
    for pid, _ in found:  # the list grows inside the loop
        found += children.get(pid, [])
    return found


def _memory(pid: int, baseline: int, is_worker: bool) -> int:
    held = private_memory(pid)
    total = max(0, held - baseline) + _open_files(pid) * _OF_A_DESCRIPTOR
    if not is_worker and (fields := _stat(pid)):
        total += min(held, baseline, int(fields[_FAULTS]) * _PAGE)
    return total


def _open_files(pid: int) -> int:
    """Return how many descriptors a process has open; 0 if the kernel does not tell (before Linux 6.2)."""
    try:
        return os.stat(f"/proc/{pid}/fd").st_size
    except (FileNotFoundError, ProcessLookupError):
        return 0


@cache
def _tells_children() -> bool:
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def threads(pid: int) -> list[str]:
    """Return the entries of a process's threads."""
    try:
        return [f"/proc/{pid}/task/{thread}" for thread in os.listdir(f"/proc/{pid}/task")]
    except (FileNotFoundError, ProcessLookupError):
        return []


def oom_kills() -> int | None:
    """Return how often the kernel of this machine has killed a process for memory; None if it does not tell."""
    try:
        with open("/proc/vmstat", "rb") as counters:
            return next((int(line.split()[1]) for line in counters if line.startswith(b"oom_kill ")), None)
    except OSError:
        return None


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def is_running(thread: str) -> bool:
    """Return whether a thread, given by its entry, is neither stopped nor dead."""
    fields = _fields(thread)
    return bool(fields) and fields[_STATE] not in (b"T", b"t", b"Z", b"X")


def _stat(pid: int) -> list[bytes]:
    return _fields(f"/proc/{pid}")


def _fields(entry: str) -> list[bytes]:
    """Return the fields of `stat` after the command name (which may hold anything, closing brackets too)."""
    return _read(f"{entry}/stat").rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _status(pid: int) -> dict[bytes, bytes]:
    """Return the lines of /proc/<pid>/status by name; empty once the process is gone."""
    lines = (line.partition(b":") for line in _read(f"/proc/{pid}/status").splitlines())
    return {name: value.strip() for name, _, value in lines}

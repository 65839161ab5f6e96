"""The kernel's limits on one process (setrlimit), set by a worker on itself and never raised again.

Protocol: one setrlimit(kind, soft = hard) for each of

    CPU      seconds of the process, all its threads together; SIGKILL at once, since soft = hard. A coarse
             backstop: the grader measures each test itself and ends the worker long before
    DATA     bytes of private writable memory: what the process has now, with all of torch in it, plus the
             allowance. More is MemoryError. Code can hide memory from this count, and its children have counts of
             their own: so the grader watches what all of them hold, see procfs.py
    AS       bytes of addresses: the allowance, and room for the stacks and heaps of many threads. It bounds the page
             tables of memory that is mapped and not used. Not set with a graphics card, whose driver maps terabytes
    STACK    bytes of the first thread's stack, which are not in DATA
    MEMLOCK  0: no page is kept from being reclaimed
    SIGPENDING  signals that wait and timers that run: they take memory of the kernel
    FSIZE    bytes of any one file; more is "File too large". Where seccomp is off, memfd included
    NOFILE   open descriptors. A pipe or a socket holds up to 300 kB in the kernel, and nothing counts it. A graphics
             card's driver needs more of them
    NPROC    processes and threads of the *user*, whoever started them, on the whole host. So the bound is exact
             only for a uid of its own; otherwise the threads that the user has already are counted and added.
             Root is exempt
    CORE     0

They are inherited by whatever the process forks, each child with a CPU, DATA and AS account of its own. A hard
limit that is already lower stays.
"""

from __future__ import annotations

import os
import resource

from softmark.records.limits import Limits

_MEGABYTE = 1_000_000
_ADDRESSES = 8_000 * _MEGABYTE  # 64 threads, each with a stack of 8 MB and a heap of 64 MB, and as much again
_STACK = 64 * _MEGABYTE
_RLIMIT_SIGPENDING, _SIGNALS = 11, 256  # some builds of Python do not know its name
_FILES_OF_DRIVERS = 192
_ALL_PAGES, _DATA_PAGES = 0, 5  # positions in /proc/self/statm: all addresses; data and stack


def impose(limits: Limits, cpu_backstop: int, own_uid: bool, drivers: bool = False) -> None:
    """Limit this process, before it changes its user. Root in a container could not do it from outside."""
    running = 0 if own_uid else _threads_of(os.getuid())
    memory = limits.memory_mb * _MEGABYTE
    _limit(resource.RLIMIT_CPU, cpu_backstop)
    impose_memory(limits)
    if not drivers:
        _limit(resource.RLIMIT_AS, _size(_ALL_PAGES) + memory + _ADDRESSES)
    _limit(resource.RLIMIT_STACK, _stack())
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(_RLIMIT_SIGPENDING, _SIGNALS)
    _limit(resource.RLIMIT_FSIZE, limits.file_mb * _MEGABYTE)
    _limit(resource.RLIMIT_NOFILE, limits.open_files + (_FILES_OF_DRIVERS if drivers else 0))
    _limit(resource.RLIMIT_NPROC, running + limits.processes)
    _limit(resource.RLIMIT_CORE, 0)


def impose_memory(limits: Limits) -> None:
    """Limit the private memory of this process to what it has now and what a worker may have besides."""
    _limit(resource.RLIMIT_DATA, _size(_DATA_PAGES) + limits.memory_mb * _MEGABYTE)


def status(process: str) -> dict[str, str]:
    """Return the fields of /proc/<process>/status by name: the user and the capabilities of a process, among others."""
    text = _read(f"/proc/{process}/status").decode(errors="replace")
    lines = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in lines}


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (lowest, lowest))


def _stack() -> int:
    """Return the present limit of the stack, or ours if that is larger or infinite (RLIM_INFINITY is -1)."""
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return soft if 0 < soft < _STACK else _STACK


def _size(field: int) -> int:
    return int(_read("/proc/self/statm").split()[field]) * resource.getpagesize()


def _threads_of(uid: int) -> int:
    real_uid = b"\nUid:\t%d\t" % uid
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            told = _read(f"/proc/{name}/status")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if real_uid in told:
            total += int(told.partition(b"\nThreads:")[2].split(maxsplit=1)[0])
    return total


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 65536)  # these entries come in one piece
    finally:
        os.close(descriptor)

"""The kernel's limits on one process (setrlimit), set by a worker on itself and never raised again.

Protocol: one setrlimit(kind, soft = hard) for each of

    CPU      seconds of the process, all its threads together; SIGKILL at once, since soft = hard. A coarse
             backstop: the grader measures each test itself and ends it long before
    DATA     bytes of private writable memory: what the process has now, with all of torch in it, plus the
             allowance. More is MemoryError. Shared maps and memfd do not count: the grader watches resident
             memory beside this
    FSIZE    bytes of any one file, memfd included; more is "File too large"
    NOFILE   open descriptors
    NPROC    processes and threads of the *user*, whoever started them, on the whole host. So it means
             something exact only for a uid of its own; otherwise what the user runs already is counted and
             added. Root is exempt
    CORE     0

They are inherited by whatever the process forks, each child with a CPU and DATA account of its own. A hard
limit that is already lower stays.
"""

from __future__ import annotations

import os
import resource

from softmark.sandbox.limits import Limits

_MEGABYTE = 1_000_000
_DATA_PAGES = 5  # position in /proc/self/statm: data and stack


def impose(limits: Limits, cpu_backstop: int, own_uid: bool) -> None:
    """Limit this process: before it drops its uid, since a container's root cannot do it from outside."""
    running = 0 if own_uid else _threads_of(os.getuid())
    _limit(resource.RLIMIT_CPU, cpu_backstop)
    _limit(resource.RLIMIT_DATA, _data_size() + limits.memory_mb * _MEGABYTE)
    _limit(resource.RLIMIT_FSIZE, limits.file_mb * _MEGABYTE)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_NPROC, running + limits.processes)
    _limit(resource.RLIMIT_CORE, 0)


def status(process: str) -> dict[str, str]:
    """/proc/<process>/status by field name: who a process is and what it may do, in the kernel's words."""
    text = _read(f"/proc/{process}/status").decode(errors="replace")
    lines = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in lines}


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (lowest, lowest))


def _data_size() -> int:
    return int(_read("/proc/self/statm").split()[_DATA_PAGES]) * resource.getpagesize()


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

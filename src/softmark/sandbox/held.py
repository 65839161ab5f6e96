"""Asks the kernel how much a worker's processes have written, and which nameless files they hold. Trusted side.

The kernel tells this in /proc/<pid>: `io` has the bytes that a process, and the children that it has reaped, have
written to any disk; `fd` has the open files, and `map_files` the mapped ones. A file without a name has no links. The
entries of all threads are read, because a thread may have descriptors of its own.

A worker must not be able to move a file from process to process during the search. So its processes are stopped
meanwhile. A descriptor in the buffer of a socket would belong to no process: seccomp.py refuses to send any.

To read these entries of a worker takes CAP_SYS_PTRACE, and for mapped files CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from softmark.sandbox import procfs

_WRITTEN = re.compile(rb"^write_bytes: (\d+)$", re.MULTILINE)
_STOPPING = 0.2  # seconds
_GONE = (FileNotFoundError, ProcessLookupError)


def written(ancestor: int) -> int | None:
    """Return the bytes that the processes below `ancestor` have written to disks; None if we may not read that."""
    total = 0
    for pid in procfs.family(ancestor):
        try:
            with open(f"/proc/{pid}/io", "rb") as file:
                total += sum(map(int, _WRITTEN.findall(file.read())))
        except _GONE:
            continue
        except OSError:
            return None
    return total


def unnamed_bytes(ancestor: int, device: int) -> int | None:
    """Return the bytes of nameless files of a device that processes below `ancestor` hold.

    Return None if we may not read that, or if the processes could not be stopped.
    """
    found: dict[int, int] = {}
    try:
        with _stopped(ancestor) as pids:
            if pids is None:
                return None
            for status in (status for pid in pids for status in _files(pid)):
                if status.st_dev == device and status.st_nlink == 0:
                    found[status.st_ino] = status.st_blocks * 512
    except PermissionError:
        return None
    return sum(found.values())


@contextmanager
def _stopped(ancestor: int) -> Iterator[set[int] | None]:
    """Stop all processes below `ancestor`, and those that they start meanwhile; let them go on afterwards.

    A process that still runs may wake another one. So all of them must be seen stopped twice in a row. Yield None if
    that does not happen in time, because they wake each other faster than they can be stopped.
    """
    pids: set[int] = set()
    clean, until = 0, time.monotonic() + _STOPPING
    try:
        while clean < 2 and time.monotonic() < until:
            found = set(procfs.descendants(ancestor))
            running = any(procfs.is_running(thread) for pid in found for thread in procfs.threads(pid))
            clean = clean + 1 if not running and found <= pids else 0
            if not clean:
                pids |= found
                _send(found, signal.SIGSTOP)
                time.sleep(0.0005)  # a thread inside a system call stops when that returns
        yield pids if clean == 2 else None
    finally:
        _send(pids, signal.SIGCONT)


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _files(pid: int) -> Iterator[os.stat_result]:
    """Yield the status of every file that a process holds open or mapped."""
    for thread in procfs.threads(pid):
        for folder in (f"{thread}/fd", f"/proc/{os.path.basename(thread)}/map_files"):
            with contextlib.suppress(*_GONE):
                for name in os.listdir(folder):
                    with contextlib.suppress(*_GONE):
                        yield os.stat(f"{folder}/{name}")

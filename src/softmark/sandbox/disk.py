"""Counts the disk space that one worker holds in files with and without a name. Runs on the trusted side.

The limit (`file_mb`) is for all files of a worker together. There are two counts:

    names         the scratch directory is walked. Directories are opened one by one below their parents, and links are
                  not followed, so a worker that moves directories meanwhile cannot lead the walk elsewhere. A sparse
                  file counts with its blocks, a file with several names counts once. The depth is not limited.
    no names      a file that was unlinked while it is open or mapped has no name. A worker that has made and removed no
                  file holds none. A worker that has written little more than the size of its files with names holds
                  little without names. For every other worker the kernel says which files its processes hold open and
                  mapped (held.py), so other programs that write to the disk make no difference.

If this process may not ask the kernel (root without CAP_SYS_PTRACE and CAP_SYS_ADMIN, as in most containers, or an
ordinary user), or if the processes of a worker wake each other all the time, free space decides. Any program may have
taken the space that is missing since the worker started. If the worker has written so much, it is ended, one worker at
a time: space that comes back was the worker's.

Free space is read at every look at the worker (process.py) and at the end of every call, with two system calls. Names
are counted at every tenth look, and at the end of a call if the worker has made or removed a file.

The bound: the worker holds at most the limit with names and half the limit (at least 50 MB) without, and what it writes
between two looks, in a twentieth of a second. Writing is the only way: seccomp.py refuses calls that take space at
once, files that never had a name, and sending a descriptor, which would keep its file in a socket. For files in memory
(a tmpfs) the kernel does not tell how much was written: there, files without a name may take twice the limit. Where
free space decides and a file system reports it late (Btrfs), only the size of each file is bounded.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from softmark.sandbox import held as held_files
from softmark.sandbox import procfs
from softmark.sandbox.machine import in_memory

MOST_ENTRIES = 10_000
_LEAST_HIDDEN = 50_000_000  # other programs write, too
_COMING_BACK = 1.0  # seconds within which a file system frees the space of an ended process
_TURNS = (
    os.memfd_create("turns") if hasattr(os, "memfd_create") else -1
)  # all lanes inherit it; without Linux there are no walls and no such calls
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Count:
    """The files and folders below a directory."""

    bytes: int = 0
    entries: int = 0
    folders: int = 0
    changed: bool = False
    """True if anything was made, removed or renamed there since `mark`."""


class Disk:
    """Watches the disk space that one worker holds. It is made before the worker runs any code of the student's."""

    def __init__(self, scratch: Path, most_bytes: int, zygote: int, written: Callable[[], int]) -> None:
        """Watch the worker that is a child of `zygote`.

        `written` returns how many bytes the worker has written so far, or a larger number if that is not known. It is
        called only if this process may not read that itself.
        """
        self._most, self._zygote, self._written = most_bytes, zygote, written
        self._gone = 0
        """Bytes that the worker wrote to files which no longer exist."""
        self._tolerated = 2 * most_bytes if in_memory(str(scratch)) else max(most_bytes // 2, _LEAST_HIDDEN)
        self._place = os.open(scratch, _DIRECTORY)
        self._at_start = count(self._place, most_bytes)
        self._most_free = self._free()
        self._free_at_alarm = self._hidden = 0
        self.came_back = False
        """True if the space that no named file explains came back when the worker ended."""

    @property
    def hidden(self) -> bool:
        """Return whether so much space is missing that only the worker's end can show whether the worker has it."""
        return self._hidden > 0

    def exceeded(self, thoroughly: bool) -> bool:
        """Return whether files take more than is allowed. Count them only if there is a sign of any, or thoroughly."""
        free = self._free()
        self._most_free = max(self._most_free, free)
        taken, self._hidden = self._most_free - free, 0
        if not thoroughly and not self._touched() and taken <= self._most:
            return False
        found = count(self._place, self._most)
        if found.bytes > self._most or found.entries > MOST_ENTRIES:
            return True
        missing = taken - found.bytes
        held = self._held_without_names(found, missing) if found.changed else 0
        if held is None and missing > self._tolerated and self._may_hide(self._written(), found):
            self._free_at_alarm, self._hidden = free, missing
        elif missing > self._tolerated:
            self._most_free = free  # another program took that space
        return held is not None and held > self._tolerated

    def _held_without_names(self, found: Count, missing: int) -> int | None:
        """Return the bytes of nameless files that the worker holds; None if this process may not see that.

        Return 0 without asking the kernel if the worker can hold little.
        """
        written = held_files.written(self._zygote)
        if written is None:
            return None
        alone = len(procfs.family(self._zygote)) == 1  # nobody knows how much an ended process had written
        if alone and missing <= self._tolerated and not self._may_hide(written - self._gone, found):
            return 0
        held = held_files.unnamed_bytes(self._zygote, os.fstat(self._place).st_dev)
        if held is not None and alone:
            self._gone = max(0, written - self._with_names(found) - held)
        return held

    def _may_hide(self, written: int, found: Count) -> bool:
        """Return whether the worker has written so much more than its named files hold that it may hide too much."""
        return written - self._with_names(found) > self._tolerated

    def _with_names(self, found: Count) -> int:
        return max(0, found.bytes - self._at_start.bytes)

    def settle(self) -> None:
        """Note whether the missing space comes back, now that the worker has ended."""
        until = time.monotonic() + _COMING_BACK
        while self.hidden and not self.came_back and time.monotonic() < until:
            self.came_back = self._free() - self._free_at_alarm > self._tolerated // 2
            time.sleep(0 if self.came_back else 0.01)

    def close(self) -> None:
        os.close(self._place)

    def _touched(self) -> bool:
        """Return whether the worker may have made files. This is quick, and exact if no folder was handed in."""
        return self._at_start.folders > 0 or os.fstat(self._place).st_mtime_ns != 0

    def _free(self) -> int:
        system = os.fstatvfs(self._place)
        return system.f_bfree * system.f_frsize


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait until no other lane of this engine ends a worker to see how much space it held."""
    fcntl.lockf(_TURNS, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.lockf(_TURNS, fcntl.LOCK_UN)


def count(place: int, most_bytes: int) -> Count:
    """Count the files below the directory that the descriptor `place` has open; stop once they are too many."""
    total = entries = folders = 0
    changed = False
    counted: set[tuple[int, int]] = set()  # files with several names
    for here, inside in _directories(place):
        changed |= os.fstat(here).st_mtime_ns != 0
        with os.scandir(here) as listing:
            for entry in listing:
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # it was deleted meanwhile
                entries += 1
                if stat.S_ISDIR(found.st_mode):
                    inside.append(entry.name)
                elif found.st_nlink > 1:
                    if _identity(found) in counted:
                        continue
                    counted.add(_identity(found))
                total += found.st_blocks * 512
                if total > most_bytes or entries > MOST_ENTRIES:
                    return Count(total, entries, folders, changed=True)
        folders += len(inside)
    return Count(total, entries, folders, changed)


def _directories(place: int) -> Iterator[tuple[int, list[str]]]:
    """Yield each directory from `place` downwards, opened, with a list for the names of the directories in it.

    Only one is open at a time, so that the depth does not matter. The way up is "..". If the worker has moved the
    directory meanwhile, that leads elsewhere, and the walk ends early.
    """
    here = os.open(".", _DIRECTORY, dir_fd=place)
    above: list[tuple[tuple[int, int], list[str]]] = []
    try:
        while True:
            inside: list[str] = []
            yield here, inside
            above.append((_identity(os.fstat(here)), inside))
            below = None
            while below is None:
                while not above[-1][1]:
                    above.pop()
                    if not above:
                        return
                    here = _instead_of(here, "..")
                    if _identity(os.fstat(here)) != above[-1][0]:
                        return
                below = _opened(above[-1][1].pop(), here)
            os.close(here)
            here = below
    finally:
        os.close(here)


def _instead_of(directory: int, name: str) -> int:
    other = os.open(name, _DIRECTORY, dir_fd=directory)
    os.close(directory)
    return other


def _opened(name: str, directory: int) -> int | None:
    """Open a directory and return its descriptor; None if it no longer exists, or if its owner has closed it to us."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError:
        return None


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino

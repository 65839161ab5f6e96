"""Count what one worker holds on the disk, with and without a name. Trusted side.

The limit (`file_mb`) is for all files of a worker together. There are two counts:

    names         the scratch directory is walked. Directories are opened one by one below their parents, and links are
                  not followed, so what the worker moves about meanwhile leads nowhere else. A sparse file counts the
                  blocks it has, a file with several names counts once. Directories of any depth are counted.
    no names      a file that was unlinked while it is open or mapped has no name. A worker that has made and removed no
                  file holds none. One that has written little more than its files with names have, holds little
                  without. Of any other the kernel is asked what its processes hold open and mapped (held.py), so
                  nothing that other programs do to the disk plays a part.

Where this process may not ask that (a root without CAP_SYS_PTRACE and CAP_SYS_ADMIN, as in most containers, and an
ordinary user), or where a worker's processes wake each other all the time, free space decides. What is gone since the
worker started may have been taken by any program. A worker that has written so much is ended, one at a time: the space
that comes back was the worker's.

When it is looked: free space at every look at the worker (process.py) and at the end of every call, two system calls;
names at every tenth look, and at the end of a call if the worker has made or removed a file.

The bound. The worker holds at most the limit with names and half the limit (at least 50 MB) without, and in addition
what it writes between two looks, in a twentieth of a second. It has to write it: seccomp.py refuses what takes space at
once, and files that never had a name, and sending a descriptor to keep its file in a socket. For files that are memory
(a tmpfs) the kernel does not tell what was written: there, twice the limit is left to files without a name. Where free
space decides and a file system is late in telling it (Btrfs), nothing but the size of each file bounds them.
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
_COMING_BACK = 1.0  # seconds within which a file system frees what an ended process held
_TURNS = (
    os.memfd_create("turns") if hasattr(os, "memfd_create") else -1
)  # inherited by judges; there are no walls without Linux
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
    """Watches what one worker holds; made before the worker runs any code of the student's."""

    def __init__(self, scratch: Path, most_bytes: int, zygote: int, written: Callable[[], int]) -> None:
        """Watch the worker that is a child of `zygote`.

        `written` returns how many bytes the worker has written so far, or more if that is not known. It is asked where
        this process may not see that itself.
        """
        self._most, self._zygote, self._written = most_bytes, zygote, written
        self._gone = 0
        """Bytes that were written to files which are gone."""
        self._tolerated = 2 * most_bytes if in_memory(str(scratch)) else max(most_bytes // 2, _LEAST_HIDDEN)
        self._place = os.open(scratch, _DIRECTORY)
        self._at_start = count(self._place, most_bytes)
        self._most_free = self._free()
        self._free_at_alarm = self._hidden = 0
        self.came_back = False
        """True if the space that names do not account for came back when the worker ended."""

    @property
    def hidden(self) -> bool:
        """Return whether so much space is gone without a name that only the worker's end can show whose it was."""
        return self._hidden > 0

    def exceeded(self, thoroughly: bool) -> bool:
        """Return whether files take more than is allowed; they are counted if there is a sign of any."""
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
        """Return the bytes of files without a name that the worker holds; None if this process may not see that.

        Return 0 without a look if the worker can hold little.
        """
        written = held_files.written(self._zygote)
        if written is None:
            return None
        alone = len(procfs.family(self._zygote)) == 1  # what an ended process has written is not known
        if alone and missing <= self._tolerated and not self._may_hide(written - self._gone, found):
            return 0
        held = held_files.unnamed_bytes(self._zygote, os.fstat(self._place).st_dev)
        if held is not None and alone:
            self._gone = max(0, written - self._with_names(found) - held)
        return held

    def _may_hide(self, written: int, found: Count) -> bool:
        """Return whether the worker has written so much more than it has with names that it may hide too much."""
        return written - self._with_names(found) > self._tolerated

    def _with_names(self, found: Count) -> int:
        return max(0, found.bytes - self._at_start.bytes)

    def settle(self) -> None:
        """Note whether the worker, which has just ended, held what was hidden."""
        until = time.monotonic() + _COMING_BACK
        while self.hidden and not self.came_back and time.monotonic() < until:
            self.came_back = self._free() - self._free_at_alarm > self._tolerated // 2
            time.sleep(0 if self.came_back else 0.01)

    def close(self) -> None:
        os.close(self._place)

    def _touched(self) -> bool:
        """Return whether the worker may have made files: cheap, and right of a directory without others in it."""
        return self._at_start.folders > 0 or os.fstat(self._place).st_mtime_ns != 0

    def _free(self) -> int:
        system = os.fstatvfs(self._place)
        return system.f_bfree * system.f_frsize


@contextmanager
def in_turn() -> Iterator[None]:
    """Wait until no other judge of this engine ends a worker to see what it held."""
    fcntl.lockf(_TURNS, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.lockf(_TURNS, fcntl.LOCK_UN)


def mark(directory: Path) -> None:
    """Date a directory to 1970, so that every later change of what is in it shows. A worker can set no times."""
    os.utime(directory, ns=(0, 0))


def count(place: int, most_bytes: int) -> Count:
    """Count what is below the directory that `place` is open at; stop once there is too much of it."""
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

    One is open at a time, so that depth costs nothing. The way up is "..". It leads elsewhere if the worker has moved
    the directory meanwhile: then this ends early.
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
    """Return a directory of that name, opened; None if there is none any more, or its owner has closed it to us."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError:
        return None


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino

"""Counts what one worker holds on the disk, with and without a name. Trusted side.

The limit (`file_mb`) is for all files of a worker together. There are two counts:

    names         the scratch directory is walked. Directories are opened one by one below their parents, and links are
                  not followed, so what the worker moves about meanwhile leads nowhere else. A sparse file counts the
                  blocks it has, a file with several names counts once. Directories of any depth are counted.
    free space    a file that was unlinked while it is open or mapped has no name, and only the file system knows of it.
                  The space that has been taken since the worker started was taken by all programs of this machine,
                  other workers among them. Three facts tell who it was. A worker that has made and removed no file
                  holds none without a name. One that has written little more than its files with names have, holds
                  little without: the zygote can ask the kernel what its child has written. Any other is ended, one at
                  a time: the space that comes back was the worker's.

When it is looked: free space at every look at the worker (process.py) and at the end of every call, two system calls;
names at every tenth look, and at the end of a call if the worker has made or removed a file.

The bound. The worker holds at most the limit with names and half the limit (at least 50 MB) without, and in addition
what it writes between two looks, in a twentieth of a second. It has to write it: seccomp.py refuses what takes space at
once, and files that never had a name. For files that are memory (a tmpfs) the kernel does not tell what was written, so
that the space of other workers is not told apart without ending one: there, twice the limit is left to files without a
name. On a file system that is late in telling its free space (Btrfs) nothing but the size of each file bounds them.
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

from softmark.sandbox.room import in_memory

MOST_ENTRIES = 10_000
_LEAST_HIDDEN = 50_000_000  # other programs write, too
_COMING_BACK = 1.0  # seconds within which a file system frees what an ended process held
_TURNS = os.memfd_create("turns") if hasattr(os, "memfd_create") else -1  # judges inherit it; without Linux no walls
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Count:
    """What was found below a directory."""

    bytes: int = 0
    entries: int = 0
    folders: int = 0
    changed: bool = False
    """Whether anything was made, removed or renamed there since `mark`."""


class Disk:
    """Watches what one worker holds; made before the worker runs any code of the student's."""

    def __init__(self, scratch: Path, most_bytes: int, written: Callable[[], int]) -> None:
        """`written` returns how many bytes the worker has written so far; more, if nobody knows."""
        self._most, self._written = most_bytes, written
        self._tolerated = 2 * most_bytes if in_memory(str(scratch)) else max(most_bytes // 2, _LEAST_HIDDEN)
        self._place = os.open(scratch, _DIRECTORY)
        self._at_start = count(self._place, most_bytes)
        self._most_free = self._free()
        self._free_at_alarm = self._hidden = 0
        self.came_back = False
        """Whether the space that names do not account for came back when the worker ended."""

    @property
    def hidden(self) -> bool:
        """Whether so much space is gone without a name that the worker must be ended to see whose it was."""
        return self._hidden > 0

    def exceeded(self, thoroughly: bool) -> bool:
        """Return whether files with names take more than is allowed; they are counted if there is a sign of any."""
        free = self._free()
        self._most_free = max(self._most_free, free)
        taken, self._hidden = self._most_free - free, 0
        if not thoroughly and not self._touched() and taken <= self._most:
            return False
        found = count(self._place, self._most)
        if taken - found.bytes > self._tolerated:
            if found.changed and self._may_hide(found):
                self._free_at_alarm, self._hidden = free, taken - found.bytes
            else:
                self._most_free = free  # another program took that space
        return found.bytes > self._most or found.entries > MOST_ENTRIES

    def _may_hide(self, found: Count) -> bool:
        """Whether the worker has written so much more than it has with names that it may be the one who hides it."""
        with_names = max(0, found.bytes - self._at_start.bytes)
        return self._written() - with_names > self._tolerated

    def settle(self) -> None:
        """Note whether the worker, which has just ended, held what was hidden."""
        until = time.monotonic() + _COMING_BACK
        while self.hidden and not self.came_back and time.monotonic() < until:
            self.came_back = self._free() - self._free_at_alarm > self._tolerated // 2
            time.sleep(0 if self.came_back else 0.01)

    def close(self) -> None:
        os.close(self._place)

    def _touched(self) -> bool:
        """Whether the worker may have made files: cheap, and right of a directory without others in it."""
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
                    continue  # it went away meanwhile
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
    """The directory of that name; None if there is none any more, or its owner has closed it to us."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError:
        return None


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino

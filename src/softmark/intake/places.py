"""Reads folders and files that were handed in, on the disk or in an archive, and never follows a link.

Nothing here runs or parses Python. There are two kinds of errors. `Unreadable`: a path that the person at the keyboard
named cannot be read. `Refusal`: a student's submission cannot be graded; its text is safe to show.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol

from softmark.intake.names import show

FILE, FOLDER = "file", "folder"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in a folder: a file, a folder, or another kind ("symbolic link", "named pipe")."""

    name: str
    kind: str
    modified: float = 0.0
    """Seconds on some clock; only compared with each other."""


class Place(Protocol):
    """A folder that can be looked into. Nothing is ever written, and no link is followed."""

    @property
    def origin(self) -> str:
        """Return its name as a person would say it, safe to be shown."""
        ...

    def items(self) -> list[Item]:
        """Return the things that are directly in it, sorted by name. Raise Refusal if it cannot be listed."""
        ...

    def enter(self, name: str) -> Place: ...

    def read(self, name: str, most: int) -> bytes:
        """Return the bytes of a file. Raise Refusal if it cannot be read or has more than `most`."""
        ...


LARGEST, LARGEST_NOTEBOOK = 5_000_000, 30_000_000  # a program; a notebook with all its pictures
_READ_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Unreadable(Exception):
    """Raised if the file that was named cannot be read; the text is one sentence with the next step."""


class Refusal(Exception):
    """Refuses a submission that cannot be graded; the text says why, for the student."""


class TooLarge(Refusal):
    """A file has more bytes than are read."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the file is larger than {most // 1_000_000} MB")


def read(path: Path, most: int = LARGEST) -> bytes:
    """Return the bytes of a regular file of a reasonable size."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(most)
    return content


def open_regular(path: Path) -> BinaryIO:
    """Return a regular file, opened without following a link and without waiting at a pipe."""
    try:
        descriptor = os.open(path, _READ_ONLY)
    except FileNotFoundError:
        raise Unreadable(f"no such file: {path}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Unreadable(f"{path} is a symbolic link: name the file that it points to") from None
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    kind = os.fstat(descriptor)
    if not stat.S_ISREG(kind.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(kind.st_mode):
            raise Unreadable(f"{path} is a directory: name the file in it that is to be graded")
        raise Unreadable(f"{path} is not a regular file")
    return open(descriptor, "rb")


MOST_ITEMS = 100_000
_KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFDIR: FOLDER,
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
}


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on the disk, looked into without following a link."""

    path: Path
    origin: str

    def items(self) -> list[Item]:
        try:
            with os.scandir(self.path) as entries:
                items = [_item(entry) for entry in islice(entries, MOST_ITEMS + 1)]
        except OSError as error:
            raise Refusal(f"the folder {self.origin} cannot be listed: {error.strerror}") from error
        if len(items) > MOST_ITEMS:
            raise Refusal(f"the folder {self.origin} holds more than {MOST_ITEMS} files")
        return sorted(items, key=lambda item: item.name)

    def enter(self, name: str) -> Folder:
        return Folder(self.path / name, f"{self.origin}/{show(name)}")

    def read(self, name: str, most: int) -> bytes:
        try:
            return read(self.path / name, most)
        except Unreadable as why:  # its words are for the person who named the path, not for the student
            raise Refusal(f"{show(name)} could not be read where it is kept: tell your instructor") from why


def _item(entry: os.DirEntry[str]) -> Item:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it has just vanished, which is reported when it is read
        return Item(entry.name, FILE)
    return Item(entry.name, _KINDS.get(stat.S_IFMT(status.st_mode), "device"), status.st_mtime)


MOST_BYTES = 150_000_000


class TooMuchToRead(Refusal):
    """Refuses a submission that holds more than is read of one."""

    def __init__(self) -> None:
        much = MOST_BYTES // 1_000_000
        super().__init__(f"more than {much} MB would have to be read to find what is meant: hand in one file")


class Budget:
    """The bytes that may still be read of one submission."""

    def __init__(self) -> None:
        self._left = MOST_BYTES
        self.is_spent = False
        """True if a read would have gone beyond the limit."""

    def read(self, place: Place, name: str, most: int) -> bytes:
        """Return the bytes of a file; TooLarge if it has more than `most`, TooMuchToRead if no more may be read."""
        allowed = min(most, self._left)
        try:
            content = place.read(name, allowed)
        except TooLarge:
            self._left -= allowed
            if allowed < most:
                self.is_spent = True
                raise TooMuchToRead from None
            raise
        except Refusal:
            self._left -= allowed  # so much may have been read before the damage was found
            raise
        self._left -= len(content)
        return content

"""Reads a file that was handed in: as bytes, whatever it claims to be, and never by following a link.

Nothing here runs or parses Python. Two kinds of trouble are told apart: what the person at the keyboard asked for
cannot be read (`Unreadable`), or it can, and what the student handed in cannot be graded (`Refusal`, a reason that is
safe to show).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import BinaryIO

LARGEST, MOST_STATEMENTS = 5_000_000, 50_000
_READ_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_ENCODINGS = {"utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso-latin-1"}
_STATEMENT = re.compile(rb"^[ \t]*[^\s#]|;", re.MULTILINE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NO_TEXT = {b"PK\x03\x04": "a zip archive", b"%PDF": "a PDF"}


class Unreadable(Exception):
    """The file that was named cannot be read; the text is one sentence with the next step."""


class Refusal(Exception):
    """What was handed in cannot be graded; the text says why, for the student."""


class TooLarge(Refusal):
    """A file has more bytes than are read."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the file is larger than {most // 1_000_000} MB")


def read(path: Path, most: int = LARGEST) -> bytes:
    """The bytes of a regular file of a reasonable size."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(most)
    return content


def open_regular(path: Path) -> BinaryIO:
    """A regular file, opened without following a link and without waiting for whoever is at the end of a pipe."""
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


def check(source: bytes) -> None:
    """Refuse what Python would misread or could not explain: wrong encodings, binary files, an empty file."""
    if not source.strip():
        raise Refusal("the file is empty")
    if source.startswith(_UTF_16):
        raise Refusal("the file is UTF-16, not Python source in UTF-8: save it as UTF-8 and hand it in again")
    for mark, kind in _NO_TEXT.items():
        if source.startswith(mark):
            raise Refusal(f"the file is {kind}, whatever its name says: hand in the Python file itself")
    declared = _declared_encoding(source)
    if declared not in _ENCODINGS and not declared.startswith("utf-8-"):  # an editor's "utf-8-unix"
        raise Refusal(f"the first lines declare the encoding {declared[:40]!r}; only UTF-8 is accepted")
    if b"\0" in source:
        line = source[: source.index(b"\0")].count(b"\n") + 1
        raise Refusal(f"line {line} contains a NUL character; save the file as UTF-8 text and hand it in again")
    refuse_too_much_code([source])
    if "8" in declared and "8859" not in declared:
        _check_utf8(source)


def refuse_too_much_code(sources: Iterable[bytes]) -> None:
    """Raise Refusal for more lines of code than anybody writes: Python would need minutes and gigabytes for them."""
    found = (match for source in sources for match in _STATEMENT.finditer(source))
    if next(islice(found, MOST_STATEMENTS, None), None):
        raise Refusal(f"there are more than {MOST_STATEMENTS:,} lines of code: hand in only what is asked for")


def _declared_encoding(source: bytes) -> str:
    for line in source.removeprefix(b"\xef\xbb\xbf").split(b"\n", 2)[:2]:
        found = _COOKIE.match(line)
        if found:
            return found.group(1).decode("ascii", "replace").lower().replace("_", "-")
    return "utf-8"


def _check_utf8(source: bytes) -> None:
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        byte = source[error.start]
        raise Refusal(
            f"the file is not UTF-8: line {line} holds the byte 0x{byte:02X}; save it as UTF-8 and hand it in again"
        ) from None

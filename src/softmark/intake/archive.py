"""Reads a zip archive member by member into memory; nothing is ever unpacked to a disk.

Its maker is not trusted: neither the list of members, nor their names, nor the sizes that it claims. A member is read
up to a cap, whatever its header says.
"""

from __future__ import annotations

import io
import math
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from softmark.intake.names import inner_path, show
from softmark.intake.places import FILE, FOLDER, Item, Refusal, TooLarge

_BROKEN = (  # zipfile believes what it reads, and fails in as many ways as a header can lie
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError,
    LookupError, RuntimeError,
)  # fmt: skip
_OTHERS = {
    b"Rar!": "a RAR archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive", b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive", b"\xfd7zXZ": "an xz archive", b"%PDF": "a PDF",
}  # fmt: skip
_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")  # a first member, or the end of an archive without any
_ENCRYPTED, _UTF8 = 0x1, 0x800
SUSPICIOUS_RATIO, SUSPICIOUS_SIZE = 500, 1_000_000


@dataclass(frozen=True)
class ArchiveLimits:
    """The part of an archive that is looked at: the number of members, and the bytes of their list."""

    members: int
    list_bytes: int


OF_A_STUDENT = ArchiveLimits(5_000, 2_000_000)
OF_A_CLASS = ArchiveLimits(1_000_000, 400_000_000)


class _ListTooLong(Exception):
    """Raised if the list of an archive's members is longer than is read."""


class _Listed(io.BufferedReader):
    """A file of which no piece longer than `most` is read: the list of members is one, and has no limit."""

    most: float = 0

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.most:
            raise _ListTooLong
        return super().read(size)


@dataclass
class _Contents:
    files: dict[str, zipfile.ZipInfo] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)


class Archive:
    """A zip archive; Refusal if it cannot be read as one."""

    def __init__(self, file: BinaryIO, name: str, limits: ArchiveLimits) -> None:
        self.name = name
        self.refused: list[str] = []
        """Members whose names could lead out of the archive, or that are made to be misread."""
        self._folders: dict[tuple[str, ...], _Contents] = {(): _Contents()}
        _refuse_what_is_no_zip(file, name)
        listed = _Listed(file)  # type: ignore[arg-type]
        listed.most = max(limits.list_bytes, 1 << 20)
        try:
            self._zip = zipfile.ZipFile(listed)
            members = self._zip.infolist()
            if len(members) > limits.members:
                raise _ListTooLong
        except _ListTooLong:
            raise Refusal(f"{name} holds more than {limits.members} files") from None
        except _BROKEN as why:
            raise Refusal(f"{name} is damaged or cut off: zip it again") from why
        listed.most = math.inf  # a member is read up to a cap of its own
        for member in members:
            self._add(member)

    @property
    def root(self) -> InArchive:
        return InArchive(self, (), self.name)

    def contents(self, path: tuple[str, ...]) -> list[Item]:
        return sorted(self._folders[path].items, key=lambda item: item.name)

    def read(self, path: tuple[str, ...], most: int) -> bytes:
        """Return a member's bytes up to a cap, whatever its header claims."""
        name = show("/".join(path))
        member = self._folders[path[:-1]].files[path[-1]]
        if member.flag_bits & _ENCRYPTED:
            raise Refusal(f"{name} in {self.name} is locked with a password: zip it again without one")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refusal(f"{name} in {self.name} is compressed in an unusual way: zip it again")
        try:
            with self._zip.open(member) as file:
                content = file.read(most + 1)
        except _BROKEN as why:
            raise Refusal(f"{name} in {self.name} is damaged: zip it again") from why
        if len(content) > most:
            raise TooLarge(most)
        if len(content) > max(SUSPICIOUS_SIZE, SUSPICIOUS_RATIO * member.compress_size):
            raise Refusal(f"{name} in {self.name} is over {SUSPICIOUS_RATIO} times as large as it was packed")
        return content

    def _add(self, member: zipfile.ZipInfo) -> None:
        name = _real_name(member)
        path = inner_path(name)
        if path is None:
            self.refused.append(show(name))
            return
        kind = _kind(member) if path else FOLDER
        folders = path if kind == FOLDER else path[:-1]
        for depth in range(1, len(folders) + 1):
            if folders[:depth] not in self._folders:
                self._folders[folders[:depth]] = _Contents()
                self._folders[folders[: depth - 1]].items.append(Item(folders[depth - 1], FOLDER))
        if kind != FOLDER:
            self._folders[folders].files[path[-1]] = member
            self._folders[folders].items.append(Item(path[-1], kind, _time(member)))


@dataclass(frozen=True, slots=True)
class InArchive:
    """A folder in an archive; a `Place`."""

    archive: Archive
    path: tuple[str, ...]
    origin: str

    def items(self) -> list[Item]:
        return self.archive.contents(self.path)

    def enter(self, name: str) -> InArchive:
        return InArchive(self.archive, (*self.path, name), f"{self.origin}/{show(name)}")

    def read(self, name: str, most: int) -> bytes:
        return self.archive.read((*self.path, name), most)


def _refuse_what_is_no_zip(file: BinaryIO, name: str) -> None:
    start = file.read(512)
    file.seek(0)
    if not start:
        raise Refusal(f"{name} is empty")
    if start.startswith(_BEGINNINGS):
        return
    kind = "a tar archive" if start[257:262] == b"ustar" else "no zip archive"
    for mark, other in _OTHERS.items():
        if start.startswith(mark):
            kind = other
    raise Refusal(f"{name} is {kind}: hand in the file itself or a real zip")


def _real_name(member: zipfile.ZipInfo) -> str:
    """Return the whole name with its control characters. It is read as UTF-8 also if the archive does not say so."""
    name = member.orig_filename
    if member.flag_bits & _UTF8:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _kind(member: zipfile.ZipInfo) -> str:
    mode = stat.S_IFMT(member.external_attr >> 16)
    if mode == stat.S_IFLNK:
        return "symbolic link"
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "device"
    return FOLDER if member.orig_filename.endswith("/") else FILE


def _time(member: zipfile.ZipInfo) -> float:
    try:
        return datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError, OSError):  # the thirteenth month, say
        return 0.0

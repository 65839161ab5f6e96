"""A folder on the disk."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from softmark.intake import source
from softmark.intake.location import FILE, FOLDER, Item
from softmark.intake.names import show
from softmark.intake.source import Refusal, Unreadable

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
    """Looked into without following a link."""

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
            return source.read(self.path / name, most)
        except Unreadable as why:  # its words are for whoever named the path: the student did not
            raise Refusal(f"{show(name)} could not be read where it is kept: tell your instructor") from why


def _item(entry: os.DirEntry[str]) -> Item:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it has just vanished; whoever reads it is told so
        return Item(entry.name, FILE)
    return Item(entry.name, _KINDS.get(stat.S_IFMT(status.st_mode), "device"), status.st_mtime)

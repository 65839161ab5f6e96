"""A folder, on the disk or in an archive, seen the same way: what lies in it, and the bytes of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

FILE, FOLDER = "file", "folder"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in a folder: a file, a folder, or what else it is ("symbolic link", "named pipe")."""

    name: str
    kind: str
    modified: float = 0.0
    """Seconds on some clock; only compared with each other."""


class Place(Protocol):
    """A folder that can be looked into; nothing is ever written, and no link is followed."""

    @property
    def origin(self) -> str:
        """What a person would call it, fit to be shown."""
        ...

    def items(self) -> list[Item]:
        """What lies directly in it, by name; Refusal if it cannot be listed."""
        ...

    def enter(self, name: str) -> Place: ...

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file; Refusal if it cannot be read or has more than `most`."""
        ...

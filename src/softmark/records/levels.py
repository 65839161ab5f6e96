"""Isolation levels: how much stands between a student's code and everything else."""

from __future__ import annotations

from enum import Enum


class Level(Enum):
    """Ordered from nothing to everything; see docs/how-it-works.md for what each one stops."""

    NONE = "none"
    PROCESS = "process"
    USER = "user"
    FULL = "full"

    @property
    def rank(self) -> int:
        return list(Level).index(self)

    def __le__(self, other: Level) -> bool:
        return self.rank <= other.rank

    def __lt__(self, other: Level) -> bool:
        return self.rank < other.rank

    def __str__(self) -> str:
        return self.value

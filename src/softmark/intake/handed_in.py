"""What was found in a source, student by student: light until it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Protocol

from softmark.intake.wanted import Wanted
from softmark.records.result import Student

_NOTHING: Mapping[str, bytes] = MappingProxyType({})


@dataclass(frozen=True)
class HandedIn:
    """The files of one submission, or why it cannot be graded."""

    main: str = ""
    """The name it is graded as: the homework's file or notebook; empty if it is refused."""
    files: Mapping[str, bytes] = field(default_factory=lambda: _NOTHING)
    """`main`, and what may be imported or opened from beside it; names may have folders: `helpers/masks.py`."""
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    refusal: str = ""
    """Why it cannot be graded, one sentence for the student; empty if it can."""


class Source(Protocol):
    """Where the files of one submission lie."""

    def load(self, wanted: Wanted) -> HandedIn:
        """Read them now; whatever the student did is a refusal, never an exception."""
        ...


@dataclass(frozen=True)
class Entry:
    """The attempt of one student (or group) that counts: found, not yet read."""

    id: str
    """Unique in its collection, safe as a folder's name, the same in every run."""
    students: tuple[Student, ...]
    origin: str
    """Where in the source it lies, as a person would say it."""
    source: Source
    submitted_at: datetime | None = None
    """With a time zone if the source gives one."""
    late: bool | None = None
    """What the platform says; None if it does not say."""
    due_at: datetime | None = None
    earlier: tuple[str, ...] = ()
    """Earlier attempts, which do not count."""

    def load(self, wanted: Wanted) -> HandedIn:
        """Read the bytes and choose the file that is graded."""
        return self.source.load(wanted)


@dataclass(frozen=True)
class Collection:
    """Everything that was found in the paths that were given."""

    format: str
    entries: tuple[Entry, ...]
    ignored: tuple[str, ...] = ()
    """What is nobody's submission: an export's own files, say."""
    doubts: tuple[str, ...] = ()
    """Whatever of it may be somebody's submission after all: a run says it first, and ends with exit code 1."""

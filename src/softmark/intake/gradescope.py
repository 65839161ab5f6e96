"""Gradescope's "Export Submissions": a folder for each submission, and `submission_metadata.yml` on whose it is.

    submission_123:
      :submitters:
      - :name: Submitter One
        :sid: '1001'
        :email: one@example.com
      :created_at: 2026-04-26 17:34:00.861687000 Z
      :score: 2.0
      :history:
      - :id: 122
        :created_at: 2026-04-25 11:00:00.000000000 Z

The file is written by Ruby, always in this shape, and holds every result a student has seen: hundreds of megabytes of
other people's text, and tags that a safe YAML loader refuses. So it is read line by line, by depth: what a student can
write stands deeper than any of these keys, and cannot pass for one.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from softmark.course.homework import Homework
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.model import Collection, Entry
from softmark.intake.names import moment, safe_id, show
from softmark.intake.places import FILE, FOLDER, Item, Place, Refusal, Unreadable, read
from softmark.intake.plain import by_name
from softmark.records.result import Submission, Submitter

METADATA, LARGEST_METADATA = "submission_metadata.yml", 400_000_000
_FOLDER = re.compile(r"submission_\w+")
_DEEPER = re.compile(rb"^ {4}")
_LINE = re.compile(r"^(?P<indent> *)(?P<item>- )?:?(?P<key>\w+):(?: (?P<value>.*))?$")
_ESCAPES = {"n": " ", "t": " ", "e": "\x1b", "0": "\0", '"': '"', "\\": "\\", "/": "/", " ": " "}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


@dataclass
class ExportRecord:
    """The export's record of one submission."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    created_at: str = ""
    history: list[dict[str, str]] = field(default_factory=list)


def recognise_gradescope(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return the submissions of an export; each other thing in it is a student's by its own name."""
    if not any(item.name == METADATA and item.kind == FILE for item in items):
        return None
    folders = [item for item in items if item.kind == FOLDER and _FOLDER.fullmatch(item.name)]
    others = by_name(place, [item for item in items if item not in folders and item.name != METADATA], homework)
    if len(folders) <= len(others.entries):
        return None
    records = read_export(io.BytesIO(place.read(METADATA, LARGEST_METADATA)))
    without = [name for name in records if name not in {item.name for item in folders}]
    return Collection(
        "Gradescope export",
        tuple(_entry(place, item, records.get(item.name, ExportRecord())) for item in folders) + others.entries,
        others.ignored + tuple(f"{place.origin}/{METADATA}: {show(name)} has no folder" for name in without),
    )


def _entry(place: Place, item: Item, record: ExportRecord) -> Entry:
    submission = Submission(
        id=safe_id(item.name),
        students=tuple(map(_submitter, record.submitters)) or (Submitter(item.name),),
        origin=f"{place.origin}/{item.name}",
        submitted_at=moment(record.created_at),
        earlier=tuple(f"submitted at {show(past.get('created_at', 'an unknown time'))}" for past in record.history),
    )
    return Entry(submission, Pieces((Piece(place, item, ()),)))


def _submitter(submitter: dict[str, str]) -> Submitter:
    name, email = show(submitter.get("name", "")), show(submitter.get("email", ""))
    return Submitter(show(submitter.get("sid", "")) or email or name, name, email)


def read_export(lines: Iterable[bytes]) -> dict[str, ExportRecord]:
    """Return the records by folder; lines that are not of this form are passed over."""
    records: dict[str, ExportRecord] = {}
    record, section = ExportRecord(), ""
    for raw in lines:
        if section == "" and _DEEPER.match(raw):
            continue  # results, which are most of the file
        found = _LINE.match(raw.decode("utf-8", "replace").rstrip("\r\n"))
        if not found:
            continue
        depth, name, value = len(found["indent"]), found["key"], _text(found["value"] or "")
        if depth == 0 and not found["item"]:
            record, section = records.setdefault(name, ExportRecord()), ""
        elif depth == 2 and not found["item"]:
            section = name if name in ("submitters", "history", "created_at") else ""
            if name == "created_at":
                record.created_at = value
        elif section == "created_at" and depth == 4 and name == "utc":
            record.created_at = record.created_at if moment(record.created_at) else value
        elif section in ("submitters", "history") and depth == (2 if found["item"] else 4):
            _add(record.submitters if section == "submitters" else record.history, name, value, bool(found["item"]))
    return records


def _add(records: list[dict[str, str]], name: str, value: str, is_new: bool) -> None:
    if is_new or not records:
        records.append({})
    if name in ("name", "sid", "email", "created_at", "id"):
        records[-1][name] = value


def _text(value: str) -> str:
    """Return a scalar of one line: plain, or in either kind of quotes."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(_unescaped, value[1:-1])
    return "" if value in ("null", "~") else value


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code:
        return chr(min(int(code, 16), 0x10FFFF))
    return _ESCAPES.get(found[4], found[4])


METADATA_JSON, _LARGEST_JSON = "submission_metadata.json", 50_000_000


@dataclass(frozen=True)
class EarlierAttempt:
    """An earlier attempt, as the platform remembers it."""

    submitted_at: datetime | None = None
    score: float | None = None
    autograder_error: bool = False
    """True if the autograder failed, which is not the student's fault."""


@dataclass(frozen=True)
class Assignment:
    """The assignment, as the platform describes it."""

    due_at: datetime | None = None
    late_due_at: datetime | None = None
    total_points: float | None = None
    """The score with the points that are given by hand."""


@dataclass(frozen=True)
class Metadata:
    """The students of a submission, its time, and the attempts before it."""

    id: str = ""
    created_at: datetime | None = None
    users: tuple[Submitter, ...] = ()
    assignment: Assignment = Assignment()
    earlier: tuple[EarlierAttempt, ...] = ()
    """Earlier attempts in the platform's order: the latest last."""
    staff_notes: tuple[str, ...] = ()


def read_metadata(path: Path) -> Metadata:
    """Return the content of the file. A field of an unexpected type is a note for staff."""
    try:
        content = json.loads(read(path, _LARGEST_JSON))
    except Unreadable as error:
        return Metadata(staff_notes=(f"nothing is known about the submission: {error}",))
    except (Refusal, ValueError, RecursionError) as error:
        return Metadata(
            staff_notes=(f"nothing is known about the submission: {METADATA_JSON} cannot be read: {error}",)
        )
    notes: list[str] = []
    top = _Table(content, "", notes)
    return Metadata(
        id=top.text("id"),
        created_at=top.time("created_at"),
        users=tuple(_student(user) for user in top.tables("users")),
        assignment=_assignment(top.table("assignment")),
        earlier=tuple(_earlier(one) for one in top.tables("previous_submissions")),
        staff_notes=tuple(notes),
    )


def _student(user: _Table) -> Submitter:
    name, email = show(user.text("name")), show(user.text("email"))
    return Submitter(id=email or show(user.text("id")), name=name, email=email)


def _assignment(about: _Table) -> Assignment:
    return Assignment(
        due_at=about.time("due_date"),
        late_due_at=about.time("late_due_date"),
        total_points=about.number("total_points"),
    )


def _earlier(about: _Table) -> EarlierAttempt:
    score = about.number("score")
    if score is None:  # only the latest one has its results
        score = about.table("results").number("score")
    return EarlierAttempt(about.time("submission_time"), score, about.truth("autograder_error"))


class _Table:
    """A JSON object whose values are asked for by type; null and a missing key are the same."""

    def __init__(self, content: Any, name: str, notes: list[str]) -> None:
        self._name, self._notes = name, notes
        self._content: dict[str, Any] = content if isinstance(content, dict) else {}
        if content is not None and not isinstance(content, dict):
            self._odd(name, content, "an object")

    def text(self, key: str) -> str:
        value = self._content.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is None or isinstance(value, str):
            return value or ""
        self._odd(self._path(key), value, "text")
        return ""

    def number(self, key: str) -> float | None:
        """Return a finite number, also one written as text: the platform's total_points is "20.0"."""
        value = self._content.get(key)
        if value is None or value == "":
            return None
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            self._odd(self._path(key), value, "a number")
            return None
        return number

    def truth(self, key: str) -> bool:
        value = self._content.get(key)
        if value is not None and not isinstance(value, bool):
            self._odd(self._path(key), value, "true or false")
        return value is True

    def time(self, key: str) -> datetime | None:
        text = self.text(key)
        found = moment(text)
        if text and found is None:
            self._odd(self._path(key), text, "a time")
        return found

    def table(self, key: str) -> _Table:
        return _Table(self._content.get(key), self._path(key), self._notes)

    def tables(self, key: str) -> list[_Table]:
        value = self._content.get(key)
        if isinstance(value, list):
            return [_Table(one, f"{self._path(key)}[{index}]", self._notes) for index, one in enumerate(value)]
        if value is not None:
            self._odd(self._path(key), value, "a list")
        return []

    def _path(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key

    def _odd(self, path: str, value: Any, expected: str) -> None:
        written = show(json.dumps(value)[:60])
        self._notes.append(f"{METADATA_JSON}: {path or 'the whole'} is {written}, not {expected}: ignored")

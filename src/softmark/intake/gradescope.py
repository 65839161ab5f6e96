"""Gradescope's "Export Submissions": a folder for each submission, and `submission_metadata.yml` on whose it is.

    submission_123:
      :submitters:
      - :name: Student One
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
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry
from softmark.intake.location import FILE, FOLDER, Item, Place
from softmark.intake.names import safe_id, show
from softmark.intake.plain import by_name
from softmark.intake.submission import Submission
from softmark.intake.timestamps import moment
from softmark.intake.wanted import Wanted
from softmark.records.result import Student

METADATA, LARGEST_METADATA = "submission_metadata.yml", 400_000_000
_FOLDER = re.compile(r"submission_\w+")
_DEEPER = re.compile(rb"^ {4}")
_LINE = re.compile(r"^(?P<indent> *)(?P<item>- )?:?(?P<key>\w+):(?: (?P<value>.*))?$")
_ESCAPES = {"n": " ", "t": " ", "e": "\x1b", "0": "\0", '"': '"', "\\": "\\", "/": "/", " ": " "}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


@dataclass
class Record:
    """What the export says of one submission."""

    submitters: list[dict[str, str]] = field(default_factory=list)
    created_at: str = ""
    history: list[dict[str, str]] = field(default_factory=list)


def recognise(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    """Return the submissions of an export; what else lies there is a student's by its own name."""
    if not any(item.name == METADATA and item.kind == FILE for item in items):
        return None
    folders = [item for item in items if item.kind == FOLDER and _FOLDER.fullmatch(item.name)]
    others = by_name(place, [item for item in items if item not in folders and item.name != METADATA], wanted)
    if len(folders) <= len(others.entries):
        return None
    records = read_metadata(io.BytesIO(place.read(METADATA, LARGEST_METADATA)))
    without = [name for name in records if name not in {item.name for item in folders}]
    return Collection(
        "Gradescope export",
        tuple(_entry(place, item, records.get(item.name, Record())) for item in folders) + others.entries,
        others.ignored + tuple(f"{place.origin}/{METADATA}: {show(name)} has no folder" for name in without),
    )


def _entry(place: Place, item: Item, record: Record) -> Entry:
    return Entry(
        id=safe_id(item.name),
        students=tuple(map(_student, record.submitters)) or (Student(item.name),),
        origin=f"{place.origin}/{item.name}",
        source=Submission((Piece(place, item, ()),)),
        submitted_at=moment(record.created_at),
        earlier=tuple(f"submitted at {show(past.get('created_at', 'an unknown time'))}" for past in record.history),
    )


def _student(submitter: dict[str, str]) -> Student:
    name, email = show(submitter.get("name", "")), show(submitter.get("email", ""))
    return Student(show(submitter.get("sid", "")) or email or name, name, email)


def read_metadata(lines: Iterable[bytes]) -> dict[str, Record]:
    """The records by folder; lines that are none of ours are passed over."""
    records: dict[str, Record] = {}
    record, section = Record(), ""
    for raw in lines:
        if section == "" and _DEEPER.match(raw):
            continue  # results, by far the most of it
        found = _LINE.match(raw.decode("utf-8", "replace").rstrip("\r\n"))
        if not found:
            continue
        depth, name, value = len(found["indent"]), found["key"], _text(found["value"] or "")
        if depth == 0 and not found["item"]:
            record, section = records.setdefault(name, Record()), ""
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
    """A scalar of one line: plain, or in either kind of quotes."""
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

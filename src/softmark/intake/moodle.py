"""Moodle's "Download all submissions": a folder for each student, or (a teacher's choice) one flat folder.

Student One_1001_assignsubmission_file/attention_scores.py     (older versions: `..._file_/`)
Student One_1001_assignsubmission_file_attention_scores.py
"""

from __future__ import annotations

import re
from collections import defaultdict

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry
from softmark.intake.location import FOLDER, Item, Place
from softmark.intake.names import safe_id, show
from softmark.intake.plain import by_name, named
from softmark.intake.submission import Refused, Submission
from softmark.intake.wanted import Wanted
from softmark.records.result import Student

_MARK = "_assignsubmission_"
_OWNER = rf"(?P<prefix>(?P<student>.+?)(?:_(?P<participant>\d+))?){_MARK}(?P<kind>[a-z]+)"
_NAME = re.compile(rf"{_OWNER}(?:_(?P<file>.*))?")
_NAME_OF_A_FOLDER = re.compile(rf"{_OWNER}_?(?P<file>)")
_Match = tuple[Item, re.Match[str]]


def recognise(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    """Return the submissions of a download; what else lies there is a student's by its own name."""
    by_student: dict[str, list[_Match]] = defaultdict(list)
    unclear, others = [], []
    for item in items:
        found = _owner(item)
        if found:
            by_student[found["prefix"]].append((item, found))
        elif _MARK in item.name:
            unclear.append(item)
        else:
            others.append(item)
    beside = by_name(place, others, wanted)
    if len(by_student) + len(unclear) <= len(beside.entries):
        return None
    entries = [*(_entry(place, m) for m in by_student.values()), *(_unclear(place, item) for item in unclear)]
    return Collection("Moodle download", (*entries, *beside.entries), beside.ignored)


def _owner(item: Item) -> re.Match[str] | None:
    """Return whose an item is; None if its name does not say, or can be read in two ways.

    Names of students and of their files may contain Moodle's own mark. A folder's name ends with the mark, so the last
    one counts. In the name of a file nothing tells which one is Moodle's.
    """
    if item.kind == FOLDER and (found := _NAME_OF_A_FOLDER.fullmatch(item.name)):
        return found
    found = _NAME.fullmatch(item.name)
    return found if found and item.name.count(_MARK) == 1 and (item.kind == FOLDER or found["file"]) else None


def _unclear(place: Place, item: Item) -> Entry:
    why = "it cannot be told whose this is, because its name can be read in two ways: tell your instructor"
    return named(item.name, f"{place.origin}/{show(item.name)}", Refused(why))


def _entry(place: Place, matches: list[_Match]) -> Entry:
    """The files of one student; what was typed into Moodle's own editor counts only if there is no file."""
    handed_in = [match for match in matches if match[1]["kind"] == "file"] or matches
    _, name = handed_in[0]
    return Entry(
        id=safe_id(name["prefix"]),
        students=(Student(name["participant"] or safe_id(name["prefix"]), show(name["student"])),),
        origin=", ".join(f"{place.origin}/{show(item.name)}" for item, _ in handed_in),
        source=Submission(tuple(Piece(place, item, _called(item, match)) for item, match in handed_in)),
    )


def _called(item: Item, found: re.Match[str]) -> tuple[str, ...]:
    return () if item.kind == FOLDER else (found["file"],)

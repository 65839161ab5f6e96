"""Moodle's "Download all submissions": a folder for each student, or (a teacher's choice) one flat folder.

Student One_1001_assignsubmission_file/attention_scores.py     (older versions: `..._file_/`)
Student One_1001_assignsubmission_file_attention_scores.py
"""

from __future__ import annotations

import re
from collections import defaultdict

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry, Student
from softmark.intake.names import safe_id, show
from softmark.intake.place import FOLDER, Item, Place
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

_NAME = re.compile(
    r"(?P<prefix>(?P<student>.+?)(?:_(?P<participant>\d+))?)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?"
)
_Match = tuple[Item, re.Match[str]]


def recognise(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    by_student: dict[str, list[_Match]] = defaultdict(list)
    ignored = []
    for item in items:
        found = _NAME.fullmatch(item.name)
        if found and (item.kind == FOLDER or found["file"]):
            by_student[found["prefix"]].append((item, found))
        else:
            ignored.append(f"{place.origin}/{show(item.name)}")
    if not by_student or len(ignored) > sum(map(len, by_student.values())):
        return None
    return Collection("Moodle download", tuple(_entry(place, m) for m in by_student.values()), tuple(ignored))


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

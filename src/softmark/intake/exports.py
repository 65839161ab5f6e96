"""Reads what Canvas and Moodle give when all submissions are downloaded.

Canvas's "Download Submissions" is one flat folder. Its names are made of student, lateness, numbers and file name:

oneastudent_LATE_1001_500123_attention_scores-1.py
└ name      └    └ user └ file └ as the student called it, and Canvas's -1 if they had handed in that name before

Moodle's "Download all submissions" is a folder for each student, or (a teacher's choice) one flat folder:

Submitter One_1001_assignsubmission_file/attention_scores.py     (older versions: `..._file_/`)
Submitter One_1001_assignsubmission_file_attention_scores.py
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from softmark.course.homework import Homework
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.model import Collection, Entry, RefusedSource
from softmark.intake.names import key, safe_id, show
from softmark.intake.places import FOLDER, Item, Place
from softmark.intake.plain import by_name, named
from softmark.records.result import Submission, Submitter

_REST = r"_(?:(?P<file>\d+)_(?P<original>.+)|(?P<entered>(?:text|link)\.html))"
_USER = r"(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
_NAMES = tuple(  # in this order: a student whose name is a number is no other student's number
    tuple(re.compile(owner + _REST) for owner in owners)
    for owners in (
        (r"(?P<student>)(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)",),
        (rf"(?!LATE_)(?P<student>\w+?)_{_USER}", rf"(?!LATE_)(?P<student>\w+)_{_USER}"),
        (rf"(?P<student>){_USER}",),
    )
)
_ALIKE = 2.0
"""The largest factor between the numbers of one assignment's files. Numbers of users are much farther away."""
_AGAIN = re.compile(r"-(\d{1,3})(?=(?:\.[A-Za-z][A-Za-z0-9]*)?\.[A-Za-z0-9]+$)")
_NOT_SURE = "another file has the number in its name, or another student, so it is graded by its own name"


@dataclass(frozen=True)
class _Upload:
    """One file of the download, and the fields of its name."""

    item: Item
    user: str
    student: str
    late: bool
    original: str
    order: tuple[int, int]

    @property
    def shown(self) -> str:
        return show(self.item.name)


def recognise_canvas(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return the submissions of a download; each other thing in it is a student's by its own name."""
    alike = _uploads([item for item in items if item.kind != FOLDER])
    uploads = _sure(alike)
    ours = {upload.item for upload in uploads}
    beside = by_name(place, [item for item in items if item not in ours], homework)
    if len(uploads) <= len(beside.entries):
        return None
    by_user: dict[str, list[_Upload]] = defaultdict(list)
    for upload in uploads:
        by_user[upload.user].append(upload)
    entries = tuple(_canvas_entry(place, of_user) for of_user in by_user.values())
    doubts = [f"{place.origin}/{upload.shown}: {_NOT_SURE}" for upload in alike if upload.item not in ours]
    return Collection("Canvas download", entries + beside.entries, beside.ignored, tuple(doubts))


def _sure(uploads: list[_Upload]) -> list[_Upload]:
    """Return the uploads that are surely Canvas's: no other file has their number, and their user has one name.

    So `hw1_2026_01_one.py` and `hw1_2026_01_two.py` are no uploads of Canvas.
    """
    numbers = Counter(upload.order[1] for upload in uploads if upload.order[1])
    names: dict[str, set[str]] = defaultdict(set)
    for upload in uploads:
        names[upload.user].add(upload.student)
    return [upload for upload in uploads if numbers[upload.order[1]] <= 1 and len(names[upload.user]) == 1]


def _uploads(items: list[Item]) -> list[_Upload]:
    """Return the fields of Canvas's names.

    A name such as `ada_7_12_500123_hw.py` can be read in two ways, if the student is called `ada_7`. Then the reading
    counts whose file number is nearest to those of the other files.
    """
    read = [readings for item in items if (readings := _readings(item))]
    numbers = sorted(readings[0].order[1] for readings in read if readings[0].order[1])
    usual = numbers[len(numbers) // 2] if numbers else 0
    return [next((one for one in readings if _is_like(one.order[1], usual)), readings[0]) for readings in read]


def _is_like(number: int, usual: int) -> bool:
    return usual <= _ALIKE * number <= _ALIKE * _ALIKE * usual


def _readings(item: Item) -> list[_Upload]:
    """Return what a name may say, the likeliest first; nothing if it is none of Canvas's."""
    for patterns in _NAMES:
        found = [match for pattern in patterns if (match := pattern.fullmatch(item.name))]
        if found:
            return [_upload(item, match) for match in found]
    return []


def _upload(item: Item, found: re.Match[str]) -> _Upload:
    original = found["original"] or found["entered"]
    again = _AGAIN.search(original)
    return _Upload(
        item,
        user=found["user"],
        student=found["student"],
        late=bool(found["late"]),
        original=_AGAIN.sub("", original),
        order=(int(again[1]) if again else 0, int((found["file"] or "0")[:18])),
    )


def _canvas_entry(place: Place, uploads: list[_Upload]) -> Entry:
    """Return the entry of a student: of several uploads with the same name, the last counts."""
    last: dict[str, _Upload] = {}
    earlier = []
    for upload in sorted(uploads, key=lambda upload: upload.order):
        if key(upload.original) in last:
            earlier.append(last[key(upload.original)].shown)
        last[key(upload.original)] = upload
    newest = max(last.values(), key=lambda upload: upload.order[1])
    submission = Submission(
        id=safe_id("_".join(filter(None, (newest.student, newest.user)))),
        students=(Submitter(newest.user, show(newest.student)),),
        origin=", ".join(f"{place.origin}/{upload.shown}" for upload in last.values()),
        late=newest.late,
        earlier=tuple(earlier),
    )
    pieces = tuple(Piece(place, upload.item, (upload.original,)) for upload in last.values())
    return Entry(submission, Pieces(pieces))


_MARK = "_assignsubmission_"
_OWNER = rf"(?P<prefix>(?P<student>.+?)(?:_(?P<participant>\d+))?){_MARK}(?P<kind>[a-z]+)"
_NAME = re.compile(rf"{_OWNER}(?:_(?P<file>.*))?")
_NAME_OF_A_FOLDER = re.compile(rf"{_OWNER}_?(?P<file>)")
_Match = tuple[Item, re.Match[str]]


def recognise_moodle(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return the submissions of a download; each other thing in it is a student's by its own name."""
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
    beside = by_name(place, others, homework)
    if len(by_student) + len(unclear) <= len(beside.entries):
        return None
    entries = [*(_moodle_entry(place, m) for m in by_student.values()), *(_unclear(place, item) for item in unclear)]
    return Collection("Moodle download", (*entries, *beside.entries), beside.ignored)


def _owner(item: Item) -> re.Match[str] | None:
    """Return the student of an item; None if its name does not say, or can be read in two ways.

    Names of students and of their files may contain Moodle's own mark. A folder's name ends with the mark, so the last
    one counts. The name of a file does not show which of several marks is Moodle's.
    """
    if item.kind == FOLDER and (found := _NAME_OF_A_FOLDER.fullmatch(item.name)):
        return found
    found = _NAME.fullmatch(item.name)
    return found if found and item.name.count(_MARK) == 1 and (item.kind == FOLDER or found["file"]) else None


def _unclear(place: Place, item: Item) -> Entry:
    why = "it cannot be told whose this is, because its name can be read in two ways: tell your instructor"
    return named(item.name, f"{place.origin}/{show(item.name)}", RefusedSource(why))


def _moodle_entry(place: Place, matches: list[_Match]) -> Entry:
    """Return the files of one student; what was typed into Moodle's own editor counts only if there is no file."""
    handed_in = [match for match in matches if match[1]["kind"] == "file"] or matches
    _, name = handed_in[0]
    submission = Submission(
        id=safe_id(name["prefix"]),
        students=(Submitter(name["participant"] or safe_id(name["prefix"]), show(name["student"])),),
        origin=", ".join(f"{place.origin}/{show(item.name)}" for item, _ in handed_in),
    )
    return Entry(submission, Pieces(tuple(Piece(place, item, _called(item, match)) for item, match in handed_in)))


def _called(item: Item, found: re.Match[str]) -> tuple[str, ...]:
    return () if item.kind == FOLDER else (found["file"],)

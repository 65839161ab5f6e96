"""Canvas's "Download Submissions": one flat folder, names made of student, lateness, numbers and the file's own name.

oneastudent_LATE_1001_500123_attention_scores-1.py
└ name      └    └ user └ file └ as the student called it, and Canvas's -1 if they had handed in that name before
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry, Student
from softmark.intake.names import key, safe_id, show
from softmark.intake.place import FOLDER, Item, Place
from softmark.intake.plain import by_name
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

_REST = r"_(?:(?P<file>\d+)_(?P<original>.+)|(?P<entered>(?:text|link)\.html))"
_NAMES = tuple(  # in this order: a student whose name is a number is no other student's number
    re.compile(owner + _REST)
    for owner in (
        r"(?P<student>)(?P<late>LATE_)?(?P<user>anon_[A-Za-z0-9]+)",
        r"(?!LATE_)(?P<student>\w+?)_(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)",
        r"(?P<student>)(?P<late>LATE_)?(?P<user>\d+)",
    )
)
_AGAIN = re.compile(r"-(\d{1,3})(?=(?:\.[A-Za-z][A-Za-z0-9]*)?\.[A-Za-z0-9]+$)")
_NOT_SURE = "another file has the number in its name, or another student, so it is graded by its own name"


@dataclass(frozen=True)
class _Upload:
    """One file of the download, and what its name says."""

    item: Item
    user: str
    student: str
    late: bool
    original: str
    order: tuple[int, int]

    @property
    def shown(self) -> str:
        return show(self.item.name)


def recognise(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    """Return the submissions of a download; what else lies there is a student's by its own name."""
    alike = [upload for item in items if item.kind != FOLDER and (upload := _upload(item))]
    uploads = _sure(alike)
    ours = {upload.item for upload in uploads}
    beside = by_name(place, [item for item in items if item not in ours], wanted)
    if len(uploads) <= len(beside.entries):
        return None
    by_user: dict[str, list[_Upload]] = defaultdict(list)
    for upload in uploads:
        by_user[upload.user].append(upload)
    entries = tuple(_entry(place, of_user) for of_user in by_user.values())
    doubts = [f"{place.origin}/{upload.shown}: {_NOT_SURE}" for upload in alike if upload.item not in ours]
    return Collection("Canvas download", entries + beside.entries, beside.ignored, tuple(doubts))


def _sure(uploads: list[_Upload]) -> list[_Upload]:
    """Return the uploads that are Canvas's for sure: no other file has their number, and their user has one name.

    `hw1_2026_01_one.py` and `hw1_2026_01_two.py` are none.
    """
    numbers = Counter(upload.order[1] for upload in uploads if upload.order[1])
    names: dict[str, set[str]] = defaultdict(set)
    for upload in uploads:
        names[upload.user].add(upload.student)
    return [upload for upload in uploads if numbers[upload.order[1]] <= 1 and len(names[upload.user]) == 1]


def _upload(item: Item) -> _Upload | None:
    found = next((match for pattern in _NAMES if (match := pattern.fullmatch(item.name))), None)
    if not found:
        return None
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


def _entry(place: Place, uploads: list[_Upload]) -> Entry:
    """Of several uploads of one name the last counts."""
    last: dict[str, _Upload] = {}
    earlier = []
    for upload in sorted(uploads, key=lambda upload: upload.order):
        if key(upload.original) in last:
            earlier.append(last[key(upload.original)].shown)
        last[key(upload.original)] = upload
    newest = max(last.values(), key=lambda upload: upload.order[1])
    return Entry(
        id=safe_id("_".join(filter(None, (newest.student, newest.user)))),
        students=(Student(newest.user, show(newest.student)),),
        origin=", ".join(f"{place.origin}/{upload.shown}" for upload in last.values()),
        source=Submission(tuple(Piece(place, upload.item, (upload.original,)) for upload in last.values())),
        late=newest.late,
        earlier=tuple(earlier),
    )

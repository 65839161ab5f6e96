"""Canvas's "Download Submissions": one flat folder, names made of student, lateness, numbers and the file's own name.

oneastudent_LATE_1001_500123_attention_scores-1.py
└ name      └    └ user └ file └ as the student called it, and Canvas's -1 if they had handed in that name before
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry, Student
from softmark.intake.names import key, safe_id, show
from softmark.intake.place import FOLDER, Item, Place
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

_NAME = re.compile(
    r"(?:(?P<student>\w+?)_)??(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
    r"_(?:(?P<file>\d+)_(?P<original>.+)|(?P<entered>(?:text|link)\.html))"
)
_AGAIN = re.compile(r"-(\d{1,3})(?=(?:\.[A-Za-z][A-Za-z0-9]*)?\.[A-Za-z0-9]+$)")


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
    uploads = [upload for item in items if item.kind != FOLDER and (upload := _upload(item))]
    if not _is_canvas(uploads, len(items)):
        return None
    by_user: dict[str, list[_Upload]] = defaultdict(list)
    for upload in uploads:
        by_user[upload.user].append(upload)
    ours = {upload.item for upload in uploads}
    return Collection(
        "Canvas download",
        tuple(_entry(place, of_user) for of_user in by_user.values()),
        tuple(f"{place.origin}/{show(item.name)}" for item in items if item not in ours),
    )


def _is_canvas(uploads: list[_Upload], items: int) -> bool:
    """No file has another's number and no user two names, as in `hw1_2026_01_one.py` and `hw1_2026_01_two.py`."""
    if not uploads or 2 * len(uploads) < items:
        return False
    numbers = [upload.order[1] for upload in uploads if upload.order[1]]
    names = {(upload.user, upload.student) for upload in uploads}
    return len(set(numbers)) == len(numbers) and len({user for user, _ in names}) == len(names)


def _upload(item: Item) -> _Upload | None:
    found = _NAME.fullmatch(item.name)
    if not found:
        return None
    original = found["original"] or found["entered"]
    again = _AGAIN.search(original)
    return _Upload(
        item,
        user=found["user"],
        student=found["student"] or "",
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

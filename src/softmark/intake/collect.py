"""Finds the submissions in the paths that were named: a file, a folder, a zip, a platform's export.

Nobody says which kind a path is; it is recognised.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from softmark.course.homework import Homework
from softmark.intake import plain
from softmark.intake.archive import OF_A_CLASS, Archive
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.exports import recognise_canvas, recognise_moodle
from softmark.intake.gradescope import recognise_gradescope
from softmark.intake.model import Collection, Entry, RefusedSource
from softmark.intake.names import ending, show, unique_ids
from softmark.intake.nbgrader import recognise_nbgrader
from softmark.intake.places import FILE, FOLDER, Folder, Item, Place, Refusal, Unreadable, open_regular

Recognise = Callable[[Place, list[Item], Homework], Collection | None]
RECOGNISED: tuple[Recognise, ...] = (
    recognise_gradescope, recognise_moodle, recognise_canvas, recognise_nbgrader, plain.single,
)  # fmt: skip
"""The kinds in this order, because an export has signs that nothing else has."""
MOST_WRAPPING = 8
ONE_FILE = "one file"


def collect(paths: Sequence[Path], homework: Homework, before: Mapping[str, str] = MappingProxyType({})) -> Collection:
    """Return all submissions in `paths`; raise Unreadable if one cannot be read, or if there is no submission in any.

    `before` has the ids that submissions had in earlier runs, by their origins: they keep them.
    """
    found = [_collected(path, homework, alone=len(paths) == 1) for path in paths]
    if len(paths) > 1:
        found = _as_most_are(paths, found, homework)
    found = [_told_apart(collection, before) for collection in found]
    entries = [entry for each in found for entry in each.entries]
    if not entries:
        where = ", ".join(show(str(path)) for path in paths)
        raise Unreadable(f"no submission in {where}: expected {homework.file}, or a file or folder for each student")
    identities = unique_ids([e.id for e in entries], [e.submission.origin for e in entries], before)
    return Collection(
        format=", ".join(dict.fromkeys(each.format for each in found)),
        entries=tuple(_with(entry, id=identity) for entry, identity in zip(entries, identities, strict=True)),
        ignored=tuple(item for each in found for item in each.ignored),
        doubts=tuple(item for each in found for item in each.doubts),
    )


def _collected(path: Path, homework: Homework, alone: bool) -> Collection:
    """Return what one path holds.

    If the only path is a broken archive, raise Unreadable. Among several paths, it is an entry that is refused.
    """
    name = Path(os.path.abspath(path)).name
    if os.path.isdir(path):
        try:
            return _in_tree(Folder(path, show(name)), homework)
        except Refusal as why:
            raise Unreadable(str(why)) from why
    with open_regular(path):
        pass  # a path that cannot be read is reported now, not when its turn has come
    if path.suffix.casefold() != ".zip":
        return Collection(ONE_FILE, (_file(path, homework, alone),))
    try:
        archive = Archive(open_regular(path), show(name), OF_A_CLASS)
        collection = _in_tree(archive.root, homework)
    except Refusal as why:
        if alone:
            raise Unreadable(str(why)) from why
        return Collection(ONE_FILE, (plain.named(path.stem, show(name), RefusedSource(str(why))),))
    refused = tuple(f"{archive.name}: the name {member} leads out of the archive" for member in archive.refused)
    return _adding_to(collection, refused, refused)


def _as_most_are(paths: Sequence[Path], found: Sequence[Collection], homework: Homework) -> list[Collection]:
    """Return each path's collection; if most paths are one submission each, all of them are.

    A student can hand in a folder that looks like a whole class, with the names of others in it.
    """
    named = [_named_by_path(collection, path) for collection, path in zip(found, paths, strict=True)]
    classes = [collection for collection in named if not _is_one(collection)]
    if 2 * len(classes) >= len(named):
        return named
    return [
        collection if _is_one(collection) else _as_one(path, collection, homework)
        for collection, path in zip(named, paths, strict=True)
    ]


def _is_one(collection: Collection) -> bool:
    return collection.format in (ONE_FILE, plain.ONE_SUBMISSION)


def _as_one(path: Path, collection: Collection, homework: Homework) -> Collection:
    """Return a path that looks like a class as one submission."""
    whole = Path(os.path.abspath(path))
    if path.is_dir():
        entry = plain.whole(Folder(path, show(whole.name)), whole.name)
    else:
        entry = _file(path, homework, alone=False)
    doubt = (
        f"{show(whole.name)}: looks like a {collection.format} of {len(collection.entries)}, but most paths are one "
        "submission each, so it is graded as one: name it alone if it is a class"
    )
    return Collection(plain.ONE_SUBMISSION, (entry,), doubts=(doubt,) if len(collection.entries) > 1 else ())


def _named_by_path(collection: Collection, path: Path) -> Collection:
    """Give a path's only submission the name of the path, however it is wrapped inside."""
    if collection.format != plain.ONE_SUBMISSION:
        return collection
    name = plain.stem(Path(os.path.abspath(path)).name)
    return replace(
        collection, entries=tuple(plain.named(name, e.submission.origin, e.source) for e in collection.entries)
    )


def _told_apart(collection: Collection, before: Mapping[str, str]) -> Collection:
    """Return the collection with ids that are all different, for the entries and for the students.

    Different names in one place are different students. That holds also if their ids would be equal, and if both names
    have the number of the same student in them.
    """
    identities = unique_ids(
        [e.id for e in collection.entries], [e.submission.origin for e in collection.entries], before
    )
    names: dict[str, set[str]] = defaultdict(set)
    for student in (student for entry in collection.entries for student in entry.submission.students):
        names[student.id].add(student.name)
    entries, doubts = [], []
    for entry, identity in zip(collection.entries, identities, strict=True):
        claimed = [s.id for s in entry.submission.students if len(names[s.id]) > 1 and s.id != entry.id]
        doubts += [f"{entry.submission.origin}: somebody of another name is {show(one)}, too" for one in claimed]
        students = tuple(
            msgspec.structs.replace(student, id=identity) if student.id in (entry.id, *claimed) else student
            for student in entry.submission.students
        )
        entries.append(_with(entry, id=identity, students=students))
    return replace(collection, entries=tuple(entries), doubts=(*collection.doubts, *doubts))


def _in_tree(place: Place, homework: Homework) -> Collection:
    """Return the submissions by the first kind that knows the tree. A folder around one folder is passed over."""
    passed_over: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    for _ in range(MOST_WRAPPING):
        everything = place.items()
        items = plain.visible(everything)
        for recognise in RECOGNISED:
            collection = recognise(place, items, homework)
            if collection is not None:
                return _adding_to(collection, passed_over, doubts)
        for item in plain.passed_over(place, everything):
            line = f"{place.origin}/{show(item.name)}: its name begins with a dot"
            passed_over += (line,)
            if item.kind != FOLDER or plain.holds_somewhere(place, item, homework):
                doubts += (line,)
        if [item.kind for item in items] != [FOLDER]:
            break
        place = place.enter(items[0].name)
    collection = plain.by_student(place, items, homework) or Collection("nothing", ())
    return _adding_to(collection, passed_over, doubts)


def _adding_to(collection: Collection, ignored: tuple[str, ...], doubts: tuple[str, ...]) -> Collection:
    return replace(collection, ignored=(*ignored, *collection.ignored), doubts=(*doubts, *collection.doubts))


def _with(entry: Entry, **changes: Any) -> Entry:
    """Return the entry with changes in who handed it in."""
    return replace(entry, submission=msgspec.structs.replace(entry.submission, **changes))


def _file(path: Path, homework: Homework, alone: bool) -> Entry:
    """Return a file that was named. Among other files with the homework's name, its folder tells whose it is."""
    whole = Path(os.path.abspath(path))
    named_by_folder = not alone and whole.name in (homework.file, homework.notebook)
    name = whole.parent.name if named_by_folder else plain.stem(whole.name)
    called = {".py": homework.file, ".ipynb": homework.notebook}.get(ending(whole.name), whole.name)
    piece = Piece(Folder(whole.parent, show(whole.parent.name)), Item(whole.name, FILE), (called,))
    origin = f"{show(whole.parent.name)}/{show(whole.name)}" if named_by_folder else show(whole.name)
    return plain.named(name, origin, Pieces((piece,)))

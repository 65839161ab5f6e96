"""Finds the submissions in what was named: a file, a folder, a zip, a platform's export; nobody says which it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from softmark.intake import canvas, gradescope, moodle, nbgrader, plain
from softmark.intake.archive import OF_A_CLASS, Archive
from softmark.intake.folder import Folder
from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry
from softmark.intake.names import show, unique_ids
from softmark.intake.place import FILE, FOLDER, Item, Place
from softmark.intake.slips import ending
from softmark.intake.source import Refusal, Unreadable, open_regular
from softmark.intake.submission import Refused, Submission
from softmark.intake.wanted import Wanted

Recognise = Callable[[Place, list[Item], Wanted], Collection | None]
RECOGNISED: tuple[Recognise, ...] = (
    gradescope.recognise, moodle.recognise, canvas.recognise, nbgrader.recognise, plain.single,
)  # fmt: skip
"""In this order: an export has marks that nothing else has."""
MOST_WRAPPING = 8


def collect(paths: Sequence[Path], wanted: Wanted) -> Collection:
    """All submissions in `paths`; Unreadable if one cannot be read, or if there is no submission in any."""
    if len(paths) == 1:
        found = [_collected(paths[0], wanted, alone=True)]
    else:
        found = [_named_by_path(_collected(path, wanted, alone=False), path) for path in paths]
    entries = [entry for each in found for entry in each.entries]
    if not entries:
        where = ", ".join(show(str(path)) for path in paths)
        raise Unreadable(f"no submission in {where}: expected {wanted.file}, or a file or folder for each student")
    identities = unique_ids([entry.id for entry in entries], [entry.origin for entry in entries])
    return Collection(
        format=", ".join(dict.fromkeys(each.format for each in found)),
        entries=tuple(replace(entry, id=identity) for entry, identity in zip(entries, identities, strict=True)),
        ignored=tuple(item for each in found for item in each.ignored),
    )


def _collected(path: Path, wanted: Wanted, alone: bool) -> Collection:
    """What one path holds. A broken archive is the person's at the keyboard if it is alone, else one student's."""
    name = Path(os.path.abspath(path)).name
    if os.path.isdir(path):
        try:
            return _in_tree(Folder(path, show(name)), wanted)
        except Refusal as why:
            raise Unreadable(str(why)) from why
    with open_regular(path):
        pass  # a path that cannot be read is told now, not when its turn has come
    if path.suffix.casefold() != ".zip":
        return Collection("one file", (_file(path, wanted, alone),))
    try:
        archive = Archive(open_regular(path), show(name), OF_A_CLASS)
        collection = _in_tree(archive.root, wanted)
    except Refusal as why:
        if alone:
            raise Unreadable(str(why)) from why
        return Collection("one file", (plain.named(path.stem, show(name), Refused(str(why))),))
    refused = tuple(f"{archive.name}: the name {member} leads out of the archive" for member in archive.refused)
    return replace(collection, ignored=collection.ignored + refused)


def _named_by_path(collection: Collection, path: Path) -> Collection:
    """Among several paths, one that is a single submission has its student's name, however it is wrapped inside."""
    if collection.format != plain.ONE_SUBMISSION:
        return collection
    name = plain.stem(Path(os.path.abspath(path)).name)
    return replace(collection, entries=tuple(plain.named(name, e.origin, e.source) for e in collection.entries))


def _in_tree(place: Place, wanted: Wanted) -> Collection:
    """The first that knows the tree; a folder that only wraps another one is looked through."""
    passed_over: tuple[str, ...] = ()
    for _ in range(MOST_WRAPPING):
        everything = place.items()
        items = plain.visible(everything)
        for recognise in RECOGNISED:
            collection = recognise(place, items, wanted)
            if collection is not None:
                return replace(collection, ignored=passed_over + collection.ignored)
        passed_over = (*passed_over, *plain.passed_over(place, everything))
        if [item.kind for item in items] != [FOLDER]:
            break
        place = place.enter(items[0].name)
    collection = plain.by_student(place, items, wanted) or Collection("nothing", ())
    return replace(collection, ignored=passed_over + collection.ignored)


def _file(path: Path, wanted: Wanted, alone: bool) -> Entry:
    """A file that was named; among others that bear the homework's name, its folder tells whose it is."""
    whole = Path(os.path.abspath(path))
    named_by_folder = not alone and whole.name in (wanted.file, wanted.notebook)
    name = whole.parent.name if named_by_folder else plain.stem(whole.name)
    called = {".py": wanted.file, ".ipynb": wanted.notebook}.get(ending(whole.name), whole.name)
    piece = Piece(Folder(whole.parent, show(whole.parent.name)), Item(whole.name, FILE), (called,))
    origin = f"{show(whole.parent.name)}/{show(whole.name)}" if named_by_folder else show(whole.name)
    return plain.named(name, origin, Submission((piece,)))

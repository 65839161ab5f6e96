"""Reads sources without a platform: one file, one submission in a folder, a file or a folder for each student."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePath

from softmark.course.homework import Homework
from softmark.intake.choose import MOST_READ, Pieces, defines_enough
from softmark.intake.contents import File, Piece, gather, look_through_zips, unfinished
from softmark.intake.model import Collection, Entry, Source
from softmark.intake.names import ending, is_junk, is_slip, key, nfc, safe_id, show
from softmark.intake.places import FILE, FOLDER, Item, Place, Refusal
from softmark.records.result import Submission, Submitter

ONE_SUBMISSION = "one submission"
MOST_VERSIONS = 4
"""Files that a student may keep beside the one that counts: `scores_old.py`, `scores_v2.py`."""
_NOT_A_STUDENT = {"readme", "roster", "grades", "license"}
_HANDED_IN = {
    ".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".doc", ".docx", ".odt", ".rtf", ".pdf", ".pages", ".html",
}  # fmt: skip


def visible(items: list[Item]) -> list[Item]:
    """Return the items that no system and no editor has left behind."""
    return [item for item in items if not is_junk(item.name) and not item.name.startswith(".")]


def passed_over(place: Place, items: list[Item]) -> list[Item]:
    """Return the items that would be submissions if their names did not begin with a dot."""
    hidden = [item for item in items if item.name.startswith(".") and not is_junk(item.name)]
    return [item for item in hidden if item.kind == FOLDER or ending(item.name)]


def single(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return a folder that holds the wanted file itself as one submission, unless it holds other students' work, too.

    Most of the folder decides. One student who names a file like the homework does not make a class one submission.
    """
    programs = [item for item in items if item.kind != FOLDER and ending(item.name)]
    if not _of_one_student([nfc(item.name) for item in programs], homework):
        return None
    holding = [item for item in items if item.kind == FOLDER and holds_somewhere(place, item, homework)]
    if len(holding) > 1 or _are_a_class(place, items, homework):
        return None
    return Collection(ONE_SUBMISSION, (whole(place, PurePath(place.origin).name.removesuffix(".zip")),))


def _are_a_class(place: Place, items: list[Item], homework: Homework) -> bool:
    """Return whether most files beside the wanted one are submissions, too, and not a few older versions of it."""
    others = [File((item.name,), place, item) for item in items if item.kind == FILE]
    others = [f for f in others if (ending(f.name) or f.is_zip) and not is_named_as_wanted(f.name, homework)][
        :MOST_READ
    ]
    submissions = [found for found in others if (_zip_holds if found.is_zip else defines_enough)(found, homework)]
    versions = [found for found in submissions if key(found.name).startswith(key(stem(homework.file)))]
    several = len(submissions) - len(versions) > 1 or len(versions) > MOST_VERSIONS
    return several and 2 * len(submissions) > len(others)


def _zip_holds(found: File, homework: Homework) -> bool:
    try:
        return any(is_named_as_wanted(inner.name, homework) for inner in look_through_zips([found]).files)
    except Refusal:
        return False


def whole(place: Place, name: str) -> Entry:
    """Return everything in a folder as one submission."""
    pieces = tuple(Piece(place, item, (item.name,)) for item in place.items())
    return named(name, place.origin, Pieces(pieces))


def by_student(place: Place, items: list[Item], homework: Homework) -> Collection | None:
    """Return one submission for each folder and each file, named after its student; None if there is none."""
    collection = by_name(place, items, homework)
    return collection if collection.entries else None


def by_name(place: Place, items: list[Item], homework: Homework) -> Collection:
    """Return the items that may be a student's by their own name, and those that are nobody's."""
    folders = [item for item in items if item.kind == FOLDER]
    files: dict[tuple[str, int], list[Item]] = defaultdict(list)
    ignored = []
    for item in sorted((item for item in items if item.kind != FOLDER), key=lambda item: _plainness(item.name)):
        if item.kind == FILE and not _is_handed_in(place, item, homework):
            ignored.append(f"{place.origin}/{show(item.name)}")
            continue
        number = 0  # a link or a pipe is refused, rather than passed over
        while any(_called(item, homework) == _called(other, homework) for other in files[stem(item.name), number]):
            number += 1
        files[stem(item.name), number].append(item)
    entries = [of_folder(place, folder) for folder in folders]
    for (name, number), group in sorted(files.items()):
        entries.append(_files(place, sorted(group, key=lambda item: item.name), homework, name if number == 0 else ""))
    kind = "folder of folders" if folders else "folder of files"
    return Collection(kind, tuple(entries), tuple(sorted(ignored)))


def _plainness(name: str) -> tuple[bool, int, str]:
    """Of `ada.py`, `ada.PY` and `ada.py.txt` the first is ada's; the others are somebody's of another name."""
    return name != stem(name) + ending(name), len(name), name


def _called(item: Item, homework: Homework) -> str:
    """Return the name that a file named after its student is graded by."""
    return {".py": homework.file, ".ipynb": homework.notebook}.get(ending(item.name), item.name)


def stem(name: str) -> str:
    """Return the name without its ending, or without both of `.py.txt`."""
    base = PurePath(name).stem
    return PurePath(base).stem if ending(name) and ending(base) else base


def _of_one_student(programs: list[str], homework: Homework) -> bool:
    expected = (homework.file, homework.notebook)
    if len(programs) == 1:
        return any(programs[0] == name or is_slip(programs[0], name) for name in expected)
    return any(name in programs for name in expected)


def holds(items: list[Item], homework: Homework) -> bool:
    """Return whether the wanted file is among these."""
    return any(nfc(item.name) in (homework.file, homework.notebook) for item in items)


def holds_somewhere(place: Place, folder: Item, homework: Homework) -> bool:
    """Return whether a folder may hold the homework: by a file's name, in an archive, or by what a file defines."""
    try:
        files = gather([Piece(place, folder, ())]).files
        if any(found.is_zip or is_named_as_wanted(found.name, homework) for found in files):
            return True
        programs = [found for found in files if ending(found.name) and found.item.kind == FILE]
        return any(defines_enough(found, homework) for found in programs[:MOST_READ])
    except Refusal:  # it has too much in it to be looked through, and is refused when it is loaded
        return True


def is_named_as_wanted(name: str, homework: Homework) -> bool:
    """Return whether a file has the homework's name, or one that was meant to be it."""
    return any(nfc(name) == expected or is_slip(name, expected) for expected in (homework.file, homework.notebook))


def contents(place: Place) -> list[Item]:
    """Return the items of a student's folder; none if it cannot be listed, which is reported when it is loaded."""
    try:
        return place.items()
    except Refusal:
        return []


def _is_handed_in(place: Place, item: Item, homework: Homework) -> bool:
    """Return whether a file may be somebody's submission: it is no list or licence, and no starter."""
    if key(stem(item.name)) in _NOT_A_STUDENT:
        return False
    if item.name in (homework.file, homework.notebook):
        return not _is_starter(place, item, homework)
    return bool(ending(item.name)) or PurePath(item.name).suffix.casefold() in _HANDED_IN


def _is_starter(place: Place, item: Item, homework: Homework) -> bool:
    """Return whether nothing in a file is written yet. A file that cannot be read counts as work."""
    try:
        return unfinished(File((item.name,), place, item).read()) >= len(homework.wanted)
    except Refusal:
        return False


def of_folder(place: Place, item: Item) -> Entry:
    """Return a folder that is named after its student."""
    return named(item.name, f"{place.origin}/{show(item.name)}", Pieces((Piece(place, item, ()),)))


def _files(place: Place, items: list[Item], homework: Homework, name: str) -> Entry:
    """Return an entry of files that are named after their student. They stand for the files with the expected names."""
    pieces = tuple(Piece(place, item, (_called(item, homework),)) for item in items)
    origin = ", ".join(f"{place.origin}/{show(item.name)}" for item in items)
    return named(name or items[0].name, origin, Pieces(pieces))


def named(name: str, origin: str, source: Source) -> Entry:
    """Return an entry of which only a name is known."""
    identity = safe_id(name)
    submission = Submission(id=identity, students=(Submitter(identity, show(name)),), origin=origin)
    return Entry(submission, source)

"""Sources without a platform: one file, one submission in a folder, a file or a folder for each student."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePath

from softmark.intake.gather import Piece
from softmark.intake.handed_in import Collection, Entry, Source, Student
from softmark.intake.names import is_junk, key, nfc, safe_id, show
from softmark.intake.place import FILE, FOLDER, Item, Place
from softmark.intake.slips import ending, is_slip
from softmark.intake.source import Refusal
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

ONE_SUBMISSION = "one submission"
_NOT_A_STUDENT = {"readme", "roster", "grades", "license"}
_HANDED_IN = {
    ".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".doc", ".docx", ".odt", ".rtf", ".pdf", ".pages", ".html",
}  # fmt: skip


def visible(items: list[Item]) -> list[Item]:
    """What is not a system's or an editor's own."""
    return [item for item in items if not is_junk(item.name) and not item.name.startswith(".")]


def passed_over(place: Place, items: list[Item]) -> list[str]:
    """What would be somebody's submission, but for the dot that its name begins with."""
    hidden = [item for item in items if item.name.startswith(".") and not is_junk(item.name)]
    ours = [item for item in hidden if item.kind == FOLDER or ending(item.name)]
    return [f"{place.origin}/{show(item.name)}: its name begins with a dot" for item in ours]


def single(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    """A folder that holds the wanted file itself is one submission, unless its folders hold it too."""
    programs = [nfc(item.name) for item in items if item.kind != FOLDER and ending(item.name)]
    if not _of_one_student(programs, wanted):
        return None
    holding = [item for item in items if item.kind == FOLDER and holds(place.enter(item.name), wanted)]
    if len(holding) > 1:
        return None
    return Collection(ONE_SUBMISSION, (whole(place, PurePath(place.origin).name.removesuffix(".zip")),))


def whole(place: Place, name: str) -> Entry:
    """Everything in a folder as one submission."""
    pieces = tuple(Piece(place, item, (item.name,)) for item in place.items())
    return named(name, place.origin, Submission(pieces))


def by_student(place: Place, items: list[Item], wanted: Wanted) -> Collection | None:
    """One folder or one file for each student, named after them."""
    folders = [item for item in items if item.kind == FOLDER]
    files: dict[str, list[Item]] = defaultdict(list)
    ignored = []
    for item in items:
        if item.kind != FOLDER and (item.kind != FILE or _is_handed_in(item.name, wanted)):
            files[key(stem(item.name))].append(item)  # a link or a pipe is refused, rather than passed over
        elif item.kind != FOLDER:
            ignored.append(f"{place.origin}/{show(item.name)}")
    entries = [of_folder(place, folder) for folder in folders] + [
        _files(place, group, wanted) for group in files.values()
    ]
    if not entries:
        return None
    kind = "folder of folders" if folders else "folder of files"
    return Collection(kind, tuple(entries), tuple(ignored))


def stem(name: str) -> str:
    """The name without its ending, or without both of `.py.txt`."""
    base = PurePath(name).stem
    return PurePath(base).stem if ending(name) and ending(base) else base


def _of_one_student(programs: list[str], wanted: Wanted) -> bool:
    expected = (wanted.file, wanted.notebook)
    if len(programs) == 1:
        return any(programs[0] == name or is_slip(programs[0], name) for name in expected)
    return any(name in programs for name in expected)


def holds(place: Place, wanted: Wanted) -> bool:
    """Whether the wanted file lies directly in a folder."""
    return any(nfc(item.name) in (wanted.file, wanted.notebook) for item in contents(place))


def contents(place: Place) -> list[Item]:
    """What lies in a student's folder; nothing, if it cannot be listed: that is told when it is loaded."""
    try:
        return place.items()
    except Refusal:
        return []


def _is_handed_in(name: str, wanted: Wanted) -> bool:
    if key(stem(name)) in _NOT_A_STUDENT or name in (wanted.file, wanted.notebook):
        return False
    return bool(ending(name)) or PurePath(name).suffix.casefold() in _HANDED_IN


def of_folder(place: Place, item: Item) -> Entry:
    """A folder that is named after its student."""
    return named(item.name, f"{place.origin}/{show(item.name)}", Submission((Piece(place, item, ()),)))


def _files(place: Place, items: list[Item], wanted: Wanted) -> Entry:
    """Files that are named after their student stand for the wanted ones: nobody misnamed them."""
    called = {".py": wanted.file, ".ipynb": wanted.notebook}
    pieces = tuple(Piece(place, item, (called.get(ending(item.name), item.name),)) for item in items)
    origin = ", ".join(f"{place.origin}/{show(item.name)}" for item in items)
    return named(stem(items[0].name), origin, Submission(pieces))


def named(name: str, origin: str, source: Source) -> Entry:
    """An entry of which nothing is known but the name somebody gave it."""
    identity = safe_id(name)
    return Entry(identity, (Student(identity, show(name)),), origin, source)

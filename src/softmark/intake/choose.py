"""Chooses the file of a submission that is graded, and the files that are kept beside it.

The graded file has the expected name, or one that was plainly meant to be it. The files beside it are plain modules and
small data that it may import or open. Some files are always left out: files that steer pytest or Python, hidden files,
files whose names are not plain, and modules that hide a module of Python or of an installed library. Nothing is
unpacked to a disk.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import PurePath
from typing import NamedTuple

from softmark.course.homework import Homework
from softmark.intake.contents import (
    File,
    Gathered,
    Piece,
    check,
    defined,
    gather,
    invisible,
    look_through_zips,
    refuse_too_much_code,
    unfinished,
)
from softmark.intake.model import SubmittedFiles
from softmark.intake.names import ending, is_plain, is_slip, key, nfc, show
from softmark.intake.places import FILE, Refusal, TooMuchToRead

MOST_LISTED, MOST_READ = 8, 40


@dataclass(frozen=True)
class GradedFile:
    """The chosen file and the name it is graded as."""

    found: File
    graded_as: str
    content: bytes
    notes: tuple[str, ...] = ()
    told: tuple[File, ...] = ()
    """Other files that the notes name."""


def exact(files: Sequence[File], name: str) -> list[File]:
    """Return the files of exactly this name in the outermost folder that has one."""
    named = [found for found in files if nfc(found.name) == nfc(name)]
    return [found for found in named if len(found.path) == len(named[0].path)]


def choose(gathered: Gathered, homework: Homework) -> GradedFile:
    """Return the file to grade. Raise Refusal with what was found and what is expected."""
    files = gathered.files
    refuse_twins(files)
    exactly = exact(files, homework.file) + exact(files, homework.notebook)
    slips = [found for found in files if _is_slip(found, homework)]
    if exactly:
        return _beside_slips(_one_of(exactly, homework), slips)
    if slips:
        return _one_of([found for found in slips if len(found.path) == len(slips[0].path)], homework)
    misnamed = _that_define_enough(files, homework)
    if misnamed:
        return _one_of(misnamed, homework)
    if any(folder and folder[-1] == homework.file for folder in gathered.folders):
        raise Refusal(f"{homework.file} is a folder, not a file")
    if files and all(found.item.kind != FILE for found in files):
        files[0].read()  # says what it is instead
    raise Refusal(f"expected {homework.file}; found {listed(files)}")


def _is_slip(found: File, homework: Homework) -> bool:
    expected = (homework.file, homework.notebook)
    return nfc(found.name) not in map(nfc, expected) and any(is_slip(found.name, name) for name in expected)


def _beside_slips(main: GradedFile, slips: Sequence[File]) -> GradedFile:
    """Return the choice, with a note on slips in names of other files: a student may have meant `hw (1).py`."""
    if not slips:
        return main
    note = f"{listed(slips)} was not graded, because `{main.found.shown}` is there"
    return replace(main, notes=(*main.notes, note), told=(*main.told, *slips[:MOST_LISTED]))


def listed(files: Sequence[File]) -> str:
    """Return the files by name, for a sentence."""
    names = [found.shown for found in files[:MOST_LISTED]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "") or "nothing"


def refuse_twins(files: Sequence[File]) -> None:
    """Raise Refusal for two files that are one on some systems: a reviewer would read one, a grader run the other."""
    by_key: dict[tuple[str, ...], list[File]] = defaultdict(list)
    for found in files:
        if ending(found.name):
            by_key[tuple(map(key, found.path))].append(found)
    for twins in by_key.values():
        if len(twins) > 1:
            other = "" if twins[0].path == twins[1].path else f" and {twins[1].shown}"
            raise Refusal(f"there are two files named {twins[0].shown}{other}: hand in one of them")


def _one_of(candidates: Sequence[File], homework: Homework) -> GradedFile:
    """Return the only candidate, or of one Python file and one notebook the one with more of the work."""
    python = _the_only([found for found in candidates if ending(found.name) == ".py"], homework)
    notebook = _the_only([found for found in candidates if found.is_notebook], homework)
    if python and notebook:
        return _further_on(_main(python, homework), _main(notebook, homework), homework)
    found = python or notebook
    assert found is not None, "whoever asks has a candidate"
    return _main(found, homework)


def _further_on(python: GradedFile, notebook: GradedFile, homework: Homework) -> GradedFile:
    first, second = (SavedFile(main.content, main.found.item.modified) for main in (python, notebook))
    is_notebook, why = further_on(first, second, homework)
    better, other = (notebook, python) if is_notebook else (python, notebook)
    note = f"`{better.found.shown}` was graded, not `{other.found.shown}`: {why}"
    return replace(better, notes=(*better.notes, note), told=(other.found,))


class SavedFile(NamedTuple):
    """The content of a file, and when it was saved."""

    content: bytes
    modified: float


def further_on(python: SavedFile, notebook: SavedFile, homework: Homework) -> tuple[bool, str]:
    """Return whether the notebook has more of the work than the Python file, and why the better one is that."""
    first, second = _state_of(python, homework), _state_of(notebook, homework)
    is_notebook = second.rank > first.rank  # of equals, Python
    better, other = (second, first) if is_notebook else (first, second)
    if better.defined > other.defined:
        asked = len(homework.wanted)
        why = f"it defines {better.defined} of the {asked} names that are asked for, the other {other.defined}"
    elif better.unfinished < other.unfinished:
        why = "less of it is left as it was in the starter"
    else:
        why = "it is the newer one" if better.modified > other.modified else "both define the same names"
    return is_notebook, why


@dataclass(frozen=True)
class _StateOfWork:
    """The number of names that a file defines, and what speaks for it among two."""

    defined: int
    unfinished: int
    modified: float

    @property
    def rank(self) -> tuple[int, int, float]:
        """A number for what is done, then less that is left to do, then the later time."""
        return max(0, self.defined - self.unfinished), -self.unfinished, self.modified


def _state_of(saved: SavedFile, homework: Homework) -> _StateOfWork:
    return _StateOfWork(defined(saved.content, homework.wanted), unfinished(saved.content), saved.modified)


def _the_only(candidates: Sequence[File], homework: Homework) -> File | None:
    if len(candidates) > 1 and len({sha256(found.read()).digest() for found in candidates[:MOST_READ]}) > 1:
        found = f"expected {homework.file}; found {listed(candidates)}"
        raise Refusal(f"{found}, and which one is meant is not clear: hand in one file")
    return candidates[0] if candidates else None


def _that_define_enough(files: Sequence[File], homework: Homework) -> list[File]:
    """Return files of any name that define at least half of what is asked for."""
    programs = [found for found in files if ending(found.name) and found.item.kind == FILE]
    enough = [found for found in programs[:MOST_READ] if defines_enough(found, homework)]
    if any(found.budget.is_spent for found in programs):
        raise TooMuchToRead
    return enough


def defines_enough(found: File, homework: Homework) -> bool:
    """Return whether a file defines at least half of what is asked for."""
    try:
        number = defined(found.read(), homework.wanted)
    except Refusal:  # neither its name nor its text says that it is meant
        return False
    return number > 0 and 2 * number >= len(homework.wanted)


def _main(found: File, homework: Homework) -> GradedFile:
    graded_as = homework.notebook if found.is_notebook else homework.file
    renamed = nfc(found.name) != nfc(graded_as)
    return GradedFile(
        found, graded_as, found.read(), (f"`{found.shown}` was graded as `{graded_as}`",) if renamed else ()
    )


@dataclass(frozen=True, slots=True)
class Pieces:
    """The places of one submission's files; a `Source` of an entry."""

    pieces: tuple[Piece, ...]

    def load(self, homework: Homework) -> SubmittedFiles:
        try:
            gathered = _everything(gather(self.pieces), homework)
            main = choose(gathered, homework)
            if main.graded_as == homework.file:
                check(main.content)
        except Refusal as why:
            detail = (str(why.__cause__),) if why.__cause__ else ()
            return SubmittedFiles(refusal=str(why), staff_notes=detail)
        return _handed_in(main, gathered)


def _everything(gathered: Gathered, homework: Homework) -> Gathered:
    """Return the files; if the wanted one is not among them, those in the zip that was handed in."""
    zips = [found for found in gathered.files if found.is_zip]
    if not zips or exact(gathered.files, homework.file) or exact(gathered.files, homework.notebook):
        return gathered
    inside = look_through_zips(zips)
    if not any(ending(found.name) for found in gathered.files + inside.files) and any(f.is_zip for f in inside.files):
        raise Refusal(f"{zips[0].shown} holds another archive: hand in {homework.file} itself")
    others = [found for found in gathered.files if not found.is_zip]
    return Gathered(
        gathered.budget,
        files=sorted(others + inside.files, key=lambda found: (len(found.path), found.path)),
        folders=gathered.folders + inside.folders,
        left_out=gathered.left_out + inside.left_out,
    )


def _handed_in(main: GradedFile, gathered: Gathered) -> SubmittedFiles:
    others = companions(main.found, main.graded_as, gathered.files)
    told = {found.shown for found in main.told}
    left_out = [name for name in gathered.left_out + others.left_out if name not in told]
    return SubmittedFiles(
        main=main.graded_as,
        files={main.graded_as: main.content, **others.files},
        notes=(*main.notes, *others.notes),
        staff_notes=(
            *(invisible(main.graded_as, main.content) if main.graded_as.endswith(".py") else ()),
            *others.staff_notes,
            *summary(left_out),
        ),
    )


MOST_COMPANIONS, MOST_BYTES, MOST_NAMED = 60, 20_000_000, 8
_STEERING = {
    "conftest.py", "pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py",
    "sitecustomize.py", "usercustomize.py", "__main__.py",
}  # fmt: skip
DATA = {".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".pt", ".pth", ".safetensors"}


@dataclass
class Companions:
    """The files that are kept, and the notes about those left out."""

    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    staff_notes: list[str] = field(default_factory=list)


def companions(main: File, graded_as: str, files: Sequence[File]) -> Companions:
    """Return the files to keep from the folder of the graded file, and from folders in it."""
    kept, folder = Companions(), main.path[:-1]
    hiding: list[str] = []
    taken, room, to_read = {key(graded_as)}, MOST_BYTES, MOST_COMPANIONS
    for found in files:
        inner = found.path[len(folder) :]
        if found is main:
            continue
        if found.path[: len(folder)] != folder or not _is_welcome(inner, graded_as) or found.item.kind != FILE:
            kept.left_out.append(found.shown)
        elif found.name.endswith(".py") and (whose := _hides(inner[0])):
            hiding.append(f"your file {found.shown} hides the {whose} module of that name, so it was left out")
        elif to_read == 0 or not _is_free(inner, taken):
            kept.left_out.append(found.shown)
        else:
            to_read -= 1
            room -= _keep(kept, found, "/".join(inner), room)
            taken.add(key("/".join(inner)))
    more = len(hiding) - MOST_NAMED
    kept.notes += [*hiding[:MOST_NAMED], *([f"{more} more of your files hide modules, too"] if more > 0 else [])]
    return kept


def _keep(kept: Companions, found: File, name: str, room: int) -> int:
    """Reads one file. A file that cannot be read is left out, because the graded file may do without it."""
    try:
        content = found.read()
        if name.endswith(".py"):
            refuse_too_much_code([content])
    except Refusal as why:
        kept.left_out.append(f"{found.shown} ({why})")
        return 0
    if len(content) > room:
        kept.left_out.append(f"{found.shown} (all files together are larger than {MOST_BYTES // 1_000_000} MB)")
        return 0
    kept.files[name] = content
    if name.endswith(".py"):
        kept.staff_notes += invisible(name, content)
    return len(content)


def _is_welcome(path: tuple[str, ...], graded_as: str) -> bool:
    name = path[-1]
    if not all(map(is_plain, path)) or key(name) in _STEERING:
        return False
    if name.endswith(".py"):
        return len(path) == 1 or path[0] != PurePath(graded_as).stem  # not a package `hw/` beside `hw.py`
    return PurePath(name).suffix.casefold() in DATA


def _is_free(path: tuple[str, ...], taken: set[str]) -> bool:
    """Return True if no other file has this name, or the name of a folder on the way to it."""
    return not any(key("/".join(path[:depth])) in taken for depth in range(1, len(path) + 1))


def _hides(name: str) -> str:
    """Return the kind of module that a file or folder of this name would hide: "standard", "installed", or none."""
    module = name.removesuffix(".py")
    if module in sys.stdlib_module_names:
        return "standard"
    installed = [folder for folder in sys.path if folder.endswith("-packages")]
    return "installed" if module == "softmark" or PathFinder.find_spec(module, installed) else ""


def summary(left_out: Sequence[str]) -> tuple[str, ...]:
    """Return one note for staff on everything that was not used."""
    if not left_out:
        return ()
    more = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
    return (f"left out: {', '.join(map(show, left_out[:10]))}{more}",)

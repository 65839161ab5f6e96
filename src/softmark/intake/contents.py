"""Finds every file of one submission, and checks its text. Nothing is parsed or run.

Folders are walked, and a zip that a student handed in is looked through once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from softmark.intake.archive import OF_A_STUDENT, Archive
from softmark.intake.names import ending, is_junk, show, unseen
from softmark.intake.places import FILE, FOLDER, LARGEST, LARGEST_NOTEBOOK, Budget, Item, Place, Refusal, TooLarge

MOST_FILES, DEEPEST = 5000, 12
LARGEST_ZIP, MOST_ZIPS = 25_000_000, 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A file or folder of a submission: where it is, and the name that its student gave it."""

    place: Place
    item: Item
    called: tuple[str, ...]
    """The name; empty for a folder whose contents are the submission."""


@dataclass(frozen=True, slots=True)
class File:
    """A thing in a submission that is not a folder."""

    path: tuple[str, ...]
    place: Place
    item: Item
    budget: Budget = field(default_factory=Budget, compare=False)
    """The bytes that may still be read of the whole submission."""

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def shown(self) -> str:
        return show("/".join(self.path))

    @property
    def is_zip(self) -> bool:
        return self.name.casefold().endswith(".zip")

    @property
    def is_notebook(self) -> bool:
        return ending(self.name) == ".ipynb"

    def read(self, most: int | None = None) -> bytes:
        """The bytes of the file. A notebook with all its pictures may have more of them than a program."""
        most = most or (LARGEST_NOTEBOOK if self.is_notebook else LARGEST)
        if self.item.kind != FILE:
            raise Refusal(f"{show(self.item.name)} is a {self.item.kind}, not a file: hand in the file itself")
        try:
            return self.budget.read(self.place, self.item.name, most)
        except TooLarge as why:
            hint = ": clear its outputs and hand it in again" if self.is_notebook else ""
            raise Refusal(f"{self.shown} is larger than {most // 1_000_000} MB{hint}") from why


@dataclass
class Gathered:
    """Everything in a submission; things that were not looked at are named for staff."""

    budget: Budget
    files: list[File] = field(default_factory=list)
    folders: list[tuple[str, ...]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def gather(pieces: Sequence[Piece]) -> Gathered:
    """Return all files of a submission, the outer ones first."""
    gathered = Gathered(Budget())
    for piece in pieces:
        _add(gathered, piece.place, piece.item, piece.called)
    gathered.files.sort(key=lambda found: (len(found.path), found.path))
    return gathered


def look_through_zips(zips: Sequence[File]) -> Gathered:
    """Return the files in the zips of a submission. Raise Refusal if one cannot be read or holds further ones only."""
    if len(zips) > MOST_ZIPS:
        raise Refusal(f"{len(zips)} zip archives were handed in: hand in one")
    inside = Gathered(zips[0].budget if zips else Budget())
    for found in zips:
        archive = Archive(io.BytesIO(found.read(LARGEST_ZIP)), found.shown, OF_A_STUDENT)
        if archive.refused:
            raise Refusal(f"{found.shown} holds the name {archive.refused[0]}: zip the file itself again")
        for item in archive.root.items():
            _add(inside, archive.root, item, (item.name,))
    inside.files.sort(key=lambda found: (len(found.path), found.path))
    return inside


def _add(gathered: Gathered, place: Place, item: Item, called: tuple[str, ...]) -> None:
    if called and is_junk(called[-1]):
        return
    if called and called[-1].startswith("."):
        gathered.left_out.append(show("/".join(called)))
    elif item.kind == FOLDER:
        if len(called) > DEEPEST:
            raise Refusal(f"folders lie more than {DEEPEST} deep in each other")
        gathered.folders.append(called)
        _refuse_too_many(gathered)
        inner = place.enter(item.name)
        for child in inner.items():
            _add(gathered, inner, child, (*called, child.name))
    else:
        gathered.files.append(File(called, place, item, gathered.budget))
        _refuse_too_many(gathered)


def _refuse_too_many(gathered: Gathered) -> None:
    if len(gathered.files) > MOST_FILES or len(gathered.folders) > MOST_FILES:
        raise Refusal(f"more than {MOST_FILES} files were handed in")


MOST_REPORTED = 5
_IN_PYTHON = re.compile(rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*=(?!=))", re.MULTILINE)
_IN_NOTEBOOK = re.compile(rb'(?:"|\\n)(?:async +)?(?:def|class) +(\w+)')
_UNFINISHED = re.compile(rb"\braise[ \t]+NotImplementedError\b")


def defined(content: bytes, names: Collection[str]) -> int:
    """Return how many of `names` the text of a file or a notebook defines."""
    pattern = _IN_NOTEBOOK if content.lstrip().startswith(b"{") else _IN_PYTHON
    found = {
        (match[1] or match[match.lastindex or 1]).decode("utf-8", "replace") for match in pattern.finditer(content)
    }
    return len(found.intersection(names))


def unfinished(content: bytes) -> int:
    """Return how many functions of the starter were left as they were."""
    return sum(1 for _ in _UNFINISHED.finditer(content))


def invisible(file: str, content: bytes) -> list[str]:
    """Return notes for staff on characters that a reader of the file would not see, or that reorder what is seen."""
    if content.isascii():
        return []
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    hidden = {c for c in set(text) if not c.isascii() and unseen(c)}  # a text has many characters, but few different
    return list(islice(_lines_with(hidden, file, text), MOST_REPORTED)) if hidden else []


def _lines_with(hidden: set[str], file: str, text: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        found = hidden.intersection(line)
        if found:
            points = ", ".join(f"U+{ord(character):04X}" for character in sorted(found)[:MOST_REPORTED])
            yield f"{file} line {number} holds characters that cannot be seen: {points}"


MOST_STATEMENTS = 50_000
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_ENCODINGS = {"utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso-latin-1"}
_STATEMENT = re.compile(rb"^[ \t]*[^\s#]|;", re.MULTILINE)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_NO_TEXT = {b"PK\x03\x04": "a zip archive", b"%PDF": "a PDF"}


def check(source: bytes) -> None:
    """Refuse what Python would misread or could not explain: wrong encodings, binary files, an empty file."""
    if not source.strip():
        raise Refusal("the file is empty")
    if source.startswith(_UTF_16):
        raise Refusal("the file is UTF-16, not Python source in UTF-8: save it as UTF-8 and hand it in again")
    for mark, kind in _NO_TEXT.items():
        if source.startswith(mark):
            raise Refusal(f"the file is {kind}, whatever its name says: hand in the Python file itself")
    declared = _declared_encoding(source)
    if declared not in _ENCODINGS and not declared.startswith("utf-8-"):  # an editor's "utf-8-unix"
        raise Refusal(f"the first lines declare the encoding {declared[:40]!r}; only UTF-8 is accepted")
    if b"\0" in source:
        line = source[: source.index(b"\0")].count(b"\n") + 1
        raise Refusal(f"line {line} contains a NUL character; save the file as UTF-8 text and hand it in again")
    refuse_too_much_code([source])
    if "8" in declared and "8859" not in declared:
        _check_utf8(source)


def refuse_too_much_code(sources: Iterable[bytes]) -> None:
    """Raise Refusal for more lines of code than anybody writes: Python would need minutes and gigabytes for them."""
    found = (match for source in sources for match in _STATEMENT.finditer(source))
    if next(islice(found, MOST_STATEMENTS, None), None):
        raise Refusal(f"there are more than {MOST_STATEMENTS:,} lines of code: hand in only what is asked for")


def _declared_encoding(source: bytes) -> str:
    for line in source.removeprefix(b"\xef\xbb\xbf").split(b"\n", 2)[:2]:
        found = _COOKIE.match(line)
        if found:
            return found.group(1).decode("ascii", "replace").lower().replace("_", "-")
    return "utf-8"


def _check_utf8(source: bytes) -> None:
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        byte = source[error.start]
        raise Refusal(
            f"the file is not UTF-8: line {line} holds the byte 0x{byte:02X}; save it as UTF-8 and hand it in again"
        ) from None

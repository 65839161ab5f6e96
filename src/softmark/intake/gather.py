"""Finds every file of one submission: folders are walked, a zip that a student handed in is looked through once."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from softmark.intake.archive import OF_A_STUDENT, Archive
from softmark.intake.budget import Budget
from softmark.intake.location import FILE, FOLDER, Item, Place
from softmark.intake.misspellings import ending
from softmark.intake.names import is_junk, show
from softmark.intake.notebook import LARGEST as LARGEST_NOTEBOOK
from softmark.intake.source import LARGEST, Refusal, TooLarge

MOST_FILES, DEEPEST = 5000, 12
LARGEST_ZIP, MOST_ZIPS = 25_000_000, 5


@dataclass(frozen=True, slots=True)
class Piece:
    """A file or folder of a submission: where it lies, and what its student called it."""

    place: Place
    item: Item
    called: tuple[str, ...]
    """Empty for a folder whose contents are the submission."""


@dataclass(frozen=True, slots=True)
class Found:
    """A thing in a submission that is no folder."""

    path: tuple[str, ...]
    place: Place
    item: Item
    budget: Budget = field(default_factory=Budget, compare=False)
    """What may still be read of the whole submission."""

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
        """Its bytes; a notebook with all its pictures may have more of them than a program."""
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
    """Everything in a submission; what was not even looked at is named for staff."""

    budget: Budget
    files: list[Found] = field(default_factory=list)
    folders: list[tuple[str, ...]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def gather(pieces: Sequence[Piece]) -> Gathered:
    """All files of a submission, the outer ones first."""
    gathered = Gathered(Budget())
    for piece in pieces:
        _add(gathered, piece.place, piece.item, piece.called)
    gathered.files.sort(key=lambda found: (len(found.path), found.path))
    return gathered


def look_through_zips(zips: Sequence[Found]) -> Gathered:
    """What is in the zips of a submission; Refusal if one cannot be read or holds further ones only."""
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
        gathered.files.append(Found(called, place, item, gathered.budget))
        _refuse_too_many(gathered)


def _refuse_too_many(gathered: Gathered) -> None:
    if len(gathered.files) > MOST_FILES or len(gathered.folders) > MOST_FILES:
        raise Refusal(f"more than {MOST_FILES} files were handed in")

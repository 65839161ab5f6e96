"""Makes what students get of a homework: a folder and a zip, with Softmark itself and one line that installs it.

In it are the files of `assignments/<hw>/`, the handout as a page of HTML, a wheel of the softmark that is running, and
`install.py`. The same homework and the same softmark give the same bytes. A homework is not released if its files are
stale, or if any of them gives a solution, a hidden test or one of its inputs away.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from softmark.authoring.build import products, stale
from softmark.authoring.given_away import given_away
from softmark.authoring.handout_page import page
from softmark.authoring.install import OTHERS_MB, TORCH_MB, WHEEL
from softmark.authoring.packed_self import archived, wheel
from softmark.check.public_tests import TESTS
from softmark.course.homework import Homework
from softmark.records.errors import ConfigError, UsageError

INSTALL, HANDOUT, PAGE = "install.py", "README.md", "README.html"
LINE = f"python {INSTALL}"
"""The line with which a student installs Softmark; every handout has it."""
SIZES = (
    f"It downloads up to {OTHERS_MB} MB in less than a minute, "
    f"and without PyTorch up to {OTHERS_MB + TORCH_MB} MB in one to five."
)


@dataclass(frozen=True)
class Release:
    """The files that students get of one homework."""

    homework: str
    files: Mapping[str, bytes]
    """The content of each file, by its name in the homework's folder."""

    @property
    def zip(self) -> bytes:
        """Return the folder as a zip."""
        return archived({f"{self.homework}/{name}": content for name, content in self.files.items()})


def releases(homeworks: Iterable[Homework]) -> Iterator[Release]:
    """Yield the release of each homework. Raise an error if one may not be handed out as it is."""
    name, packed = wheel()
    for homework in homeworks:
        files = {**_handed_out(homework), name: packed, INSTALL: installer(name)}
        shown_as = f"assignments/{homework.name}/{HANDOUT}"
        if f"`{LINE}`" not in files[HANDOUT].decode():
            raise ConfigError(
                shown_as, 1, f"it does not tell students to install Softmark: write `{LINE}` below the title"
            )
        files[PAGE] = page(files[HANDOUT].decode(), shown_as)
        if found := list(given_away(homework, files)):
            more = f", and {len(found) - 1} more" if len(found) > 1 else ""
            raise UsageError(f"{homework.name} is not released: {found[0]}{more}; take it out")
        yield Release(homework.name, files)


def installer(wheel_name: str) -> bytes:
    """Return the program that installs this wheel."""
    source = Path(__file__).with_name("install.py").read_text(encoding="utf-8")
    return source.replace(f'"{WHEEL}"', f'"{wheel_name}"').encode()


def check_place(place: Path) -> None:
    """Raise UsageError if a folder holds anything that no release has put there."""
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place} is a file: name a folder for the releases")
    names = {archive.stem: _names_in(archive) for archive in place.glob("*.zip")}
    for file in sorted(place.rglob("*")):
        inside = file.relative_to(place)
        of_a_release = names.get(inside.parts[0].removesuffix(".zip"), frozenset())
        if not any(name == inside.as_posix() or inside in Path(name).parents for name in of_a_release):
            raise UsageError(f"{file} was not made by `softmark release`: move it away, or name another folder")


def write(release: Release, place: Path) -> tuple[Path, Path]:
    """Put folder and zip of a release in the place of an earlier one, and return where they are."""
    folder, archive = place / release.homework, place / f"{release.homework}.zip"
    if folder.is_dir():
        shutil.rmtree(folder)
    place.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(release.zip)  # before the folder: whatever is in a folder is then known to be a release's
    for name, content in release.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder, archive


def _handed_out(homework: Homework) -> dict[str, bytes]:
    """Return the files of assignments/<hw>. Raise ConfigError if some are missing or stale."""
    for file in stale(products(homework)):
        name = file.relative_to(homework.root).as_posix()
        raise ConfigError(name, 1, f"this file is not up to date: run `softmark build {homework.name}`")
    folder = homework.root / "assignments" / homework.name
    if not (folder / TESTS).is_file():
        name = (folder / TESTS).relative_to(homework.root).as_posix()
        raise ConfigError(name, 1, "there is no such file, and students check their work with it")
    names = {file: file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.is_file()}
    return {
        name.as_posix(): file.read_bytes()
        for file, name in names.items()
        if not any(part.startswith(".") or part == "__pycache__" for part in name.parts)
    }


def _names_in(archive: Path) -> frozenset[str]:
    """Return the names of a release's files, that of its zip included; none if the zip is no release."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = frozenset(opened.namelist())
    except (OSError, zipfile.BadZipFile):
        return frozenset()
    return names | {archive.name} if f"{archive.stem}/{INSTALL}" in names else frozenset()

"""Makes the file that a student uploads, and says what will cost marks in it.

The pack is written first. Then it is read as a submission is read for grading, and the code is loaded once in a program
of its own. So what is said here is what grading would say. No test is run: `softmark check` runs the public tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from softmark.check.companions import companions_of
from softmark.check.losses import Losses, losses
from softmark.check.part_states import PartState
from softmark.check.public_tests import EXAMPLES
from softmark.course.homework import Homework
from softmark.feedback.fixed_zip import zipped
from softmark.feedback.safe_files import replacement, writable
from softmark.grading.job import read_job
from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.model import Entry
from softmark.intake.names import ending
from softmark.intake.places import FILE, Folder, Item
from softmark.records.errors import UsageError
from softmark.records.result import Submission

FOLDER = "handin"


@dataclass(frozen=True)
class Pack:
    """The file that was made, what is in it, and what was found."""

    title: str
    path: Path
    files: tuple[str, ...]
    """The names of the files in it."""
    size: int
    losses: Losses

    @property
    def parts(self) -> tuple[PartState, ...]:
        return self.losses.parts

    @property
    def costs_marks(self) -> bool:
        """Return whether anything will cost marks."""
        return bool(self.losses.findings) or any(not part.is_done for part in self.parts)


def make_pack(homework: Homework, file: Path, content: bytes, output: Path | None, notes: tuple[str, ...] = ()) -> Pack:
    """Write the pack of a work and return what is to be said of it. `notes` say which file was chosen.

    Raise UsageError if the work is no Python file and no notebook, or if the pack would replace another file.
    """
    main = {".py": homework.file, ".ipynb": homework.notebook}.get(ending(file.name))
    if main is None:
        raise UsageError(f"{file.name} is neither a Python file nor a notebook: name the one that you wrote")
    beside = companions_of(main, content, file.parent, file)
    target = _target(output, main, zipped=bool(beside))
    files = {main: content, **beside}
    data = zipped(files) if target.suffix == ".zip" else content
    _write(target, data)
    if file.name != main:
        notes = (*notes, f"{file.name} is packed as {main}, the name that is asked for")
    handed = read_job(Entry(Submission(id="pack"), _as_uploaded(target)), homework).files
    found = losses(homework, handed, tuple(beside))
    remarks = (*notes, *found.remarks, *_stale(target, homework))
    return Pack(homework.title, target, tuple(files), len(data), replace(found, remarks=remarks))


def _target(output: Path | None, main: str, *, zipped: bool) -> Path:
    """Return the file to write: in a folder, or the zip that was named."""
    place = Path(FOLDER) if output is None else output
    if place.suffix.casefold() == ".zip" and not place.is_dir():
        return place.with_suffix(".zip")
    if place.suffix in (".py", ".ipynb") and not place.is_dir():
        raise UsageError(f"-o names a folder, or a zip to be made: {main} must keep its name")
    return place / (f"{Path(main).stem}.zip" if zipped else main)


def _write(target: Path, data: bytes) -> None:
    own = target.is_file() and (target.parent / EXAMPLES).is_file()
    if own and target.read_bytes() != data:
        raise UsageError(f"{target} is there, and is not the same: choose another folder with -o")
    if not own:
        with writable(target.parent):
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacement(target) as file:
                file.write(data)
            target.chmod(0o644)


def _as_uploaded(target: Path) -> Pieces:
    """Return the pack as one of a platform's submissions."""
    place = Folder(target.parent, target.parent.name)
    return Pieces((Piece(place, Item(target.name, FILE), (target.name,)),))


def _stale(target: Path, homework: Homework) -> Iterator[str]:
    """Yield a remark on each earlier pack of another form in the same folder."""
    if (target.parent / EXAMPLES).is_file():
        return
    for name in (homework.file, homework.notebook, f"{Path(homework.file).stem}.zip"):
        if name != target.name and (target.parent / name).is_file():
            yield f"{target.parent / name} is from before: upload {target.name}, and delete the other"

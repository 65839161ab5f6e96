"""Runs the public tests of a homework on a student's own file or notebook, from the terminal.

Notebooks that students have begin with `from softmark.student import check`, which is `softmark.check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from softmark.check import check as check
from softmark.check.public_tests import EXAMPLES, Handout, read_handout
from softmark.records.errors import UsageError

if TYPE_CHECKING:
    from softmark.check.packing import Pack
    from softmark.feedback.checked import Occasion
    from softmark.intake.choose import SavedFile
    from softmark.intake.model import SubmittedFiles
    from softmark.records.result import CaseResult, Result, TestResult

NOTEBOOK = ".ipynb"


class CheckStopped(KeyboardInterrupt):
    """Raised if Ctrl-C has ended a check: where it was, and what the code had printed there."""

    def __init__(self, function: str, printed: str) -> None:
        super().__init__(function)
        self.function, self.printed = function, printed


@dataclass(frozen=True)
class OwnWork:
    """A student's file, and the folder of the homework it belongs to."""

    files: tuple[Path, ...]
    """The file; or both a Python file and a notebook, of which the one that has more of the work is checked."""
    folder: Path

    def check(self, part: str | None = None, *, repairs: bool = True) -> Result:
        """Return the result of the public tests, all or one part's, on the work as it is now.

        The work can import Python files beside it. Without `repairs`, the line of a mistake without a name is not
        looked for, which may take seconds.
        """
        from softmark.check.checking import run_public_tests
        from softmark.check.missing_imports import of_files
        from softmark.sandbox.own_machine import InChild, Unheard

        handout = read_handout(self.folder)
        handed = self._read(handout)
        sandbox, edits = InChild(), Unheard()
        foreign = of_files(handed, handout.wanted, handout.packages)
        try:
            return run_public_tests(self.folder, handout, handed, sandbox, part, foreign, edits if repairs else None)
        except KeyboardInterrupt:
            raise CheckStopped(*sandbox.running()) from None
        finally:
            sandbox.close()
            edits.close()

    def debug(self, test: TestResult, case: CaseResult) -> None:
        """Make the call behind a failure again, in Python's debugger."""
        from softmark.check.checking import run_again
        from softmark.sandbox.own_machine import InChild

        handout = read_handout(self.folder)
        sandbox = InChild(stop_at=case.call.id if case.call is not None else None)
        try:
            run_again(self.folder, handout, self._read(handout), sandbox, test, case)
        finally:
            sandbox.close()

    def occasion(self, result: Result, command: str = "", at: str = "") -> Occasion:
        """Return what there is to say beside the result. Remember the result for the next time."""
        from softmark.check.last_check import changes
        from softmark.feedback.checked import Occasion

        handout = read_handout(self.folder)
        hand_in = result.submission.file if len(result.parts) == len(handout.parts) else ""
        return Occasion(handout.points, changes(self.files[0], result), command, at, hand_in)

    def pack(self, output: Path | None = None) -> Pack:
        """Write the file to upload into this folder, or as this zip, and return what is to be said of it."""
        from softmark.check.packing import make_pack
        from softmark.intake.places import MOST_BYTES

        handout = read_handout(self.folder)
        saved = [_saved(file, MOST_BYTES) for file in self.files]  # what is too large to be graded can be packed
        file, content, notes = self._chosen(saved, handout, "packed")
        return make_pack(handout.as_homework(self.folder, {}), file, content, output, notes)

    def _read(self, handout: Handout) -> SubmittedFiles:
        """Return the files as grading would read them. Raise UsageError if they cannot be checked."""
        from softmark.intake import contents, places
        from softmark.intake.model import SubmittedFiles
        from softmark.intake.notebook import with_cells

        saved = [_saved(file) for file in self.files]
        file, content, notes = self._chosen(saved, handout)
        with _checkable(file):
            files = {path.name: places.read(path) for path in self._beside(file)} | {file.name: content}
            handed = SubmittedFiles(file.name, files, notes=notes)
            if file.suffix == NOTEBOOK:
                return with_cells(handed)
            contents.check(content)
        return handed

    def _chosen(
        self, saved: list[SavedFile], handout: Handout, use: str = "checked"
    ) -> tuple[Path, bytes, tuple[str, ...]]:
        """Return the file to use with its content, and a note if another one was begun, too."""
        from softmark.intake import contents
        from softmark.intake.choose import further_on

        if len(saved) == 1:
            return self.files[0], saved[0].content, ()
        python, notebook = saved
        is_notebook, why = further_on(python, notebook, handout.as_homework(self.folder, {}))
        pairs = list(zip(self.files, saved, strict=True))
        (better, chosen), (other, left) = pairs[::-1] if is_notebook else pairs
        if contents.unfinished(left.content) >= contents.defined(left.content, handout.wanted):
            return better, chosen.content, ()  # the other one is a starter, or nearly so
        return better, chosen.content, (f"{better.name} was {use}, not {other.name}: {why}",)

    def state(self) -> dict[Path, tuple[int, int]]:
        """Return time and size of each file that matters, without a file that is just being replaced."""
        found = {}
        beside = self._beside(self.files[0])
        for path in (*self.files, *beside, *self.folder.glob("*.json"), *self.folder.glob("test_*.py")):
            try:
                seen = path.stat()
            except FileNotFoundError:
                continue
            found[path] = (seen.st_mtime_ns, seen.st_size)
        return found

    def _beside(self, file: Path) -> list[Path]:
        files = sorted(file.parent.glob("*.py"))
        return [path for path in files if path.is_file() and not path.name.startswith("test_") and path != file]


def _saved(file: Path, most: int | None = None) -> SavedFile:
    from softmark.intake import places
    from softmark.intake.choose import SavedFile

    with _checkable(file):
        content = places.read(file, most or (places.LARGEST_NOTEBOOK if file.suffix == NOTEBOOK else places.LARGEST))
        return SavedFile(content, file.stat().st_mtime)


@contextmanager
def _checkable(file: Path) -> Iterator[None]:
    """Raise UsageError if grading would refuse the file for what happens in this block."""
    from softmark.intake.places import Refusal

    try:
        yield
    except Refusal as refusal:
        raise UsageError(f"{file.name} cannot be checked: {refusal}") from None


def find_work(path: Path | None, homework: str | None) -> OwnWork:
    """Return the work that `softmark check` is asked for. Raise UsageError with the next step if it cannot be found."""
    place = (path or Path.cwd()).absolute()
    if not place.is_dir():
        own = homework or (None if (place.parent / EXAMPLES).is_file() else place.stem)
        return OwnWork((place,), find_homework(place.parent, own))
    folder = find_homework(place, homework)
    python = folder / read_handout(folder).file
    both = (python, python.with_suffix(NOTEBOOK))
    return OwnWork(tuple(file for file in both if file.is_file()) or (python,), folder)


def find_homework(start: Path, homework: str | None) -> Path:
    """Return a homework's folder: this one, one of its name near here, or one in `assignments/` of a course around."""
    if (start / EXAMPLES).is_file() and homework in (None, read_handout(start).homework):
        return start
    if homework is None:
        raise UsageError(
            f"no homework in {start}: go to a homework's folder, or name file and homework: check FILE -a HOMEWORK"
        )
    around = dict.fromkeys((start, *start.parents, Path.cwd(), *Path.cwd().parents))
    for place in (folder for base in around for folder in (base / homework, base / "assignments" / homework)):
        if (place / EXAMPLES).is_file():
            return place
    raise UsageError(
        f"the public tests of {homework!r} are not here: go to the folder that has {homework}'s {EXAMPLES} in it, "
        "and if the file is elsewhere: softmark check FILE -a HOMEWORK"
    )

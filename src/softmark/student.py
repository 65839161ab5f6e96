"""Runs the public tests of a homework on a student's own work, from the terminal or from a notebook's cell.

softmark check                          in the homework's folder

from softmark.student import check      in a notebook
check("attention_scores", part="3")
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softmark.check.public_tests import EXAMPLES, read_handout
from softmark.records.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from softmark.records.result import Result

POLL_SECONDS = 0.3


def check(homework: str, part: str | int | None = None) -> None:
    """Run the public tests of a homework, or of one of its parts, on the functions of this notebook.

    In a file that is imported or graded this does nothing.
    """
    namespace = sys._getframe(1).f_globals
    if namespace.get("__name__") != "__main__":
        return
    from softmark.check.namespace import keeping_generators

    with keeping_generators():  # rich draws random numbers, too, when it is imported
        _check(homework, namespace, None if part is None else str(part))


def _check(homework: str, namespace: Mapping[str, Any], part: str | None) -> None:
    """Check the functions of a namespace, and print the result."""
    from rich.console import Console

    from softmark.feedback.terminal import show_checked

    try:
        folder = find_homework(Path.cwd(), homework)
        result = check_namespace(folder, namespace, part)
    except (UsageError, ConfigError) as error:
        print(f"softmark: {error}")
    else:
        show_checked(result, Console())


def check_namespace(folder: Path, namespace: Mapping[str, Any], part: str | None = None) -> Result:
    """Return the result of the public tests on the functions of a namespace."""
    from softmark.check.checking import run_public_tests
    from softmark.check.missing_imports import of_namespace
    from softmark.check.namespace import NotebookNamespace
    from softmark.intake.model import SubmittedFiles

    notebook = NotebookNamespace(namespace)
    handed = SubmittedFiles("the notebook", notebook.files, tuple(notebook.files))
    handout = read_handout(folder)
    foreign = of_namespace(namespace, handout.wanted, handout.packages)
    return run_public_tests(folder, handout, handed, notebook, part, foreign)


@dataclass(frozen=True)
class OwnWork:
    """A student's file, and the folder of the homework it belongs to."""

    file: Path
    folder: Path

    def check(self) -> Result:
        """Return the result of the public tests on the file as it is now; it can import Python files beside it."""
        from softmark.check.checking import run_public_tests
        from softmark.check.missing_imports import of_files
        from softmark.intake import contents, places
        from softmark.intake.model import SubmittedFiles
        from softmark.sandbox.isolation import InChild, Unheard

        try:
            files = {path.name: places.read(path) for path in (*self._beside(), self.file)}
            contents.check(files[self.file.name])
        except places.Refusal as refusal:
            raise UsageError(f"{self.file.name} cannot be checked: {refusal}") from None
        sandbox, edits = InChild(), Unheard()
        handout, handed = read_handout(self.folder), SubmittedFiles(self.file.name, files)
        foreign = of_files(handed, handout.wanted, handout.packages)
        try:
            return run_public_tests(self.folder, handout, handed, sandbox, foreign=foreign, edits=edits)
        finally:
            sandbox.close()
            edits.close()

    def state(self) -> dict[Path, tuple[int, int]]:
        """Return time and size of each file that matters, without a file that is just being replaced."""
        found = {}
        for path in (self.file, *self._beside(), *self.folder.glob("*.json"), *self.folder.glob("test_*.py")):
            try:
                seen = path.stat()
            except FileNotFoundError:
                continue
            found[path] = (seen.st_mtime_ns, seen.st_size)
        return found

    def _beside(self) -> list[Path]:
        files = sorted(self.file.parent.glob("*.py"))
        return [path for path in files if path.is_file() and not path.name.startswith("test_") and path != self.file]


def find_work(path: Path | None, homework: str | None) -> OwnWork:
    """Return the work that `softmark check` is asked for. Raise UsageError with the next step if it cannot be found."""
    place = (path or Path.cwd()).absolute()
    if place.is_dir():
        folder = find_homework(place, homework)
        file = folder / read_handout(folder).file
    else:
        file = place
        own = homework or (None if (place.parent / EXAMPLES).is_file() else place.stem)
        folder = find_homework(place.parent, own)
    if file.suffix == ".ipynb":
        raise UsageError(f"{file.name} is a notebook, and checks itself: run its cells in Jupyter.")
    return OwnWork(file, folder)


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


def watch(work: OwnWork, run: Callable[[], int], wait: Callable[[], object] = lambda: time.sleep(POLL_SECONDS)) -> int:
    """Run now and whenever a file was changed, until Ctrl-C. Return the exit code of the last finished run.

    Raise KeyboardInterrupt if no run has finished.
    """
    code: int | None = None
    before: dict[Path, tuple[int, int]] | None = None
    try:
        while True:
            now = work.state()
            if now != before:
                before = now
                code = run()
            wait()
    except KeyboardInterrupt:
        if code is None:
            raise
        return code

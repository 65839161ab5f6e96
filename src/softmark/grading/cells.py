"""Reports which cells of a notebook, or imports of a file, failed, in words for the student.

The report comes from a worker, which may say anything. So a place counts only if the submission has it, and a name only
if the homework asks for it. The text of an exception may be shown, because no test had run when it was raised.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from softmark.course.homework import Homework
from softmark.grading.advice import advised
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Category, Code
from softmark.sandbox import failure_texts
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Loaded

_MOST = 8  # notes of one kind
_MOST_NAMED = 4  # cells in one note
_LONGEST, _LONGEST_REASON = 80, 300
_IN_SYNTAX_ERROR = re.compile(r" \((?:text )?cell \d+, line \d+\)$")


@dataclass(frozen=True)
class BrokenCell:
    """A place in a notebook where its code could not be run."""

    frames: tuple[Frame, ...]
    why: str

    @property
    def sentence(self) -> str:
        """Place and reason: "cell 4, line 2: invalid syntax"."""
        return f"{self.frames[-1].file}, line {self.frames[-1].line}: {self.why}"


@dataclass(frozen=True)
class CellReport:
    """The report on a notebook's cells, or on the imports of a plain file."""

    handed: SubmittedFiles
    failed: tuple[BrokenCell, ...] = ()
    unset: tuple[tuple[str, int], ...] = ()
    several: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def told(
        cls, loaded: Loaded, handed: SubmittedFiles, wanted: Sequence[str], packages: Sequence[str] = ()
    ) -> CellReport:
        """Return a worker's report without those parts that cannot be true."""
        failed = tuple(_broken(raised, handed, packages) for raised in loaded.failed)
        return cls(
            handed,
            tuple(broken for broken in failed if broken is not None)[:_MOST],
            tuple(_places(loaded.unset, handed))[:_MOST],
            tuple(_several(loaded.several, handed, wanted))[:_MOST],
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences for the student, which do not depend on the marks."""
        return (*self.told_apart, *(broken.sentence for broken in self.failed), *self.not_run)

    @property
    def told_apart(self) -> tuple[str, ...]:
        """The sentences on names that several cells define."""
        return tuple(f"`{name}` is defined in {_joined(cells)}; the last one counts" for name, cells in self.several)

    @property
    def not_run(self) -> tuple[str, ...]:
        """The sentences on statements that were not run although they set a name that something needs."""
        return tuple(self._not_run(file, line) for file, line in self.unset)

    def behind(self, name: str) -> BrokenCell | None:
        """Return the failure of the cell that defines this name, if that cell failed.

        In a file that is no notebook, return the failure of an `import *`, which may have been meant to bring the name.
        """
        place = self.handed.place_of(name.partition(".")[0])
        here = [broken for broken in self.failed if place is not None and broken.frames[0].file == place[0]]
        if not self.handed.cells:
            here = [broken for broken in self.failed if self._line_of(broken).endswith("*")]
        return here[0] if here else None

    def lacking(self, name: str) -> str:
        """Return, as the end of a sentence, why a cell did not define a name; empty if no cell failed."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        for file, line in self.unset:
            if word.search(self.handed.line(file, line) or ""):
                rule = "of a notebook only imports, functions, classes and simple constants are run"
                return f"which is set in {file}, line {line}, and that was not run: {rule}"
        named = [broken for broken in self.failed if word.search(self._line_of(broken))]
        broken = named[0] if named else self.behind(name)
        return f"which is not there, because this failed: {broken.sentence}" if broken is not None else ""

    def _line_of(self, broken: BrokenCell) -> str:
        """Return the line of a cell or a file that failed."""
        return self.handed.line(broken.frames[0].file, broken.frames[0].line) or ""

    def _not_run(self, file: str, line: int) -> str:
        text = (self.handed.line(file, line) or "")[:_LONGEST]
        return (
            f"{file}, line {line} was not run, though your functions need what it sets: `{text}`; of a notebook only "
            "imports, functions, classes and simple constants are run"
        )


def _broken(raised: Raised, handed: SubmittedFiles, packages: Sequence[str]) -> BrokenCell | None:
    frames = tuple(frame for frame in raised.frames if handed.line(frame.file, frame.line) is not None)
    if not frames or frames[0].file not in (handed.cells or handed.files):
        return None
    failure = failure_texts.from_exception(raised)
    known = advised(failure, handed, packages, loading=True)
    syntax = _IN_SYNTAX_ERROR.search(raised.message)
    if known is not failure:
        frames, why = known.raised.frames if known.raised is not None else frames, known.fact
    elif syntax is not None:
        why = raised.message[: syntax.start()][:_LONGEST_REASON]
    else:
        why = f"{failure.fact} ({failure.detail})" if failure.detail else failure.fact
    return BrokenCell(frames, " ".join(why.split())[:_LONGEST_REASON])


def _places(found: Sequence[tuple[int, int]], handed: SubmittedFiles) -> Iterator[tuple[str, int]]:
    """Yield cell and line of each place that exists. A cell is given by its number in order."""
    cells = dict(enumerate(handed.cells))
    for number, line in found:
        if number in cells and handed.line(cells[number], line) is not None:
            yield cells[number], line


def _several(
    found: Sequence[tuple[str, list[int]]], handed: SubmittedFiles, wanted: Sequence[str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each wanted name that several cells define, with those cells."""
    cells = dict(enumerate(handed.cells))
    for name, numbers in found:
        if name not in wanted:
            continue
        told = {cells[number] for number in numbers if number in cells}
        places = tuple(cell for cell in handed.cells_that_write(name) if cell in told)
        if len(places) > 1:
            yield name, places


def _joined(cells: tuple[str, ...]) -> str:
    """Return "cells 3, 5 and 7". Text cells have names of their own. If there are many cells, name only the last."""
    if len(cells) > _MOST_NAMED:
        return f"{len(cells)} cells, last in {cells[-1]}"
    plain = all(cell.startswith("cell ") for cell in cells)
    names = [cell.removeprefix("cell ") if plain else cell for cell in cells]
    return f"{'cells ' if plain else ''}{', '.join(names[:-1])} and {names[-1]}"


def require_a_part(names: Collection[str], handed: SubmittedFiles, homework: Homework, cells: CellReport) -> None:
    """Raise StudentFailure if the file defines no name of the homework, so that there is one reason for all parts."""
    wanted = homework.wanted
    if any(name in names for name in wanted):
        return
    fact = f"it defines none of the names that are asked for (`{'`, `'.join(wanted)}`)"
    if cells.failed:
        first = cells.failed[0]
        raised = Raised("SyntaxError", "", first.frames)
        raise StudentFailure(Category.ERROR, f"{fact}; its {first.sentence}", raised=raised, code=Code.NOT_DEFINED)
    for name in wanted:
        similar = handed.similar(name)
        place = handed.place_of(similar) if similar is not None else None
        if place is not None:
            frame = Frame(*place, "", "")
            fact += f"; is your `{similar}` meant to be `{name}`?"
            raise StudentFailure(Category.ERROR, fact, raised=Raised("NameError", "", (frame,)), code=Code.NOT_DEFINED)
    raise StudentFailure(Category.ERROR, fact, code=Code.NOT_DEFINED)

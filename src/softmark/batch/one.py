"""Grades one file: from its path to its Result."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from softmark.batch.grader import EngineFailed, Grader
from softmark.grading.messages import Job, Setup
from softmark.grading.result import Result, Status, Submission, refused
from softmark.intake.notebook import LARGEST, Notebook, read_notebook
from softmark.intake.source import Refusal, check, read

Sink = Callable[[Result], None]


def grade_one(path: Path, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None) -> Result:
    """The final Result; `sink` is given every result on the way to it, the one of second zero first.

    `meanwhile` is called once the engine is on its way: it needs most of a second before it can be asked anything.
    """
    submission = Submission(id=path.stem, name=path.stem, file=path.name)
    try:
        source, notebook = _read(path)
    except Refusal as refusal:
        source, notebook, why = b"", None, str(refusal)
    else:
        why = ""
        submission = msgspec.structs.replace(submission, sha256=hashlib.sha256(source).hexdigest())
    with Grader(setup) as grader:
        meanwhile()
        result = msgspec.structs.replace(grader.ready(), submission=submission)
        sink(result)
        if why:
            result = refused(result, why)
            sink(result)
            return result
        try:
            for so_far in grader.grade(_job(submission, result.file, source, notebook)):
                result = so_far
                sink(result)
        except EngineFailed as failure:
            notes = (*result.staff_notes, str(failure))
            result = msgspec.structs.replace(result, status=Status.GRADER_ERROR, staff_notes=notes)
            sink(result)
        return result


def _read(path: Path) -> tuple[bytes, Notebook | None]:
    """The bytes of the file, and if it is a notebook what they say; Refusal if it cannot be graded."""
    if path.suffix.lower() == ".ipynb":
        source = read(path, LARGEST)
        return source, read_notebook(source)
    source = read(path)
    check(source)
    return source, None


def _job(submission: Submission, file: str, source: bytes, notebook: Notebook | None) -> Job:
    if notebook is None:
        return Job(submission, file, {file: source})
    name, cells = Path(file).with_suffix(".ipynb").name, dict(notebook.cells)
    notes, staff_notes = notebook.notes, notebook.staff_notes
    return Job(submission, name, cells, tuple(cells), notes=notes, staff_notes=staff_notes)

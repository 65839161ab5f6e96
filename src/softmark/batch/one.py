"""One submission: read from where it was found into a job for an engine, and graded by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from softmark.course.homework import Homework
from softmark.engines.protocol import Engine, EngineError
from softmark.grading.job import Job
from softmark.intake.collect import collect
from softmark.intake.model import Entry
from softmark.intake.notebook import with_cells
from softmark.intake.places import Refusal
from softmark.records.result import Result, Submission, grader_error

Sink = Callable[[Result], None]


def grade_file(path: Path, homework: Homework, engine: Engine, sink: Sink | None = None) -> Result:
    """Grade one file and return the final Result. Raise Unreadable if the file is not there.

    `sink` is given every result on the way, the one before the first test first.
    """
    (entry,) = collect([path], homework).entries
    engine.start()
    job = read(entry, homework)
    result = job.result(engine.pending())
    if sink is not None:
        sink(result)
    if not job.refusal:
        try:
            result = engine.submit(job, sink).result()
        except EngineError as failure:
            result = failure.result or grader_error(result, str(failure))
        if sink is not None:
            sink(result)
    return result


def read(entry: Entry, homework: Homework) -> Job:
    """Read a submission. A file that is called a notebook and is none is refused, too."""
    handed = entry.load(homework)
    sha256 = _digest(handed.files) if handed.files else ""
    cells: tuple[str, ...] = ()
    if handed.main == homework.notebook:
        try:
            handed, cells = with_cells(handed)
        except Refusal as refusal:
            handed = replace(handed, refusal=str(refusal))
    name = ", ".join(student.name or student.id for student in entry.students) or entry.id
    return Job(
        Submission(id=entry.id, name=name, file=handed.main or homework.file, sha256=sha256),
        handed.main,
        dict(handed.files),
        cells,
        handed.notes,
        handed.staff_notes,
        handed.refusal,
    )


def _digest(files: Mapping[str, bytes]) -> str:
    """Return the hash of a single file, which anybody can compute, or of the names and hashes of several."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(msgspec.json.encode(hashes, order="sorted")).hexdigest()

"""Grades one submission by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from softmark.course.homework import Homework
from softmark.engines.protocol import Engine, EngineError
from softmark.grading.job import read_job
from softmark.intake.collect import collect
from softmark.intake.model import Entry
from softmark.records.result import Result, grader_error

Sink = Callable[[Result], None]


def unheard(so_far: Result) -> None:
    """Do nothing with a result on the way. The engine tells it all the same, so it is kept if the engine breaks."""


def grade_file(path: Path, homework: Homework, engine: Engine, sink: Sink = unheard) -> Result:
    """Grade one file as `grade_one` does. Raise Unreadable if the file is not there."""
    (submission,) = collect([path], homework).entries
    return grade_one(submission, homework, engine, sink)


def grade_one(submission: Entry, homework: Homework, engine: Engine, sink: Sink = unheard) -> Result:
    """Grade one submission and return the final Result.

    `sink` is called with every result on the way, beginning with the one before the first test.
    """
    engine.start()
    job = read_job(submission, homework)
    result = job.result(engine.pending())
    sink(result)
    if not job.files.refusal:
        try:
            result = engine.submit(job, sink).result()
        except EngineError as failure:
            result = failure.result or grader_error(result, str(failure))
        sink(result)
    return result

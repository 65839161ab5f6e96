"""Grades one submission: from where it was found to its Result, step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from softmark.batch.jobs import read
from softmark.course.homework import Homework
from softmark.engines.local import EngineFailed, Grader
from softmark.engines.messages import Setup
from softmark.intake.collect import collect
from softmark.intake.model import Entry
from softmark.records.result import Result, grader_error

Sink = Callable[[Result], None]


def grade_file(
    path: Path, homework: Homework, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None
) -> Result:
    """Grade one file that somebody named; Unreadable if it is not there."""
    (entry,) = collect([path], homework).entries
    return grade_one(entry, homework, setup, sink, meanwhile)


def grade_one(
    entry: Entry, homework: Homework, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None
) -> Result:
    """The final Result; `sink` is given every result on the way to it, the one of second zero first.

    `meanwhile` is called once the engine is on its way: it needs most of a second before it can be asked anything.
    """
    with Grader(setup) as grader:
        task = read(entry, homework)
        meanwhile()
        result = task.result(grader.ready())
        sink(result)
        if task.handed.refusal:
            return result
        try:
            for so_far in grader.grade(task.job):
                result = so_far
                sink(result)
        except EngineFailed as failure:
            result = grader_error(result, str(failure))
            sink(result)
        return result

"""Grades one submission: from where it was found to its Result, step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from softmark.batch.jobs import read, wanted_by
from softmark.course.homework import Homework
from softmark.engines.local import EngineFailed, Grader
from softmark.engines.messages import Setup
from softmark.intake.collect import collect
from softmark.intake.handed_in import Entry
from softmark.intake.wanted import Wanted
from softmark.records.result import Result, grader_error

Sink = Callable[[Result], None]


def grade_file(
    path: Path, homework: Homework, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None
) -> Result:
    """Grade one file that somebody named; Unreadable if it is not there."""
    wanted = wanted_by(homework)
    (entry,) = collect([path], wanted).entries
    return grade_one(entry, wanted, setup, sink, meanwhile)


def grade_one(
    entry: Entry, wanted: Wanted, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None
) -> Result:
    """The final Result; `sink` is given every result on the way to it, the one of second zero first.

    `meanwhile` is called once the engine is on its way: it needs most of a second before it can be asked anything.
    """
    with Grader(setup) as grader:
        task = read(entry, wanted)
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

"""`softmark grade` for a class: collects, grades, writes what a run leaves behind, and says how it went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from rich.console import Console

from softmark.batch.graded import Graded
from softmark.batch.jobs import wanted_by
from softmark.batch.journal import Journal, Known
from softmark.batch.run import ClassRun
from softmark.grading.homework import Homework
from softmark.grading.late import lateness
from softmark.grading.messages import Setup
from softmark.intake.collect import collect
from softmark.intake.handed_in import Collection
from softmark.report.atomic import writable
from softmark.report.class_table import ClassSummary, show_class
from softmark.report.escape import log_safe, one_line
from softmark.report.gradebook import write_gradebook
from softmark.report.handing_back import has_feedback, write_feedback
from softmark.report.progress import Tally, following

MOST_IGNORED = 5


@dataclass(frozen=True)
class ClassOptions:
    """What was asked for."""

    paths: Sequence[Path]
    output: Path
    jobs: int
    fresh: bool


def grade_class(options: ClassOptions, homework: Homework, setup: Setup, console: Console) -> ClassSummary:
    """Everything between the command and its exit code."""
    collection = collect(options.paths, wanted_by(homework))
    _say_what_was_found(collection, console)
    with Journal(options.output, homework.name) as journal:
        try:
            tally = _grade(collection, options, homework, setup, journal, console)
        except KeyboardInterrupt:
            _finish(options.output, homework, journal)
            console.print("stopped; what was graded is kept: the same command goes on from here")
            raise
        summary = _finish(options.output, homework, journal)
    show_class(summary, console)
    console.print(f"{tally} in {tally.seconds:.1f} s; see {options.output}/grades.csv")
    return summary


def _grade(
    collection: Collection, options: ClassOptions, homework: Homework, setup: Setup, journal: Journal, console: Console
) -> Tally:
    with (
        following(len(collection.entries), console) as (tally, show),
        ClassRun(collection.entries, homework, setup, journal, jobs=options.jobs, fresh=options.fresh) as run,
    ):
        for finished in run:
            if finished.result is not None or not has_feedback(options.output, finished.entry.id):
                with writable(options.output):
                    write_feedback(with_lateness(*journal.counting(finished.entry.id), homework), options.output)
            show(finished)
    return tally


def _finish(output: Path, homework: Homework, journal: Journal) -> ClassSummary:
    """The gradebook is always written from the journal: also what earlier runs graded is in it."""
    summary = ClassSummary()
    with writable(output):
        write_gradebook(_summed_up(journal, homework, summary), output)
    return summary


def _summed_up(journal: Journal, homework: Homework, summary: ClassSummary) -> Iterator[Graded]:
    for graded, about in journal.graded():
        one = with_lateness(graded, about, homework)
        summary.add(one)
        yield one


def with_lateness(graded: Graded, about: Known, homework: Homework) -> Graded:
    """The late policy as it is now, not as it was when this was graded."""
    late = lateness(homework.late, homework.points, _time(about.submitted_at), _time(about.due_at), about.late)
    return msgspec.structs.replace(graded, result=msgspec.structs.replace(graded.result, lateness=late))


def _time(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


def _say_what_was_found(collection: Collection, console: Console) -> None:
    number = len(collection.entries)
    console.print(f"{number} submission{'' if number == 1 else 's'}: {collection.format}")
    for item in collection.ignored[:MOST_IGNORED]:
        console.print(f"  ignored: {log_safe(one_line(item))}", markup=False)
    if len(collection.ignored) > MOST_IGNORED:
        console.print(f"  and {len(collection.ignored) - MOST_IGNORED} more that are nobody's submission")

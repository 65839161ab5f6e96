"""`softmark grade` for a class: collects, grades, writes what a run leaves behind, and says how it went."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType

import msgspec
from rich.console import Console

from softmark.batch.journal import FILE, Journal, Known, ids_in
from softmark.batch.other_homework import other_homework
from softmark.batch.run import ClassRun
from softmark.cli.exits import FAULT, FINDINGS
from softmark.cli.progress import Tally, following
from softmark.course.deadlines import lateness
from softmark.course.homework import Homework
from softmark.engines.ending import no_interrupt_lost
from softmark.engines.messages import Setup
from softmark.feedback.escape import log_safe, message, one_line
from softmark.feedback.safe_files import remove_leftovers, writable
from softmark.intake.collect import collect
from softmark.intake.model import Collection
from softmark.records.points import rounded
from softmark.records.result import Graded, Status
from softmark.report.class_table import ClassSummary, show_class
from softmark.report.gradebook import write_gradebook
from softmark.report.private import close_tree, is_open_to_others
from softmark.report.student_folder import SUBMISSIONS, has_feedback, write_feedback

MOST_IGNORED = 5
MOST_NAMED = 10
MOST_FAULTS = 3


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: the run ends as at Ctrl-C."""


@dataclass(frozen=True)
class ClassOptions:
    """What was asked for."""

    paths: Sequence[Path]
    output: Path
    jobs: int
    fresh: bool


def grade_class(options: ClassOptions, homework: Homework, setup: Setup, console: Console) -> int:
    """Grade, write and print everything; return the exit code."""
    with no_interrupt_lost(), _stopping_at_sigterm():
        return _grade_class(options, homework, setup, console)


@contextmanager
def _stopping_at_sigterm() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _grade_class(options: ClassOptions, homework: Homework, setup: Setup, console: Console) -> int:
    collection = collect(options.paths, homework, ids_in(options.output))
    with Journal(options.output, homework.name) as journal:
        try:
            _say_what_was_found(collection, console)
            tally = _grade(collection, options, homework, setup, journal, console)
            journal.finish()
            summary, outdated, gone = write_up(options.output, homework, journal)
        except KeyboardInterrupt:
            console.print("stopped; what was graded is kept: the same command goes on from here")
            write_up(options.output, homework, journal)
            raise
    warning = _warning(summary, collection, homework)
    if warning:
        console.print(f"look at this first: {log_safe(one_line(message(warning)))}", markup=False, soft_wrap=True)
    show_class(summary, console)
    if is_open_to_others(options.output / FILE):
        console.print(f"others can read {options.output / FILE}, and this user may not change that", soft_wrap=True)
    _name("not handed in any more, the marks from before are kept", gone, console)
    _name(f"graded with other parts or points than {homework.name} has now, not in grades.csv", outdated, console)
    if tally.other_software:
        were = "1 was" if tally.other_software == 1 else f"{tally.other_software} were"
        which = f"`softmark regrade {options.output}` says which"
        console.print(f"{were} graded by another version of Softmark: graded again ({which})", soft_wrap=True)
    for why, times in tally.faults.most_common(MOST_FAULTS):
        of_how_many = "1 submission" if times == 1 else f"{times} submissions"
        text = f"the grader failed at {of_how_many}: {log_safe(one_line(message(why)))}"
        console.print(text, markup=False, soft_wrap=True)
    console.print(f"{tally} in {tally.seconds:.1f} s; see {options.output}/grades.csv", soft_wrap=True)
    if summary.faults + tally.by_status[Status.GRADER_ERROR] > 0:
        return FAULT
    return FINDINGS if collection.doubts or warning else 0


def _warning(summary: ClassSummary, collection: Collection, homework: Homework) -> str:
    """Return what is wrong if most of a class earned nothing and that is rather not the students' fault."""
    if not summary.same.most_failed:
        return ""
    return other_homework(collection.entries, homework) or summary.same.warning


def _grade(
    collection: Collection, options: ClassOptions, homework: Homework, setup: Setup, journal: Journal, console: Console
) -> Tally:
    def keep(graded: Graded, about: Known) -> None:
        with writable(options.output):
            write_feedback(with_lateness(graded, about, homework), options.output)

    with (
        following(len(collection.entries), console) as (tally, show),
        ClassRun(collection.entries, homework, setup, journal, keep, jobs=options.jobs, fresh=options.fresh) as run,
    ):
        for finished in run:
            if finished.result is None and not has_feedback(options.output, finished.entry.id):
                keep(*journal.counting(finished.entry.id))
            show(finished)
    return tally


def write_up(output: Path, homework: Homework, journal: Journal) -> tuple[ClassSummary, list[str], list[str]]:
    """The gradebook is always written from the journal: also what earlier runs graded is in it.

    But not what was graded with other parts or points, which is no one gradebook: those are returned, and then those
    that are not handed in any more, whose marks are kept.
    """
    summary = ClassSummary()
    outdated: list[str] = []
    with writable(output):
        close_tree(output / SUBMISSIONS)
        remove_leftovers(output)
        grades = write_gradebook(_summed_up(journal, homework, summary, outdated), output)
    return summary, outdated, sorted({grade.submission for grade in grades if grade.gone})


def _summed_up(journal: Journal, homework: Homework, summary: ClassSummary, outdated: list[str]) -> Iterator[Graded]:
    for one in class_of(journal, homework, outdated):
        summary.add(one)
        yield one


def class_of(
    journal: Journal, homework: Homework, outdated: list[str] | None = None, run: int | None = None
) -> Iterator[Graded]:
    """What counts (after that run), with its lateness; of `outdated` gradings, made with other points, only the ids."""
    parts = [(part.number, part.function, rounded(part.points)) for part in homework.parts]
    for graded, about in journal.graded(run):
        if outdated is not None and [(p.number, p.function, p.points) for p in graded.result.parts] != parts:
            outdated.append(graded.id)
        else:
            yield with_lateness(graded, about, homework)


def with_lateness(graded: Graded, about: Known, homework: Homework) -> Graded:
    """The late policy as it is now, not as it was when this was graded."""
    late = lateness(homework.late, homework.points, _time(about.submitted_at), _time(about.due_at), about.late)
    return msgspec.structs.replace(graded, result=msgspec.structs.replace(graded.result, lateness=late))


def _time(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


def _say_what_was_found(collection: Collection, console: Console) -> None:
    if collection.doubts:
        console.print("look at this first, it may be somebody's submission:")
    for doubt in collection.doubts[:MOST_NAMED]:
        console.print(f"  {log_safe(one_line(doubt))}", markup=False, soft_wrap=True)
    if len(collection.doubts) > MOST_NAMED:
        console.print(f"  and {len(collection.doubts) - MOST_NAMED} more")
    ignored = [item for item in collection.ignored if item not in collection.doubts]
    number = len(collection.entries)
    console.print(f"{number} submission{'' if number == 1 else 's'}: {collection.format}")
    for item in ignored[:MOST_IGNORED]:
        console.print(f"  ignored: {log_safe(one_line(item))}", markup=False)
    if len(ignored) > MOST_IGNORED:
        console.print(f"  and {len(ignored) - MOST_IGNORED} more that are nobody's submission")


def _name(what: str, submissions: list[str], console: Console) -> None:
    if submissions:
        console.print(f"{what}: {some(submissions)}", markup=False, soft_wrap=True)


def some(ids: Sequence[str]) -> str:
    """The first of these, and how many more there are."""
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{', '.join(ids[:MOST_NAMED])}{more}"

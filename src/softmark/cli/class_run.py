"""Grades a class for `softmark grade`: has it collected, graded and written, and says how it went."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from softmark.batch.class_results import ClassResults, Gradebook, collect_class
from softmark.batch.journal import FILE
from softmark.batch.other_homework import other_homework
from softmark.batch.run import run_class
from softmark.cli.conventions import FAULT, FINDINGS, INTERRUPTED, TERMINATED
from softmark.cli.progress import Tally, following
from softmark.course.homework import Homework
from softmark.engines.ending import no_interrupt_lost
from softmark.engines.local import engine_for, slots_for
from softmark.engines.protocol import Engine, GradingSpec
from softmark.feedback.escape import log_safe, message, one_line
from softmark.intake.model import Collection
from softmark.records.result import Status
from softmark.report.class_view import ClassSummary, show_class
from softmark.report.student_folder import is_open_to_others

MOST_IGNORED = 5
MOST_NAMED = 10
MOST_FAULTS = 3


class _Terminated(KeyboardInterrupt):
    """Raised at SIGTERM: the run ends as at Ctrl-C."""


def grade_class(
    paths: Sequence[Path], folder: Path, homework: Homework, spec: GradingSpec, jobs: int, fresh: bool
) -> int:
    """Grade a class, say how it went, and return the exit code."""
    try:
        with no_interrupt_lost(), _stopping_at_sigterm():
            return _grade_class(paths, folder, homework, spec, jobs or os.cpu_count() or 1, fresh)
    except _Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED


def _grade_class(
    paths: Sequence[Path], folder: Path, homework: Homework, spec: GradingSpec, jobs: int, fresh: bool
) -> int:
    console = Console()
    collection = collect_class(paths, homework, folder)
    slots = slots_for(homework, jobs, len(collection.entries))
    with ClassResults(folder, homework) as results:
        try:
            _say_what_was_found(collection, console)
            with engine_for(spec, slots) as engine:
                tally = _grade(collection, results, engine, fresh, console)
            gradebook = results.write_gradebook()
        except KeyboardInterrupt:
            console.print("stopped; what was graded is kept: the same command goes on from here")
            results.write_gradebook()
            raise
    return _say_how_it_went(gradebook, tally, collection, results, console)


@contextmanager
def _stopping_at_sigterm() -> Iterator[None]:
    """Let SIGTERM end this block as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say_how_it_went(
    gradebook: Gradebook, tally: Tally, collection: Collection, results: ClassResults, console: Console
) -> int:
    """Print what a run has found, and return the exit code."""
    summary, homework, folder = gradebook.summary, results.homework, results.folder
    warning = _warning(summary, collection, homework)
    if warning:
        console.print(f"look at this first: {log_safe(one_line(message(warning)))}", markup=False, soft_wrap=True)
    show_class(summary, console)
    if is_open_to_others(folder / FILE):
        console.print(f"others can read {folder / FILE}, and this user may not change that", soft_wrap=True)
    _name("not handed in any more, the marks from before are kept", gradebook.gone, console)
    outdated = f"graded with other parts or points than {homework.name} has now, not in grades.csv"
    _name(outdated, gradebook.outdated, console)
    if tally.other_software:
        were = "1 was" if tally.other_software == 1 else f"{tally.other_software} were"
        which = f"`softmark regrade {folder}` says which"
        console.print(f"{were} graded by another version of Softmark: graded again ({which})", soft_wrap=True)
    for why, times in tally.faults.most_common(MOST_FAULTS):
        of_how_many = "1 submission" if times == 1 else f"{times} submissions"
        text = f"the grader failed at {of_how_many}: {log_safe(one_line(message(why)))}"
        console.print(text, markup=False, soft_wrap=True)
    console.print(f"{tally} in {tally.seconds:.1f} s; see {folder}/grades.csv", soft_wrap=True)
    if summary.faults + tally.by_status[Status.GRADER_ERROR] > 0:
        return FAULT
    return FINDINGS if collection.doubts or warning else 0


def _warning(summary: ClassSummary, collection: Collection, homework: Homework) -> str:
    """Return what is wrong if most of a class earned nothing and that is probably not the students' fault."""
    if not summary.same.most_failed:
        return ""
    return other_homework(collection.entries, homework) or summary.same.warning


def _grade(collection: Collection, results: ClassResults, engine: Engine, fresh: bool, console: Console) -> Tally:
    """Grade a class, and show the progress."""
    with (
        following(len(collection.entries), console) as (tally, show),
        closing(run_class(collection.entries, results, engine, fresh)) as run,
    ):
        for finished in run:
            show(finished)
    return tally


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


def _name(what: str, submissions: Sequence[str], console: Console) -> None:
    if submissions:
        console.print(f"{what}: {some(submissions)}", markup=False, soft_wrap=True)


def some(ids: Sequence[str]) -> str:
    """Return the first few of these names, and how many more there are."""
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{', '.join(ids[:MOST_NAMED])}{more}"

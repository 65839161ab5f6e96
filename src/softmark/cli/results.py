"""Has the commands on the results of a class: grade files for other programs, changes by regrading, marks by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from softmark.batch.class_results import ClassResults
from softmark.batch.journal import FILE
from softmark.cli.class_run import some
from softmark.records.errors import UsageError
from softmark.records.points import shown
from softmark.report.gradebook import GRADES, TESTS, without_mark
from softmark.report.lms import CanvasColumn, unknown_to_moodle, write_canvas, write_moodle
from softmark.report.regrade import compare, show_regrade, write_regrade

Results = Annotated[Path, typer.Argument(help="The folder that `softmark grade` keeps results in.", show_default=False)]


def export(
    results: Results,
    canvas: Annotated[
        Path | None,
        typer.Option(help="Write this file for Canvas: Grades, Import.", show_default=False, dir_okay=False),
    ] = None,
    moodle: Annotated[
        Path | None,
        typer.Option(help="Write this file for Moodle: a grading worksheet.", show_default=False, dir_okay=False),
    ] = None,
    assignment_id: Annotated[
        int | None,
        typer.Option(help="Canvas's number of the assignment, at the end of its address.", show_default=False),
    ] = None,
    canvas_ids: Annotated[
        bool, typer.Option("--canvas-ids", help="The students' ids are Canvas's own, not the institution's.")
    ] = False,
) -> None:
    """Write marks in the form that a learning platform imports, and say whom it will not know."""
    if canvas is None and moodle is None:
        raise UsageError("say what to write: --canvas FILE or --moodle FILE")
    if canvas is not None and moodle is not None and canvas.resolve() == moodle.resolve():
        raise UsageError(f"{canvas} cannot be both Canvas's file and Moodle's; name two")
    _leave_alone(results, canvas, moodle)
    with ClassResults.open(results) as opened:
        title, gradebook = opened.homework.title, opened.gradebook()
    grades = gradebook.grades
    if canvas is not None:
        with _told(canvas):
            write_canvas(grades, CanvasColumn(title, assignment_id, canvas_ids), canvas)
    if moodle is not None:
        with _told(moodle):
            write_moodle(grades, moodle)
    owed = without_mark(grades)
    typer.echo(f"{len(grades) - len(owed)} marks written")
    if canvas is not None and not canvas_ids:
        typer.echo("ids are in Canvas's column SIS User ID: for a class downloaded from Canvas, say --canvas-ids")
    if moodle is not None and (strangers := unknown_to_moodle(grades)):
        why = "no number of Moodle's and no email address, so Moodle cannot tell whose mark it is"
        typer.echo(f"{some([grade.student.id for grade in strangers])}: {why}", err=True)
    for submission in gradebook.outdated:
        typer.echo(f"left out: {submission}: graded with other parts or points; grade again first", err=True)
    for grade in owed:
        typer.echo(f"no mark yet: {grade.student.id}: the grader failed; grade again first", err=True)


def regrade(
    results: Results,
    against: Annotated[
        Path | None,
        typer.Option(help="The results to compare with; without it, those before the last run.", show_default=False),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="Write the differences to this file, too.", show_default=False, dir_okay=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the differences as JSON.")] = False,
) -> None:
    """Say what grading again has changed: old and new marks, student by student and part by part."""
    _leave_alone(results, csv)
    with ClassResults.open(results) as ours, ClassResults.open(against or results) as theirs:
        if ours.homework.name != theirs.homework.name:
            names = f"{against} holds the results of {theirs.homework.name}, {results} of {ours.homework.name}"
            raise UsageError(names)
        old = theirs.before_last_change() if against is None else theirs.current()
        difference = compare(old, ours.current())
    if csv is not None:
        with _told(csv):
            write_regrade(difference, csv)
    if json:
        typer.echo(msgspec.json.encode(difference))
    else:
        show_regrade(difference, Console())
        if ours.homework.late is not None:
            typer.echo("  today's late policy is on both sides: a change of [late] shows in grades.csv only\n")


def _leave_alone(results: Path, *files: Path | None) -> None:
    """Raise UsageError if one of these files is the journal or the gradebook, from which it would be made."""
    kept = {(results / name).resolve() for name in (FILE, GRADES, TESTS)}
    for file in files:
        if file is not None and file.resolve() in kept:
            raise UsageError(f"{file} is one of softmark's own files; name another file")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn an OSError inside this block into a UsageError that names the file and the reason."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from None


def adjust(
    results: Annotated[
        Path, typer.Argument(help="The folder that `softmark grade` keeps results in.", show_default=False)
    ],
    who: Annotated[str, typer.Argument(help="An `id` or a `submission` of its grades.csv.", show_default=False)],
    points: Annotated[
        float,
        typer.Option(help="How many more, or fewer: 1.5, -2. 0 takes back what was decided.", show_default=False),
    ],
    why: Annotated[str, typer.Option(help="The reason, which the student reads.", show_default=False)] = "",
    force: Annotated[bool, typer.Option("--force", help="Also to more than full marks.")] = False,
) -> None:
    """Add points to a mark, or take some off, by hand: it stays so whatever is graded again."""
    with ClassResults.open(results, write=True) as opened:
        graded = opened.adjust(opened.submission_of(who), points, why, force=force)
        opened.finish()
        opened.write_gradebook()
    result = graded.result
    by_hand = f" ({result.adjustment.line})" if result.adjustment else ""
    typer.echo(f"{who}: {shown(result.mark)} of {shown(result.max_score)}{by_hand}")

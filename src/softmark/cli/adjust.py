"""`softmark adjust`: a mark is changed by hand, and every file of the results with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from softmark.batch.journal import Journal
    from softmark.grading.homework import Homework


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
) -> None:
    """Add points to a mark, or take some off, by hand: it stays so whatever is graded again."""
    from softmark.batch.journal import Journal, homework_of
    from softmark.cli.class_run import with_lateness, write_up
    from softmark.grading.homework import load_homework
    from softmark.grading.points import shown
    from softmark.report.atomic import writable
    from softmark.report.handing_back import write_feedback

    _check(points, why)
    homework = load_homework(homework_of(results))
    with Journal(results, homework.name) as journal:
        submission = _submission_of(who, journal, homework)
        with writable(results), journal.adjusting(submission, points, why.strip()) as counting:
            graded = with_lateness(*counting, homework)
            write_feedback(graded, results)
        journal.finish()
        write_up(results, homework, journal)
    result = graded.result
    by_hand = f" ({result.adjustment.line})" if result.adjustment else ""
    typer.echo(f"{who}: {shown(result.mark)} of {shown(result.max_score)}{by_hand}")


def _check(points: float, why: str) -> None:
    from softmark.grading.errors import UsageError
    from softmark.grading.points import exact_weight

    try:
        exact_weight(abs(points))
    except ValueError as error:
        raise UsageError(f"--points {error}") from None
    if points and not why.strip():
        raise UsageError('say why, for the student and for whoever asks in a year: --why "…"')


def _submission_of(who: str, journal: Journal, homework: Homework) -> str:
    from softmark.cli.class_run import class_of
    from softmark.grading.errors import UsageError
    from softmark.report.gradebook import GRADES
    from softmark.report.grades import class_grades, grades_of

    grades = class_grades(grade for graded in class_of(journal, homework, []) for grade in grades_of(graded))
    found = {grade.submission for grade in grades if who in (grade.student.id, grade.submission)}
    if len(found) != 1:
        which = "is the id of one and the submission of another" if found else "is nobody there"
        raise UsageError(f"{who} {which}: name an id or a submission of {journal.path.with_name(GRADES)}")
    return found.pop()

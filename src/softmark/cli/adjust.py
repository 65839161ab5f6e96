"""`softmark adjust`: a mark is changed by hand, and every file of the results with it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from softmark.batch.journal import Journal
    from softmark.course.homework import Homework
    from softmark.records.result import Graded
    from softmark.report.grades import Grade

MOST_SUGGESTED = 3


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
    from softmark.batch.journal import Journal, homework_of
    from softmark.cli.class_run import with_lateness, write_up
    from softmark.course.homework import load_homework
    from softmark.feedback.safe_files import writable
    from softmark.records.points import shown
    from softmark.report.student_folder import write_feedback

    _check(points, why)
    homework = load_homework(homework_of(results))
    with Journal(results, homework.name) as journal:
        submission = _submission_of(who, journal, homework)
        with writable(results), journal.adjusting(submission, points, why.strip()) as counting:
            graded = with_lateness(*counting, homework)
            _check_mark(graded, points, force)
            write_feedback(graded, results)
        journal.finish()
        write_up(results, homework, journal)
    result = graded.result
    by_hand = f" ({result.adjustment.line})" if result.adjustment else ""
    typer.echo(f"{who}: {shown(result.mark)} of {shown(result.max_score)}{by_hand}")


def _check(points: float, why: str) -> None:
    from softmark.records.errors import UsageError
    from softmark.records.points import exact_weight

    try:
        exact_weight(abs(points))
    except ValueError as error:
        raise UsageError(f"--points {error}") from None
    if points and not why.strip():
        raise UsageError('say why, for the student and for whoever asks in a year: --why "…"')


def _check_mark(graded: Graded, points: float, force: bool) -> None:
    """Raise UsageError, which undoes the adjustment, if there is no mark to adjust or it would be beyond full marks."""
    from softmark.records.errors import UsageError
    from softmark.records.points import shown
    from softmark.records.result import Status

    result = graded.result
    if result.status is Status.GRADER_ERROR:
        raise UsageError(f"{graded.id} has no mark yet, because the grader failed: grade again first")
    if points > 0 and result.mark > result.max_score and not force:
        mark = f"{shown(result.mark)} of {shown(result.max_score)}"
        raise UsageError(f"that would be {mark} points, more than full marks: say --force if it is meant")


def _submission_of(who: str, journal: Journal, homework: Homework) -> str:
    from softmark.cli.class_run import class_of
    from softmark.records.errors import UsageError
    from softmark.report.gradebook import GRADES
    from softmark.report.grades import class_grades, grades_of

    outdated: list[str] = []
    grades = class_grades(grade for graded in class_of(journal, homework, outdated) for grade in grades_of(graded))
    found = {grade.submission for grade in grades if who in (grade.student.id, grade.submission)}
    if len(found) == 1:
        return found.pop()
    if who in outdated:
        raise UsageError(f"{who} was graded with other parts or points: grade again first")
    which = "is the id of one and the submission of another" if found else f"is nobody there{_near(who, grades)}"
    raise UsageError(f"{who} {which}: name an id or a submission of {journal.path.with_name(GRADES)}")


def _near(who: str, grades: Iterable[Grade]) -> str:
    """Return whom a name that is nobody's may mean: names, addresses and ids are compared, whatever their case."""
    ids: dict[str, list[str]] = {}
    for grade in grades:
        student = grade.student
        own = f"{student.id} ({student.name})" if student.name not in ("", student.id) else student.id
        for name in {student.id, grade.submission, student.name, student.email} - {""}:
            ids.setdefault(name.casefold(), []).append(own)
    near = get_close_matches(who.casefold(), ids, n=MOST_SUGGESTED, cutoff=0.6)
    meant = dict.fromkeys(own for name in near for own in ids[name])
    return f" (did you mean {' or '.join(list(meant)[:MOST_SUGGESTED])}?)" if meant else ""

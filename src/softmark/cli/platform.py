"""`softmark gradescope`: what run_autograder calls in the platform's container."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softmark.cli.options import Isolation

if TYPE_CHECKING:
    from softmark.grading.homework import Homework
    from softmark.grading.result import Result

FAULT = 3
STAFF_WIDTH = 110


def gradescope(
    root: Annotated[Path, typer.Option(help="Where the platform keeps its files.")] = Path("/autograder"),
    assignment: Annotated[
        str | None,
        typer.Option("--assignment", "-a", help="The homework, if source/ holds more than one.", show_default=False),
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds for the whole run: less than the platform allows.", min=10)
    ] = 540.0,
    isolation: Annotated[Isolation, typer.Option(help="Grade behind these walls or not at all.")] = Isolation.full,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Grade nothing: write source/pending.json, with which a run begins.")
    ] = False,
) -> None:
    """Grade the submission in a Gradescope container, and keep results/results.json valid all the time."""
    from softmark.batch.platform import Place, grade_there
    from softmark.batch.platform import prepare as prepare_there
    from softmark.grading.messages import Setup
    from softmark.grading.result import Status
    from softmark.report.gradescope import write_results

    place = Place(root)
    homework = _homework(place.source, assignment)
    setup = Setup(str(homework.root), homework.name, isolation.value)
    if prepare:
        prepare_there(place, setup, lambda result: write_results(result, place.pending))
        typer.echo(f"{homework.name}: the results of second zero are in {place.pending}")
        return
    place.results.parent.mkdir(exist_ok=True)
    result = grade_there(
        place, homework, setup, timeout,
        sink=lambda so_far: write_results(so_far, place.results, for_staff=True),
        meanwhile=lambda: import_module("softmark.report.table"),
    )  # fmt: skip
    _tell_staff(result)
    if result.status is Status.GRADER_ERROR:
        raise typer.Exit(FAULT)


def _homework(source: Path, named: str | None) -> Homework:
    from softmark.grading.errors import UsageError
    from softmark.grading.homework import course_root, homework_names, load_homework

    root = course_root(source)
    names = homework_names(root)
    if named is None and len(names) != 1:
        raise UsageError(f"{root} holds {len(names)} homeworks: name one of them with -a")
    return load_homework(named or names[0], root)


def _tell_staff(result: Result) -> None:
    """Standard output: the platform shows it to staff only."""
    from rich.console import Console

    from softmark.report.feedback import Audience
    from softmark.report.table import show

    show(result, Console(width=STAFF_WIDTH), Audience.STAFF)

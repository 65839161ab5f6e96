"""`softmark grade`: one file, whose result is printed, or a class (class_run.py)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softmark.cli.exits import FAULT, INTERRUPTED, TERMINATED
from softmark.cli.options import DeviceChoice, Isolation

if TYPE_CHECKING:
    from softmark.course.homework import Homework
    from softmark.engines.protocol import GradingSpec
    from softmark.records.result import Result


def grade(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help="A file, or a class: folders, zips, exports of a platform.", show_default=False
        ),
    ],
    assignment: Annotated[
        str, typer.Option("--assignment", "-a", help="The homework to grade it as.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder to keep results in; for a class: results/HOMEWORK."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Submissions side by side, if memory allows; 0: one for each core.", min=0)
    ] = 0,
    isolation: Annotated[Isolation, typer.Option(help="Grade behind these walls or not at all.")] = Isolation.full,
    device: Annotated[
        DeviceChoice, typer.Option(help="Where submissions run; auto: on a graphics card, if there is one.")
    ] = DeviceChoice.cpu,
    fresh: Annotated[bool, typer.Option("--fresh", help="Grade again what has not changed, too.")] = False,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that one submission may take altogether.", min=1, show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the Result of one file as JSON.")] = False,
) -> None:
    """Grade what was handed in, with the hidden tests, in a walled process: one file, or a whole class."""
    from softmark.course.digest import exposed
    from softmark.course.homework import course_root, load_homework
    from softmark.engines.device import choose
    from softmark.engines.protocol import GradingSpec
    from softmark.records.errors import UsageError

    root = course_root()
    homework = load_homework(assignment, root)
    one = len(paths) == 1 and not os.path.isdir(paths[0]) and paths[0].suffix.casefold() != ".zip"
    if json and not one:
        raise UsageError("--json is for one file; of a class, softmark keeps submissions/ID/results.json in -o")
    chosen = choose(device.value)
    for line in (chosen.line, exposed([homework])):
        if line:
            typer.echo(f"softmark: {line}", err=True)
    spec = GradingSpec.of(homework, isolation.value, timeout, chosen.name)
    code = (
        _grade_file(paths[0], output, homework, spec, json)
        if one
        else _grade_class(paths, output, homework, spec, jobs, fresh)
    )
    if code:
        raise typer.Exit(code)


def _grade_file(path: Path, output: Path | None, homework: Homework, spec: GradingSpec, json: bool) -> int:
    """Grade one file, print its result and return the exit code."""
    from softmark.batch.one import grade_file
    from softmark.batch.other_homework import other_homework
    from softmark.engines.local import LocalEngine
    from softmark.intake.collect import collect
    from softmark.records.result import Status

    keep = _results_file(output)
    with LocalEngine(spec) as engine:
        result = grade_file(path, homework, engine, keep)
    if output is not None:
        _write_pages(result, output)
    _print_result(result, json)
    if result.status is not Status.GRADER_ERROR and not result.total:
        hint = other_homework(collect([path], homework).entries, homework)
        if hint:
            typer.echo(f"softmark: {hint}", err=True)
    return FAULT if result.status is Status.GRADER_ERROR else 0


def _grade_class(
    paths: list[Path], output: Path | None, homework: Homework, spec: GradingSpec, jobs: int, fresh: bool
) -> int:
    """Grade a class and return the exit code."""
    from rich.console import Console

    from softmark.cli.class_run import Terminated, grade_class

    folder = output or Path("results") / homework.name
    try:
        return grade_class(paths, folder, homework, spec, jobs or os.cpu_count() or 1, fresh, Console())
    except Terminated:
        raise typer.Exit(TERMINATED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _results_file(output: Path | None) -> Callable[[Result], None] | None:
    """Keeps `submissions/<id>/results.json` up to date; the first one, of second zero, tells if it cannot be done."""
    if output is None:
        return None
    from softmark.batch.journal import FILE
    from softmark.engines.protocol import EngineError
    from softmark.feedback.results_json import InvalidResults, write_results
    from softmark.feedback.safe_files import writable
    from softmark.records.errors import UsageError
    from softmark.report.student_folder import feedback_folder, make_feedback_folder

    if (output / FILE).exists():
        raise UsageError(f"{output} holds the results of a class; choose another folder for one file with -o")

    def keep(result: Result) -> None:
        folder = feedback_folder(output, result.submission.id)
        with writable(folder):
            make_feedback_folder(folder)
            try:
                write_results(result, folder / "results.json")
            except InvalidResults as error:
                raise EngineError(str(error)) from error

    return keep


def _write_pages(result: Result, output: Path) -> None:
    """What a student of a class gets back, and beside it the page for staff."""
    from softmark.feedback.safe_files import writable
    from softmark.records.result import Graded
    from softmark.report.student_folder import write_feedback, write_staff_page

    with writable(output):
        write_feedback(Graded(result.submission.id, (), result.submission.file, result), output)
        write_staff_page(result, output)


def _print_result(result: Result, json: bool) -> None:
    if json:
        from softmark.records.result import encode

        typer.echo(encode(result))
        return
    from rich.console import Console

    from softmark.feedback.feedback import Audience
    from softmark.feedback.terminal import show

    show(result, Console(), Audience.STAFF)

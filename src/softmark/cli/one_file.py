"""`softmark grade` for one file: grades it, keeps its results if that was asked for, and prints them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from softmark.batch.journal import FILE
from softmark.batch.one import grade_one, unheard
from softmark.batch.other_homework import other_homework
from softmark.cli.conventions import FAULT
from softmark.course.homework import Homework
from softmark.engines.protocol import Engine, EngineError
from softmark.feedback.feedback import Audience
from softmark.feedback.results_json import InvalidResults, write_results
from softmark.feedback.safe_files import writable
from softmark.feedback.terminal import show
from softmark.intake.model import Entry
from softmark.records.errors import UsageError
from softmark.records.result import Graded, Result, Status, encode
from softmark.report.student_folder import (
    MARKS,
    feedback_folder,
    make_feedback_folder,
    write_feedback,
    write_staff_page,
)


def grade_and_show(submission: Entry, homework: Homework, engine: Engine, output: Path | None, json: bool) -> int:
    """Grade one submission, print its result and return the exit code."""
    if output is not None and (output / FILE).exists():
        raise UsageError(f"{output} holds the results of a class; choose another folder for one file with -o")
    sink = unheard if output is None else partial(_write_results, output=output)
    result = grade_one(submission, homework, engine, sink)
    if output is not None:
        with writable(output):
            write_feedback(Graded(result.submission, result), output)
            write_staff_page(result, output)
    if json:
        typer.echo(encode(result))
    else:
        show(result, Console(), Audience.STAFF)
    if result.status is Status.GRADER_ERROR:
        return FAULT
    if not result.total and (hint := other_homework([submission], homework)):
        typer.echo(f"softmark: {hint}", err=True)
    return 0


def _write_results(result: Result, output: Path) -> None:
    """Keep `submissions/<id>/results.json` up to date. The first call fails if the file cannot be written."""
    folder = feedback_folder(output, result.submission.id)
    with writable(folder):
        make_feedback_folder(folder)
        try:
            write_results(result, folder / MARKS)
        except InvalidResults as error:
            raise EngineError(str(error)) from error

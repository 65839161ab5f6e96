"""`softmark check`: the command that a student runs on their own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from softmark import student
from softmark.cli.conventions import FAULT, FINDINGS, INTERRUPTED, USAGE, stdout_kept_clean
from softmark.feedback.terminal import show_checked
from softmark.intake.places import Unreadable
from softmark.records.errors import UsageError
from softmark.records.result import Status, encode
from softmark.student import OwnWork


def check(
    path: Annotated[
        Path | None,
        typer.Argument(help="Your file or notebook; by default the homework in this folder.", show_default=False),
    ] = None,
    assignment: Annotated[
        str | None,
        typer.Option("--assignment", "-a", help="The homework, if the file's name does not say.", show_default=False),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option("--part", "-p", help="Only this part, such as 3.", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--watch", help="Check again whenever you save, until Ctrl-C.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the Result as JSON instead of the table.")] = False,
) -> None:
    """Run a homework's public tests on your own work, on your own machine.

    Where no common mistake explains a failure, it looks for a line that a small change mends.
    """
    work = student.find_work(path, assignment)
    try:
        code = student.watch(work, lambda: _check_again(work, part, json)) if again else _check_once(work, part, json)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code:
        raise typer.Exit(code)


def _check_once(work: OwnWork, part: str | None, json: bool) -> int:
    """Check once, print the result, and return the exit code."""
    if json:
        with stdout_kept_clean():
            result = work.check(part)
        typer.echo(encode(result))
    else:
        result = work.check(part)
        show_checked(result, Console())
    if result.status is Status.GRADER_ERROR:
        return FAULT
    return 0 if result.total == result.max_score else FINDINGS


def _check_again(work: OwnWork, part: str | None, json: bool) -> int:
    """Check once, and go on if the file cannot be read, which may be because it is being saved."""
    try:
        return _check_once(work, part, json)
    except (UsageError, Unreadable) as error:
        typer.echo(f"softmark: {error}", err=True)
        return USAGE

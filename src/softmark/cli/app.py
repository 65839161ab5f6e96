"""The `softmark` command: its sub-commands, and what becomes of the errors that they raise."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from softmark.cli.adjust import adjust
from softmark.cli.author import build, doctor, verify
from softmark.cli.exits import FAULT, USAGE
from softmark.cli.grade import grade
from softmark.cli.platform import bundle, gradescope
from softmark.cli.results import export, regrade
from softmark.cli.student import check

app = typer.Typer(
    name="softmark",
    help="Deep-learning homework, and the harness that grades it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (check, grade, export, regrade, adjust, build, verify, bundle, gradescope, doctor):
    app.command()(command)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"softmark {version('softmark')}")
        raise typer.Exit


@app.callback()
def _softmark(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """A traceback that reaches the user is a bug of this project."""
    import sqlite3

    from softmark.engines.protocol import EngineError
    from softmark.intake.places import Unreadable
    from softmark.records.errors import ConfigError, UsageError

    _print_any_name()
    try:
        app()
    except (UsageError, ConfigError, Unreadable) as error:
        typer.echo(f"softmark: {error}", err=True)
        sys.exit(USAGE)
    except sqlite3.DatabaseError as error:
        next_step = "put a copy of it back, or grade into another folder with -o"
        typer.echo(f"softmark: the results' gradebook.sqlite is damaged: {error}; {next_step}", err=True)
        sys.exit(USAGE)
    except EngineError as failure:
        typer.echo(f"softmark: the grader failed: {failure}", err=True)
        sys.exit(FAULT)


def _print_any_name() -> None:
    """What a terminal has no characters for is written out: a student's name must not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

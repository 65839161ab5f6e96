"""The `softmark` command: its sub-commands, and the exit codes of the errors that they raise.

A command is imported when it is run or asked for its help. No help imports torch.
"""

from __future__ import annotations

import io
import sqlite3
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from softmark.cli.conventions import FAULT, USAGE
from softmark.engines.protocol import EngineError
from softmark.intake.places import Unreadable
from softmark.records.errors import ConfigError, UsageError

COMMANDS = {
    "check": ("student", "Run a homework's public tests on your own work, on your own machine."),
    "pack": ("pack", "Make the file that you upload from your own work, and say what will cost marks."),
    "grade": (
        "grade",
        "Grade what was handed in, with the hidden tests, in a walled process: one file, or a whole class.",
    ),
    "export": ("results", "Write marks in the form that a learning platform imports, and say whom it will not know."),
    "regrade": (
        "results",
        "Say what grading again has changed: old and new marks, student by student and part by part.",
    ),
    "adjust": ("results", "Add points to a mark, or take some off, by hand: it stays so whatever is graded again."),
    "build": ("author", "Make what students get from the references: starters, notebooks and worked examples."),
    "verify": (
        "author",
        "Prove that the hidden tests grade: right code keeps its marks, every known mistake is caught and named.",
    ),
    "new": (
        "author",
        "Print what you then complete: `softmark new mistake FILE` makes an entry of a student's program.",
    ),
    "mutate": (
        "author",
        "Prove that the hidden tests let nothing through: edit the reference in hundreds of places, one at a time.",
    ),
    "release": (
        "author",
        "Make what students are given: a folder and a zip for each homework, with Softmark and a line to install it.",
    ),
    "bundle": ("author", "Make the zip that is uploaded to Gradescope, once `softmark verify` holds for the homework."),
    "gradescope": (
        "platform",
        "Grade the submission in a Gradescope container, and keep results/results.json valid all the time.",
    ),
    "doctor": (
        "platform",
        "Say what this machine can promise: isolation level and why not higher, devices, versions, limits.",
    ),
}
"""Each command with its module in this room and the first sentence of its help."""


_EVERYWHERE = {"check", "pack", "build", "new"}
_WITH_LOCKS = {"export", "regrade", "adjust"}


def _require_system(name: str) -> None:
    """Raise UsageError if a command cannot work on this system: walls need Linux, a gradebook needs locks of files."""
    locks = find_spec("fcntl") is not None
    if name in _EVERYWHERE or (locks and (name in _WITH_LOCKS or sys.platform == "linux")):
        return
    raise UsageError(
        f"softmark {name} works on Linux only (on Windows, in WSL); softmark check and softmark pack work here, too"
    )


class LazyCommand(TyperCommand):
    """A command whose module is imported when it is run or asked for its own help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Import the command, and let it parse its arguments."""
        _require_system(str(self.name))
        single = typer.Typer(**_SETTINGS)
        module, _ = COMMANDS[str(self.name)]
        single.command(self.name)(getattr(import_module(f"softmark.cli.{module}"), str(self.name)))
        return typer.main.get_command(single).make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: LazyCommand(name, callback=None, help=text) for name, (_, text) in COMMANDS.items()}


_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
app = typer.Typer(
    name="softmark",
    cls=LazyGroup,
    help="Deep-learning homework, and the harness that grades it.",
    no_args_is_help=True,
    **_SETTINGS,
)


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
    """Run a command. Each known error is one sentence and an exit code; a traceback is a bug of this project."""
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
    """Write out the characters that a terminal lacks, so that a student's name does not end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

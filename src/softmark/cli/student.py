"""`softmark check`: the command that a student runs on their own machine."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from softmark import student
from softmark.check import watching
from softmark.cli.conventions import FAULT, FINDINGS, INTERRUPTED, USAGE, OwnHomework, OwnPath, stdout_kept_clean
from softmark.feedback.checked import Occasion, call_in_words, failed_call
from softmark.feedback.escape import log_safe, message
from softmark.feedback.terminal import show_checked
from softmark.intake.places import Unreadable
from softmark.records.errors import UsageError
from softmark.records.result import Outcome, Result, Status, encode
from softmark.records.verdict import Code
from softmark.student import CheckStopped, OwnWork

_DEBUGGER = """
  Here is this call again, in Python's debugger, at your first line of it.
  n: the next line · s: into a function · p NAME: a value · c: go on · q: end
"""


def check(
    path: OwnPath = None,
    assignment: OwnHomework = None,
    part: Annotated[
        str | None,
        typer.Option("--part", "-p", help="Only this part, such as 3.", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--watch", help="Check again whenever you save, until Ctrl-C.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Open Python's debugger in the first failing call.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the Result as JSON instead of the table.")] = False,
) -> None:
    """Run a homework's public tests on your own work, on your own machine.

    Where no common mistake explains a failure, it looks for a line that a small change mends.
    """
    if debug and (again or json):
        raise UsageError("--debug needs the terminal for itself: leave out --watch and --json")
    work = student.find_work(path, assignment)
    command = _command(path, assignment)
    try:
        if again:
            watched = _Watched(work, part, command, json=json)
            code = watching.watch(work.state, watched.run, watched.search)
        elif debug:
            code = _debug(work, part)
        else:
            code = _check_json(work, part) if json else _check_once(work, part, command)
    except KeyboardInterrupt as stop:
        _tell_stop(stop)
        code = INTERRUPTED
    if code:
        raise typer.Exit(code)


def _command(path: Path | None, assignment: str | None) -> str:
    """Return the command as it can be typed again, without --part and what comes after it."""
    typed = min(sys.argv[0], os.path.relpath(sys.argv[0]), key=len)
    on_path = shutil.which("softmark")
    if on_path is not None and Path(typed).exists() and Path(on_path).samefile(typed):
        typed = "softmark"
    return shlex.join([typed, "check", *([str(path)] if path else []), *(["-a", assignment] if assignment else [])])


def _check_json(work: OwnWork, part: str | None) -> int:
    """Check once, print the result as JSON, and return the exit code."""
    with stdout_kept_clean():
        result = work.check(part)
    typer.echo(encode(result))
    return _code(result)


def _check_once(work: OwnWork, part: str | None, command: str) -> int:
    """Check once, print the result, and return the exit code."""
    result = work.check(part)
    show_checked(result, Console(), work.occasion(result, command))
    return _code(result)


class _Watched:
    """Checks that are repeated: each is shown at once, before the line of a mistake without a name is looked for."""

    def __init__(self, work: OwnWork, part: str | None, command: str, *, json: bool) -> None:
        self._work, self._part, self._command, self._json = work, part, command, json
        self._shown: tuple[Result, Occasion] | None = None

    def run(self) -> int:
        """Check once, and go on if the file cannot be read, which may be because it is being saved."""
        self._shown = None
        try:
            if self._json:
                return _check_json(self._work, self._part)
            result = self._work.check(self._part, repairs=False)
        except (UsageError, Unreadable) as error:
            typer.echo(f"softmark: {error}", err=True)
            return USAGE
        occasion = self._work.occasion(result, self._command, time.strftime("%H:%M:%S"))
        self._show(result, occasion)
        self._shown = result, occasion
        return _code(result)

    def search(self) -> None:
        """Look for the line of a mistake without a name, and show the result again if it is found."""
        if self._shown is None or not _is_unexplained(self._shown[0]):
            return
        result, occasion = self._work.check(self._part), self._shown[1]
        if any(test.repair for test in result.tests):
            self._show(result, occasion)

    def _show(self, result: Result, occasion: Occasion) -> None:
        console = Console()
        if console.is_terminal:
            console.clear()
        show_checked(result, console, occasion)


def _debug(work: OwnWork, part: str | None) -> int:
    """Check once, print the result, and open the debugger in the first failed call."""
    result = work.check(part, repairs=False)
    show_checked(result, Console(), work.occasion(result))
    failed = ((test, failed_call(test)) for test in result.tests)
    test, case = next(((test, case) for test, case in failed if case is not None), (None, None))
    if test is None or case is None or case.call is None:
        typer.echo("  No call has failed in your code, so there is nothing to step through.\n")
        return _code(result)
    typer.echo(f"  {test.number}  {message(call_in_words(case.call))}{_DEBUGGER}")
    work.debug(test, case)
    return _code(result)


def _is_unexplained(result: Result) -> bool:
    """Return whether a test failed for a reason that has no name."""
    failed = (test for test in result.tests if test.outcome is Outcome.FAILED)
    return any(not verdict.causes and verdict.code != Code.FOLLOWS for test in failed for verdict in test.verdicts)


def _tell_stop(stop: KeyboardInterrupt) -> None:
    """Print in which function Ctrl-C has stopped the check, and what it had printed."""
    if not isinstance(stop, CheckStopped):
        return
    where = f" in {stop.function}" if stop.function else ""
    printed = log_safe(message(stop.printed)).rstrip()
    typer.echo(f"\nsoftmark: stopped{where}{', which had printed:' if printed else ''}", err=True)
    for line in printed.splitlines()[-20:]:
        typer.echo(f"  | {line}", err=True)


def _code(result: Result) -> int:
    if result.status is Status.GRADER_ERROR:
        return FAULT
    return 0 if result.total == result.max_score else FINDINGS

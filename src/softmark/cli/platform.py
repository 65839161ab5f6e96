"""Commands for the machine that grades: a run in Gradescope's container, and the examination of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.cli.conventions import FAULT, FINDINGS, DeviceChoice, Isolation
from softmark.course.exposure import exposed
from softmark.course.homework import Homework, course_root, homework_names, load_homework
from softmark.engines.device import choose
from softmark.engines.local import engine_for
from softmark.engines.processes import Examined, examine_machine
from softmark.engines.protocol import GradingSpec
from softmark.feedback.feedback import Audience
from softmark.feedback.results_json import write_results
from softmark.feedback.terminal import show
from softmark.platforms.gradescope import ContainerPaths, grade_there, seconds_of_a_submission
from softmark.platforms.gradescope import prepare as prepare_there
from softmark.records.errors import ConfigError, UsageError
from softmark.records.result import Result, Status

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
    device: Annotated[
        DeviceChoice,
        typer.Option(
            envvar="SOFTMARK_DEVICE", help="Where the submission runs; auto: on a graphics card, if there is one."
        ),
    ] = DeviceChoice.cpu,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Grade nothing: write source/pending.json, with which a run begins.")
    ] = False,
) -> None:
    """Grade the submission in a Gradescope container, and keep results/results.json valid all the time."""
    place = ContainerPaths(root)
    homework = _homework(place.source, assignment)
    chosen = choose(device.value)
    spec = GradingSpec.of(homework, isolation.value, seconds_of_a_submission(timeout), chosen.name)
    with engine_for(spec) as engine:
        if prepare:
            write_results(prepare_there(place, engine), place.pending)
            typer.echo(f"{homework.name}: the results before the first test are in {place.pending}")
            return
        place.results.parent.mkdir(exist_ok=True)
        result = grade_there(
            place, homework, engine, timeout, lambda so_far: write_results(so_far, place.results, for_staff=True)
        )
    if chosen.line:
        typer.echo(chosen.line)
    _tell_staff(result)
    if result.status is Status.GRADER_ERROR:
        raise typer.Exit(FAULT)


def _homework(source: Path, named: str | None) -> Homework:

    root = course_root(source)
    names = homework_names(root)
    if named is None and len(names) != 1:
        raise UsageError(f"{root} holds {len(names)} homeworks: name one of them with -a")
    return load_homework(named or names[0], root)


def _tell_staff(result: Result) -> None:
    """Print the result on standard output, which the platform shows to staff only."""
    show(result, Console(width=STAFF_WIDTH), Audience.STAFF)


def doctor(
    isolation: Annotated[Isolation, typer.Option(help="The level that is needed.")] = Isolation.full,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what this machine can promise: isolation level and why not higher, devices, versions, limits."""
    found = examine_machine(isolation.value)
    if readable := _readable_secrets():
        remarks = (*found.machine.remarks, readable)
        found = msgspec.structs.replace(found, machine=msgspec.structs.replace(found.machine, remarks=remarks))
    if json:
        typer.echo(msgspec.json.encode(found.machine))
    else:
        show_machine(found, Console())
    if not found.enough:
        raise typer.Exit(FINDINGS)


def _readable_secrets() -> str:
    """Return a warning if there is a course around this folder and others can read its hidden tests."""
    try:
        root = course_root()
        return exposed(load_homework(name, root) for name in homework_names(root))
    except (UsageError, ConfigError):  # this command is about the machine; others report errors of a course
        return ""


_STOPS = {
    "full": "student code runs as a user of its own, behind Landlock and seccomp: it can neither read, write, signal "
    "nor connect to anything outside its scratch directory",
    "user": "student code runs behind Landlock and seccomp, as the user who grades",
    "process": "student code runs in a process of its own: it cannot patch the grader, but it can read files, kill "
    "processes and use the network",
}


def show_machine(found: Examined, console: Console) -> None:
    """Print the level and its reasons first, then the facts."""
    machine = found.machine
    verdict = "✓" if found.enough else "✗"
    console.print(
        Text(f"\n  {verdict} isolation level {machine.level}", style="bold green" if found.enough else "bold red")
    )
    console.print(Text(f"    {_STOPS[machine.level]}", style="dim"))
    if not found.enough:
        console.print(Text(f"    asked for: {found.asked}. Nothing is graded below the level that is asked for."))
    for level, why in machine.why_not_higher.items():
        console.print(Text(f"    not {level}: {why}"))
    facts = Table(box=None, show_header=False, padding=(0, 2))
    facts.add_row("devices", ", ".join(machine.devices))
    facts.add_row("versions", ", ".join(f"{name} {number}" for name, number in machine.versions.items()))
    facts.add_row("Landlock", f"version {machine.landlock}" if machine.landlock else "not available")
    facts.add_row("limits", _limits(machine.limits))
    console.print()
    console.print(facts)
    for remark in machine.remarks:
        console.print(Text(f"\n  ! {remark}"))
    console.print()


def _limits(limits: dict[str, float]) -> str:
    return (
        f"{limits['cpu_seconds']:g} s of computing a test, {limits['import_seconds']:g} s for importing, "
        f"the sum of these for a whole submission on the clock, {limits['test_seconds']:g} s for a hidden test itself, "
        f"{limits['memory_mb']:g} MB of memory, {limits['file_mb']:g} MB of files, {limits['processes']:g} processes, "
        f"{limits['answer_mb']:g} MB of an answer beyond what is expected"
    )

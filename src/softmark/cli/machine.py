"""What `softmark doctor` shows."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.engines.processes import Examined

_STOPS = {
    "full": "student code runs as a user of its own, behind Landlock and seccomp: it can neither read, write, signal "
    "nor connect to anything outside its scratch directory",
    "user": "student code runs behind Landlock and seccomp, as the user who grades",
    "process": "student code runs in a process of its own: it cannot patch the grader, but it can read files, kill "
    "processes and use the network",
}


def show_machine(found: Examined, console: Console) -> None:
    """The level and its reasons first, then the facts."""
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

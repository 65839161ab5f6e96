"""Commands for whoever makes homework and runs the machine that grades it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from softmark.cli.exits import FINDINGS
from softmark.cli.options import Isolation
from softmark.cli.streams import stdout_kept_clean


def build(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    only_check: Annotated[bool, typer.Option("--check", help="Write nothing; say which files are stale.")] = False,
) -> None:
    """Make what students get from the references: starters, notebooks and worked examples."""
    from softmark.authoring.build import buildable, lacking, products, stale
    from softmark.course.homework import course_root, load_homework
    from softmark.grading.resolved_names import check_names

    root = course_root()
    differing = {}
    for name in homeworks or buildable(root):
        homework = load_homework(name, root)
        check_names(homework)
        made = products(homework)
        differing.update({file: made[file] for file in stale(made)})
    for file, content in differing.items():
        if not only_check:
            file.write_bytes(content)
        typer.echo(f"{'stale' if only_check else 'wrote'} {file.relative_to(root)}")
    for name, lack in ({} if homeworks else lacking(root)).items():
        typer.echo(f"{name} is not built: there is no {lack}", err=True)
    if not differing:
        typer.echo("everything is up to date")
    elif only_check:
        typer.echo("run `softmark build` and commit what it writes", err=True)
        raise typer.Exit(FINDINGS)


def verify(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    jobs: Annotated[int, typer.Option(help="Engines side by side; 0: one for each core.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove that the hidden tests grade: right code keeps its marks, every known mistake is caught and named."""
    import time

    from rich.console import Console

    from softmark.authoring.verification import prove
    from softmark.authoring.verify_table import as_plain, show_proofs
    from softmark.course.homework import course_root, homework_names, load_homework
    from softmark.records.errors import UsageError
    from softmark.verdict.mistakes import MistakeError

    root = course_root()
    chosen = [load_homework(name, root) for name in homeworks or homework_names(root)]
    if not chosen:
        typer.echo(f"softmark: there is no homework in {root / 'graders'}: nothing is proved", err=True)
        raise typer.Exit(FINDINGS)
    sys.path.insert(0, str(root))  # for `from reference import …` in lists of mistakes
    start = time.monotonic()
    try:
        with stdout_kept_clean():  # public tests run code here, which may print
            proofs = prove(chosen, jobs or os.cpu_count() or 1)
    except MistakeError as error:
        raise UsageError(str(error)) from error
    seconds = time.monotonic() - start
    if json:
        import msgspec

        typer.echo(msgspec.json.encode(as_plain(proofs, seconds)))
    else:
        show_proofs(proofs, seconds, Console())
    if not all(proof.ok for proof in proofs):
        raise typer.Exit(FINDINGS)


def doctor(
    isolation: Annotated[Isolation, typer.Option(help="The level that is needed.")] = Isolation.full,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what this machine can promise: isolation level and why not higher, devices, versions, limits."""
    import msgspec

    from softmark.engines.processes import examine_machine

    found = examine_machine(isolation.value)
    if readable := _readable_secrets():
        remarks = (*found.machine.remarks, readable)
        found = msgspec.structs.replace(found, machine=msgspec.structs.replace(found.machine, remarks=remarks))
    if json:
        typer.echo(msgspec.json.encode(found.machine))
    else:
        from rich.console import Console

        from softmark.cli.machine import show_machine

        show_machine(found, Console())
    if not found.enough:
        raise typer.Exit(FINDINGS)


def _readable_secrets() -> str:
    """Return what is to be said of the course around, if there is one and others can read its hidden tests."""
    from softmark.course.digest import exposed
    from softmark.course.homework import course_root, homework_names, load_homework
    from softmark.records.errors import ConfigError, UsageError

    try:
        root = course_root()
        return exposed(load_homework(name, root) for name in homework_names(root))
    except (UsageError, ConfigError):  # this command is about the machine; others say what is wrong with a course
        return ""

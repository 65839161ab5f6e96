"""Commands for Gradescope: the zip that an instructor uploads, and what runs in the platform's container."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softmark.cli.exits import FAULT, FINDINGS
from softmark.cli.options import DeviceChoice, Isolation

if TYPE_CHECKING:
    from softmark.course.homework import Homework
    from softmark.records.result import Result

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
    from softmark.engines.device import choose
    from softmark.engines.local import LocalEngine
    from softmark.engines.protocol import GradingSpec
    from softmark.feedback.results_json import write_results
    from softmark.platforms.gradescope import ContainerPaths, grade_there, seconds_of_a_submission
    from softmark.platforms.gradescope import prepare as prepare_there
    from softmark.records.result import Status

    place = ContainerPaths(root)
    homework = _homework(place.source, assignment)
    chosen = choose(device.value)
    spec = GradingSpec.of(homework, isolation.value, seconds_of_a_submission(timeout), chosen.name)
    with LocalEngine(spec) as engine:
        if prepare:
            write_results(prepare_there(place, engine), place.pending)
            typer.echo(f"{homework.name}: the results of second zero are in {place.pending}")
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


def bundle(
    homework: Annotated[str, typer.Argument(help="What the autograder grades.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The zip to write, or its folder.")] = Path(
        "autograder.zip"
    ),
    minutes: Annotated[int, typer.Option(help="The timeout that is set on Gradescope.", min=2, max=40)] = 10,
    torch_index: Annotated[
        str | None,
        typer.Option(
            help="The package index of PyTorch's build for the CPU: pip's own has the one for CUDA.", show_default=False
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Engines side by side; 0: one for each core.", min=0)] = 0,
) -> None:
    """Make the zip that is uploaded to Gradescope, once `softmark verify` holds for the homework."""
    import os
    import sys

    from softmark.authoring import bundle as making
    from softmark.course.homework import course_root, load_homework
    from softmark.feedback.safe_files import replacement, writable
    from softmark.records.errors import UsageError
    from softmark.verdict.mistakes import MistakeError

    chosen = load_homework(homework, course_root())
    if output.is_dir():
        output = output / "autograder.zip"
    if output.suffix != ".zip" or not output.parent.is_dir():
        raise UsageError(f"-o {output} cannot be the bundle: name a .zip, or a folder that exists")
    sys.path.insert(0, str(chosen.root))  # for `from reference import …` in lists of mistakes
    packed = making.bundle(chosen, minutes, torch_index)
    if torch_index is None:
        typer.echo(f"softmark: {making.WITHOUT_INDEX}", err=True)
    try:
        proof = making.proved(chosen, jobs or os.cpu_count() or 1)
    except MistakeError as error:
        raise UsageError(str(error)) from error
    if proof is not None and not proof.ok:
        for hole in proof.holes:
            typer.echo(f"{hole.homework}: {hole.subject}: {hole.what}", err=True)
        typer.echo("no bundle was made: mend the hidden tests until `softmark verify` holds", err=True)
        raise typer.Exit(FINDINGS)
    with writable(output.parent), replacement(output) as file:
        file.write(packed)
    typer.echo(f"wrote {output}, {len(packed) / 1000:.0f} kB; on Gradescope:")
    for field, value in making.form(chosen, minutes):
        typer.echo(f"  {field + ':':26}{value}")


def _homework(source: Path, named: str | None) -> Homework:
    from softmark.course.homework import course_root, homework_names, load_homework
    from softmark.records.errors import UsageError

    root = course_root(source)
    names = homework_names(root)
    if named is None and len(names) != 1:
        raise UsageError(f"{root} holds {len(names)} homeworks: name one of them with -a")
    return load_homework(named or names[0], root)


def _tell_staff(result: Result) -> None:
    """Standard output: the platform shows it to staff only."""
    from rich.console import Console

    from softmark.feedback.feedback import Audience
    from softmark.feedback.terminal import show

    show(result, Console(width=STAFF_WIDTH), Audience.STAFF)

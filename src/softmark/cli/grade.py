"""`softmark grade`: reads what was typed; one_file.py does it for one file, class_run.py for a class."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from softmark.cli.conventions import DeviceChoice, Isolation
from softmark.course.exposure import exposed
from softmark.course.homework import course_root, load_homework
from softmark.engines.device import choose
from softmark.engines.local import engine_for
from softmark.engines.protocol import GradingSpec
from softmark.intake.collect import collect
from softmark.records.errors import UsageError


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
    root = course_root()
    homework = load_homework(assignment, root)
    one = len(paths) == 1 and not os.path.isdir(paths[0]) and paths[0].suffix.casefold() != ".zip"
    if json and not one:
        raise UsageError("--json is for one file; of a class, softmark keeps submissions/ID/results.json in -o")
    chosen = choose(device.value)
    of_the_course = all(path.resolve().is_relative_to(root) for path in paths)
    for line in (chosen.line, "" if one or of_the_course else exposed([homework])):
        if line:
            typer.echo(f"softmark: {line}", err=True)
    spec = GradingSpec.of(homework, isolation.value, timeout, chosen.name)
    if one:
        (submission,) = collect(paths, homework).entries
        with engine_for(spec) as engine:
            engine.start()
            from softmark.cli.one_file import grade_and_show  # while the engine starts, which takes most of a second

            code = grade_and_show(submission, homework, engine, output, json)
    else:
        from softmark.cli.class_run import grade_class  # a single file need not wait for this import

        code = grade_class(paths, output or Path("results") / homework.name, homework, spec, jobs, fresh)
    if code:
        raise typer.Exit(code)

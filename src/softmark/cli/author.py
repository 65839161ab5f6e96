"""Commands for authors of homework: build, verify, mutate, release, bundle.

Only these import torch, which takes a second. So each imports its work when what was typed has been read.
"""

from __future__ import annotations

import os
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from softmark.authoring.verify_table import as_plain, show_conditions, show_verifications
from softmark.cli.conventions import FINDINGS, stdout_kept_clean
from softmark.course.homework import course_root, homework_names, load_homework
from softmark.feedback.safe_files import replacement, writable
from softmark.records.errors import UsageError


def build(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    only_check: Annotated[bool, typer.Option("--check", help="Write nothing; say which files are stale.")] = False,
) -> None:
    """Make what students get from the references: starters, notebooks and worked examples."""
    root = course_root()
    from softmark.authoring.build import buildable, lacking, products, stale

    differing = {}
    for name in homeworks or buildable(root):
        made = products(load_homework(name, root))
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
    jobs: Annotated[
        int, typer.Option(help="Submissions side by side, if memory allows; 0: one for each core.", min=0)
    ] = 0,
    only_conditions: Annotated[
        bool, typer.Option("--conditions", help="Fill in only the table of conditions, which is quicker.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove that the hidden tests grade: right code keeps its marks, every known mistake is caught and named."""
    root = course_root()
    chosen = [load_homework(name, root) for name in homeworks or homework_names(root)]
    if not chosen:
        typer.echo(f"softmark: there is no homework in {root / 'graders'}: nothing is proved", err=True)
        raise typer.Exit(FINDINGS)
    from softmark.authoring.verification import verify_conditions, verify_homeworks

    sys.path.insert(0, str(root))  # for `from reference import …` in lists of mistakes
    start = time.monotonic()
    with stdout_kept_clean():  # public tests run code here, which may print
        prove = verify_conditions if only_conditions else verify_homeworks
        verifications = prove(chosen, jobs or os.cpu_count() or 1)
    seconds = time.monotonic() - start
    if json:
        typer.echo(msgspec.json.encode(as_plain(verifications, seconds)))
    elif only_conditions:
        show_conditions(verifications, Console())
    else:
        show_verifications(verifications, seconds, Console())
    if not all(verification.ok for verification in verifications):
        raise typer.Exit(FINDINGS)


def mutate(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    sample: Annotated[
        int, typer.Option(help="Try about one mutant in so many, always the same ones; 1: all of them.", min=1)
    ] = 1,
    jobs: Annotated[
        int, typer.Option(help="Submissions side by side, if memory allows; 0: one for each core.", min=0)
    ] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove that the hidden tests let nothing through: edit the reference in hundreds of places, one at a time."""
    root = course_root()
    chosen = [load_homework(name, root) for name in homeworks or homework_names(root)]
    if not chosen:
        typer.echo(f"softmark: there is no homework in {root / 'graders'}: nothing is proved", err=True)
        raise typer.Exit(FINDINGS)
    from softmark.authoring.mutation import mutate_homeworks
    from softmark.authoring.mutation_table import mutations_as_plain, show_mutations

    start = time.monotonic()
    with stdout_kept_clean():  # the reference runs here, and may print
        mutations = mutate_homeworks(chosen, jobs or os.cpu_count() or 1, sample)
    seconds = time.monotonic() - start
    if json:
        typer.echo(msgspec.json.encode(mutations_as_plain(mutations, seconds)))
    else:
        show_mutations(mutations, seconds, Console())
    if any(mutation.gaps for mutation in mutations):
        raise typer.Exit(FINDINGS)


def release(
    place: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to make releases in.", show_default=False)],
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
) -> None:
    """Make what students are given: a folder and a zip for each homework, with Softmark and a line to install it.

    Nothing is released that gives a solution or a hidden test away.
    """
    root = course_root()
    chosen = [load_homework(name, root) for name in homeworks or homework_names(root)]
    try:
        from softmark.authoring import release as making
    except ModuleNotFoundError as error:
        packages = "latex2mathml markdown-it-py mdit-py-plugins"
        raise UsageError(f"there is no package {error.name}: pip install {packages}") from None

    making.check_place(place)
    with stdout_kept_clean():  # the reference runs here, and may print
        made = list(making.releases(chosen))
    table = Table("homework", "folder", "zip", box=None, header_style="bold", padding=(0, 2))
    with writable(place):
        for one in made:
            folder, archive = making.write(one, place)
            table.add_row(one.homework, f"{folder.name}/", f"{archive.stat().st_size / 1000:.0f} kB")
    typer.echo(f"wrote to {place}, each folder with its zip beside it:\n")
    Console().print(table)
    typer.echo(f"\nA student unpacks a zip and types there `{making.LINE}`.")
    typer.echo(making.SIZES)


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
    jobs: Annotated[
        int, typer.Option(help="Submissions side by side, if memory allows; 0: one for each core.", min=0)
    ] = 0,
) -> None:
    """Make the zip that is uploaded to Gradescope, once `softmark verify` holds for the homework."""
    chosen = load_homework(homework, course_root())
    if output.is_dir():
        output = output / "autograder.zip"
    if output.suffix != ".zip" or not output.parent.is_dir():
        raise UsageError(f"-o {output} cannot be the bundle: name a .zip, or a folder that exists")
    from softmark.authoring import bundle as making

    sys.path.insert(0, str(chosen.root))  # for `from reference import …` in lists of mistakes
    packed = making.bundle(chosen, minutes, torch_index)
    if torch_index is None:
        typer.echo(f"softmark: {making.WITHOUT_INDEX}", err=True)
    verification = making.verified(chosen, jobs or os.cpu_count() or 1)
    if verification is not None and not verification.ok:
        for gap in verification.gaps:
            typer.echo(f"{gap.homework}: {gap.subject}: {gap.what}", err=True)
        typer.echo("no bundle was made: mend the hidden tests until `softmark verify` holds", err=True)
        raise typer.Exit(FINDINGS)
    with writable(output.parent), replacement(output) as file:
        file.write(packed)
    typer.echo(f"wrote {output}, {len(packed) / 1000:.0f} kB; on Gradescope:")
    for field, value in making.form(chosen, minutes):
        typer.echo(f"  {field + ':':26}{value}")


class Skeleton(StrEnum):
    """The things that `softmark new` can begin."""

    MISTAKE = "mistake"


def new(
    what: Annotated[Skeleton, typer.Argument(help="A named mistake.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="A student's program that makes it.", show_default=False)],
    assignment: Annotated[str, typer.Option("--assignment", "-a", help="Its homework.", show_default=False)],
) -> None:
    """Print what you then complete: `softmark new mistake FILE` makes an entry of a student's program."""
    homework = load_homework(assignment, course_root())
    from softmark.authoring.new_mistake import skeletons
    from softmark.edits.changes import EditError

    try:
        made = skeletons(file.read_text("utf-8"), homework.reference.read_text("utf-8"), homework.wanted)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    except EditError as error:
        raise UsageError(f"{file}: {error}; {what} needs a Python file") from error
    if not made:
        raise UsageError(f"{file} has no function of {homework.name} that differs from the reference's")
    typer.echo("\n".join(made.values()), nl=False)

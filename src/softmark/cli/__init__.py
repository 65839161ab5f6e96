"""The commands: what is typed, and what exit code it ends with. What they do is in the rooms.

0 done (grading a bad submission is a success), 1 findings, 2 usage or configuration error, 3 the grader itself failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from softmark.cli.options import Isolation
from softmark.cli.platform import bundle, gradescope
from softmark.cli.results import export, regrade

if TYPE_CHECKING:
    from softmark.grading.homework import Homework
    from softmark.grading.messages import Setup
    from softmark.grading.result import Result
    from softmark.student import OwnWork

FINDINGS, USAGE, FAULT, INTERRUPTED, TERMINATED = 1, 2, 3, 130, 143

app = typer.Typer(
    name="softmark",
    help="Deep-learning homework, and the harness that grades it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


app.command()(bundle)
app.command()(gradescope)
app.command()(export)
app.command()(regrade)


@app.callback()
def softmark() -> None:
    """Keeps every command a sub-command."""


@app.command()
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
    jobs: Annotated[int, typer.Option(help="Submissions side by side; 0: one for each core.", min=0)] = 0,
    isolation: Annotated[Isolation, typer.Option(help="Grade behind these walls or not at all.")] = Isolation.full,
    fresh: Annotated[bool, typer.Option("--fresh", help="Grade again what has not changed, too.")] = False,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that one submission may take altogether.", min=1, show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the Result of one file as JSON.")] = False,
) -> None:
    """Grade what was handed in, with the hidden tests, in a walled process: one file, or a whole class."""
    from softmark.grading.homework import course_root, load_homework
    from softmark.grading.messages import Setup

    root = course_root()
    homework = load_homework(assignment, root)
    one = len(paths) == 1 and not os.path.isdir(paths[0]) and paths[0].suffix.casefold() != ".zip"
    setup = Setup(str(root), homework.name, isolation.value, timeout, progress=one and output is not None)
    faulty = (
        _grade_file(paths[0], output, homework, setup, json)
        if one
        else _grade_class(paths, output, homework, setup, jobs, fresh)
    )
    if faulty:
        raise typer.Exit(FAULT)


def _grade_file(path: Path, output: Path | None, homework: Homework, setup: Setup, json: bool) -> bool:
    """Whether the grader failed."""
    from softmark.batch.one import grade_file
    from softmark.grading.result import Status

    keep = _results_file(output)
    result = grade_file(path, homework, setup, keep, meanwhile=lambda: import_module("softmark.report.table"))
    _print_result(result, json)
    return result.status is Status.GRADER_ERROR


def _grade_class(
    paths: list[Path], output: Path | None, homework: Homework, setup: Setup, jobs: int, fresh: bool
) -> bool:
    """Whether the grader failed for somebody."""
    from rich.console import Console

    from softmark.cli.class_run import ClassOptions, Terminated, grade_class

    folder = output or Path("results") / homework.name
    options = ClassOptions(paths, folder, jobs or os.cpu_count() or 1, fresh)
    try:
        return grade_class(options, homework, setup, Console())
    except Terminated:
        raise typer.Exit(TERMINATED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


@app.command()
def doctor(
    isolation: Annotated[Isolation, typer.Option(help="The level that is needed.")] = Isolation.full,
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what this machine can promise: isolation level and why not higher, devices, versions, limits."""
    from softmark.batch.grader import examine_machine

    found = examine_machine(isolation.value)
    if json:
        import msgspec

        typer.echo(msgspec.json.encode(found.machine))
    else:
        from rich.console import Console

        from softmark.report.machine import show_machine

        show_machine(found, Console())
    if not found.enough:
        raise typer.Exit(FINDINGS)


@app.command()
def verify(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    jobs: Annotated[int, typer.Option(help="Engines side by side; 0: one for each core.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Prove that the hidden tests grade: right code keeps its marks, every known mistake is caught and named."""
    import time

    from rich.console import Console

    from softmark.authoring.proof import prove
    from softmark.authoring.table import as_plain, show_proofs
    from softmark.grading.errors import UsageError
    from softmark.grading.homework import course_root, homework_names, load_homework
    from softmark.verdict.mistakes import MistakeError

    root = course_root()
    chosen = [load_homework(name, root) for name in homeworks or homework_names(root)]
    sys.path.insert(0, str(root))  # for `from reference import …` in lists of mistakes
    start = time.monotonic()
    try:
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


@app.command()
def check(
    path: Annotated[
        Path | None,
        typer.Argument(help="Your file; by default the homework in this folder.", show_default=False),
    ] = None,
    assignment: Annotated[
        str | None,
        typer.Option("--assignment", "-a", help="The homework, if the file's name does not say.", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--watch", help="Check again whenever you save, until Ctrl-C.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the Result as JSON instead of the table.")] = False,
) -> None:
    """Run a homework's public tests on your own work, on your own machine."""
    from softmark import student

    work = student.find_work(path, assignment)
    code = student.watch(work, lambda: _check_again(work, json)) if again else _check_once(work, json)
    if code:
        raise typer.Exit(code)


@app.command()
def build(
    homeworks: Annotated[list[str] | None, typer.Argument(help="All of them, if none is named.")] = None,
    only_check: Annotated[bool, typer.Option("--check", help="Write nothing; say which files are stale.")] = False,
) -> None:
    """Make what students get from the references: starters, notebooks and worked examples."""
    from softmark.authoring.build import buildable, products, stale
    from softmark.grading.homework import course_root, load_homework

    root = course_root()
    differing = {}
    for name in homeworks or buildable(root):
        made = products(load_homework(name, root))
        differing.update({file: made[file] for file in stale(made)})
    for file, content in differing.items():
        if not only_check:
            file.write_bytes(content)
        typer.echo(f"{'stale' if only_check else 'wrote'} {file.relative_to(root)}")
    if not differing:
        typer.echo("everything is up to date")
    elif only_check:
        typer.echo("run `softmark build` and commit what it writes", err=True)
        raise typer.Exit(FINDINGS)


def _check_once(work: OwnWork, json: bool) -> int:
    """Check, print, and say with what exit code this ends."""
    from softmark.grading.result import Status, encode

    if json:
        with _stdout_kept_clean():
            result = work.check()
        typer.echo(encode(result))
    else:
        from rich.console import Console

        from softmark.report.checked import show_checked

        result = work.check()
        show_checked(result, Console())
    if result.status is Status.GRADER_ERROR:
        return FAULT
    return 0 if result.total == result.max_score else FINDINGS


def _check_again(work: OwnWork, json: bool) -> int:
    """A file that cannot be read just now, because it is being saved, is no reason to stop watching it."""
    from softmark.grading.errors import UsageError
    from softmark.intake.source import Unreadable

    try:
        return _check_once(work, json)
    except (UsageError, Unreadable) as error:
        typer.echo(f"softmark: {error}", err=True)
        return USAGE


@contextmanager
def _stdout_kept_clean() -> Iterator[None]:
    """What the student's code prints goes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _results_file(output: Path | None) -> Callable[[Result], None]:
    """Keeps `submissions/<id>/results.json` up to date; the first one, of second zero, tells if it cannot be done."""
    if output is None:
        return lambda result: None
    from softmark.batch.grader import EngineFailed
    from softmark.report.atomic import writable
    from softmark.report.gradescope import InvalidResults, write_results
    from softmark.report.handing_back import feedback_folder

    def keep(result: Result) -> None:
        folder = feedback_folder(output, result.submission.id)
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                write_results(result, folder / "results.json")
            except InvalidResults as error:
                raise EngineFailed(str(error)) from error

    return keep


def _print_result(result: Result, json: bool) -> None:
    if json:
        from softmark.grading.result import encode

        typer.echo(encode(result))
        return
    from rich.console import Console

    from softmark.report.feedback import Audience
    from softmark.report.table import show

    show(result, Console(), Audience.STAFF)


def main() -> None:
    """The `softmark` command. A traceback that reaches the user is a bug of this project."""
    from softmark.batch.grader import EngineFailed
    from softmark.grading.errors import ConfigError, UsageError
    from softmark.intake.source import Unreadable

    try:
        app()
    except (UsageError, ConfigError, Unreadable) as error:
        typer.echo(f"softmark: {error}", err=True)
        sys.exit(USAGE)
    except EngineFailed as failure:
        typer.echo(f"softmark: the grader failed: {failure}", err=True)
        sys.exit(FAULT)

"""`softmark pack`: the command with which a student makes the file to upload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from softmark import student
from softmark.cli.conventions import FINDINGS, OwnHomework, OwnPath
from softmark.feedback.escape import log_safe, plain
from softmark.feedback.terminal import SIGNS, WIDEST

if TYPE_CHECKING:
    from softmark.check.packing import Pack
    from softmark.check.part_states import PartState

_KB = 1000


def pack(
    path: OwnPath = None,
    assignment: OwnHomework = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder to put it in, or a .zip to make.  [default: handin/]"),
    ] = None,
) -> None:
    """Make the file that you upload from your own work, and say what will cost marks.

    Python files beside it that your code imports come along, in a zip. No test is run: `softmark check` runs them.
    """
    made = student.find_work(path, assignment).pack(output)
    _show(made, Console())
    if made.costs_marks:
        raise typer.Exit(FINDINGS)


def _show(made: Pack, console: Console) -> None:
    """Print the parts, what will cost marks, what else is worth knowing, and what to do with the file."""
    width = min(console.width, WIDEST)

    def put(line: RenderableType, indent: int = 2) -> None:
        console.print(Padding(line, (0, 2, 0, indent), expand=False), width=width)

    console.print()
    put(_text(made.title, "bold"))
    if made.losses.parts:
        console.print()
        put(_table(made.losses.parts, ascii_only=console.options.ascii_only))
    lists = (
        ("This will cost marks:", made.losses.findings, "red"),
        ("This costs nothing, and is worth knowing:", made.losses.remarks, "cyan"),
    )
    for heading, sentences, style in lists:
        if sentences:
            console.print()
            put(_text(heading, style))
            for sentence in sentences:
                put(_text(f"- {sentence}"), indent=4)
    console.print()
    for line in _closing(made):
        put(_text(line))
    console.print()


def _table(parts: tuple[PartState, ...], *, ascii_only: bool) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for part in parts:
        sign, ascii_sign, style = SIGNS[part.outcome]
        table.add_row(
            Text(ascii_sign if ascii_only else sign, style), part.number, _text(part.title), _text(part.words)
        )
    return table


def _closing(made: Pack) -> Iterator[str]:
    """Yield what was made, where it goes, and what has not been looked at."""
    names = f" with {', '.join(made.files)}" if made.path.suffix == ".zip" else ""
    size = f"{made.size / _KB:.0f} kB" if made.size >= _KB else f"{made.size} bytes"
    yield f"{made.path} is made ({size}){names}."
    unfinished = sum(not part.is_done for part in made.losses.parts)
    if unfinished:
        yield f"{unfinished} of {len(made.losses.parts)} parts {'is' if unfinished == 1 else 'are'} not done."
    elif not made.costs_marks:
        yield "Nothing was found that will cost marks."
    whole = "as it is, without unpacking or renaming it" if made.path.suffix == ".zip" else "without renaming it"
    yield f"Upload it where your course takes this homework (Gradescope, Canvas, Moodle), {whole}."
    yield "No test was run: `softmark check` runs the public tests."


def _text(content: str, style: str = "") -> Text:
    return Text(log_safe(plain(content)), style=style)

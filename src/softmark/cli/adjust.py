"""`softmark adjust`: a mark is changed by hand, and every file of the results with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def adjust(
    results: Annotated[
        Path, typer.Argument(help="The folder that `softmark grade` keeps results in.", show_default=False)
    ],
    who: Annotated[str, typer.Argument(help="An `id` or a `submission` of its grades.csv.", show_default=False)],
    points: Annotated[
        float,
        typer.Option(help="How many more, or fewer: 1.5, -2. 0 takes back what was decided.", show_default=False),
    ],
    why: Annotated[str, typer.Option(help="The reason, which the student reads.", show_default=False)] = "",
    force: Annotated[bool, typer.Option("--force", help="Also to more than full marks.")] = False,
) -> None:
    """Add points to a mark, or take some off, by hand: it stays so whatever is graded again."""
    from softmark.batch.class_results import ClassResults
    from softmark.records.points import shown

    with ClassResults.open(results, write=True) as opened:
        graded = opened.adjust(opened.submission_of(who), points, why, force=force)
        opened.finish()
        opened.write_gradebook()
    result = graded.result
    by_hand = f" ({result.adjustment.line})" if result.adjustment else ""
    typer.echo(f"{who}: {shown(result.mark)} of {shown(result.max_score)}{by_hand}")

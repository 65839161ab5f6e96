"""Prints the table of `softmark verify` and the gaps below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from string import ascii_lowercase
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.authoring.gaps import Verification

_STATES = {"caught": Text("✓", "green"), "hole": Text("✗", "red"), "excluded": Text("–", "dim")}


def show_verifications(verifications: Sequence[Verification], seconds: float, console: Console) -> None:
    """Print one row for each homework, then each gap in a sentence, and the claims of which nothing was there to try.

    The columns are the mistakes that are caught and that are named, equivalents that earn everything, starters and
    trivial submissions that earn nothing, and the distances of the worst right and the best wrong answer from the
    tolerance.
    """
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for column in ("", "homework", "caught", "named", "equal", "starter", "trivial", "margins"):
        table.add_column(column, no_wrap=True)
    for verification in verifications:
        table.add_row(
            Text("✓", "green") if verification.ok else Text("✗", "red"),
            verification.homework,
            _of(verification.caught, verification.mistakes),
            _of(verification.named, verification.mistakes),
            _of(verification.equivalents_full, verification.equivalents),
            f"{verification.starters_zero}/{verification.starters}",
            f"{verification.trivial_zero}/{verification.trivial}",
            f"{_times(verification.margin_accept)}, {_times(verification.margin_reject)}",
        )
    console.print()
    console.print(table)
    show_conditions(verifications, console)
    for verification in verifications:
        for unproved in _unproved(verification):
            console.print(Text.assemble("\n  ", ("! ", "yellow"), (f"{verification.homework}: ", "bold"), unproved))
    console.print(Text(f"\n  {seconds:.0f} s\n", "dim"))


def show_conditions(verifications: Sequence[Verification], console: Console) -> None:
    """Print the table of conditions of each homework, and below them each gap in a sentence."""
    for verification in verifications:
        if verification.conditions:
            console.print()
            console.print(_conditions(verification))
    for verification in verifications:
        for gap in verification.gaps:
            console.print(Text.assemble("\n  ", ("✗ ", "red"), (f"{gap.homework}: {gap.subject} ", "bold"), gap.what))


def _conditions(verification: Verification) -> Table:
    """A row for each condition, a column for each function, with a letter; empty where the condition cannot apply."""
    functions = list(dict.fromkeys(name for row in verification.conditions.values() for name in row))
    letters = dict(zip(functions, ascii_lowercase, strict=False))
    legend = ", ".join(f"{letter} {name}" for name, letter in letters.items())
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim", title_justify="left")
    table.title = Text(f"{verification.homework}: {legend}")
    for column in ("wrong only …", *letters.values()):
        table.add_column(column, no_wrap=True)
    for condition, states in verification.conditions.items():
        table.add_row(condition, *(_STATES.get(states.get(name, ""), Text()) for name in letters))
    return table


def _unproved(verification: Verification) -> Iterator[str]:
    """Return the claims of a green row that nothing was there to try for."""
    if not verification.mistakes:
        yield "nothing is proved about wrong answers: name mistakes in mistakes.toml"
    if not verification.conditions:
        yield "nothing is proved about functions that are wrong only sometimes: homework.toml says conditions = false"
    if not verification.equivalents:
        yield "nothing is proved about other right answers: add some to equivalents.py"


def _of(number: int, total: int) -> str:
    return f"{number}/{total}" if total else "none"


def _times(margin: float) -> str:
    """Return a factor as text; a dash if no answer came near the tolerance."""
    if not math.isfinite(margin):
        return "–"
    return f"{margin:.0f}×" if margin < 1e6 else f"{margin:.0e}×"


def as_plain(verifications: Sequence[Verification], seconds: float) -> dict[str, Any]:
    """Return the verifications as plain data for `--json`."""
    return {
        "ok": all(verification.ok for verification in verifications),
        "seconds": round(seconds, 1),
        "homeworks": {
            verification.homework: {
                "mistakes": verification.mistakes,
                "caught": verification.caught,
                "named": verification.named,
                "equivalents": verification.equivalents,
                "equivalents_full": verification.equivalents_full,
                "starters": verification.starters,
                "starters_zero": verification.starters_zero,
                "trivial": verification.trivial,
                "trivial_zero": verification.trivial_zero,
                "margin_accept": min(verification.margin_accept, 1e300),
                "margin_reject": min(verification.margin_reject, 1e300),
                "ok": verification.ok,
                "conditions": verification.conditions,
                "holes": [{"subject": gap.subject, "what": gap.what} for gap in verification.gaps],
            }
            for verification in verifications
        },
    }

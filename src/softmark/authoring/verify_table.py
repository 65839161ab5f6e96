"""Prints the table of `softmark verify` and the gaps below it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.authoring.verification import Proof


def show_proofs(proofs: Sequence[Proof], seconds: float, console: Console) -> None:
    """One row a homework, then every hole in a sentence, and what there was nothing to prove with.

    Of all mistakes so many are caught and named; of all right solutions so many earn everything (equal); of starters
    and trivial submissions so many earn nothing; and so far from the tolerance are the worst right and best wrong.
    """
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for column in ("", "homework", "caught", "named", "equal", "starter", "trivial", "margins"):
        table.add_column(column, no_wrap=True)
    for proof in proofs:
        table.add_row(
            Text("✓", "green") if proof.ok else Text("✗", "red"),
            proof.homework,
            _of(proof.caught, proof.mistakes),
            _of(proof.named, proof.mistakes),
            _of(proof.equivalents_full, proof.equivalents),
            f"{proof.starters_zero}/{proof.starters}",
            f"{proof.trivial_zero}/{proof.trivial}",
            f"{_times(proof.margin_accept)}, {_times(proof.margin_reject)}",
        )
    console.print()
    console.print(table)
    for proof in proofs:
        for hole in proof.holes:
            console.print(
                Text.assemble("\n  ", ("✗ ", "red"), (f"{hole.homework}: {hole.subject} ", "bold"), hole.what)
            )
        for unproved in _unproved(proof):
            console.print(Text.assemble("\n  ", ("! ", "yellow"), (f"{proof.homework}: ", "bold"), unproved))
    console.print(Text(f"\n  {seconds:.0f} s\n", "dim"))


def _unproved(proof: Proof) -> Iterator[str]:
    """Return what a green row does not say, because there was nothing to try."""
    if not proof.mistakes:
        yield "nothing is proved about wrong answers: name mistakes in mistakes.py"
    if not proof.equivalents:
        yield "nothing is proved about other right answers: add some to equivalents.py"


def _of(number: int, total: int) -> str:
    return f"{number}/{total}" if total else "none"


def _times(margin: float) -> str:
    """A factor; none, where nothing came near the tolerance."""
    if not math.isfinite(margin):
        return "–"
    return f"{margin:.0f}×" if margin < 1e6 else f"{margin:.0e}×"


def as_plain(proofs: Sequence[Proof], seconds: float) -> dict[str, Any]:
    """For `--json`."""
    return {
        "ok": all(proof.ok for proof in proofs),
        "seconds": round(seconds, 1),
        "homeworks": {
            proof.homework: {
                "mistakes": proof.mistakes,
                "caught": proof.caught,
                "named": proof.named,
                "equivalents": proof.equivalents,
                "equivalents_full": proof.equivalents_full,
                "starters": proof.starters,
                "starters_zero": proof.starters_zero,
                "trivial": proof.trivial,
                "trivial_zero": proof.trivial_zero,
                "margin_accept": min(proof.margin_accept, 1e300),
                "margin_reject": min(proof.margin_reject, 1e300),
                "ok": proof.ok,
                "holes": [{"subject": hole.subject, "what": hole.what} for hole in proof.holes],
            }
            for proof in proofs
        },
    }

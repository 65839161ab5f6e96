"""What `softmark verify` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.authoring.proof import Proof


def show_proofs(proofs: Sequence[Proof], seconds: float, console: Console) -> None:
    """One row a homework, then every hole in a sentence."""
    table = Table(box=None, padding=(0, 2), header_style="dim")
    columns = "", "homework", "mistakes caught", "named", "equivalents", "starter at 0", "trivial at 0", "margins"
    for column in columns:
        table.add_column(column)
    for proof in proofs:
        table.add_row(
            Text("✓", "green") if proof.ok else Text("✗", "red"),
            proof.homework,
            f"{proof.caught} of {proof.mistakes}",
            f"{proof.named} of {proof.mistakes}",
            f"{proof.equivalents_full} of {proof.equivalents}",
            f"{proof.starters_zero} of {proof.starters}",
            f"{proof.trivial_zero} of {proof.trivial}",
            f"{proof.margin_accept:.0f}× and {proof.margin_reject:.0f}×",
        )
    console.print()
    console.print(table)
    for proof in proofs:
        for hole in proof.holes:
            console.print(
                Text.assemble("\n  ", ("✗ ", "red"), (f"{hole.homework}: {hole.subject} ", "bold"), hole.what)
            )
    console.print(Text(f"\n  {seconds:.0f} s\n", "dim"))


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

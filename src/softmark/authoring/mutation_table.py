"""Prints the table of `softmark mutate`, the gaps below it, and both as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.authoring.mutation import Mutation, Survivor


def show_mutations(mutations: Sequence[Mutation], seconds: float, console: Console) -> None:
    """Print one row for each homework, then each gap in a sentence."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    for column in ("", "homework", "mutants", "caught", "equivalent", "left open", "survivors", "share"):
        table.add_column(column, no_wrap=True)
    for mutation in mutations:
        table.add_row(
            Text("✗", "red") if mutation.gaps else Text("✓", "green"),
            mutation.homework,
            *(str(count) for count in _counts(mutation).values()),
            f"{100 * mutation.share:.1f} %",
        )
    console.print()
    console.print(table)
    for mutation in mutations:
        for gap in mutation.gaps:
            console.print(Text.assemble("\n  ", ("✗ ", "red"), (f"{gap.homework}: {gap.subject} ", "bold"), gap.what))
    console.print(Text(f"\n  {seconds:.0f} s\n", "dim"))


def _counts(mutation: Mutation) -> dict[str, int]:
    return {
        "mutants": mutation.mutants,
        "caught": mutation.caught,
        "equivalent": len(mutation.equivalents),
        "left_open": len(mutation.left_open),
        "survivors": len(mutation.holes),
    }


def mutations_as_plain(mutations: Sequence[Mutation], seconds: float) -> dict[str, Any]:
    """Return the findings as plain data for `--json`."""
    return {
        "ok": not any(mutation.gaps for mutation in mutations),
        "seconds": round(seconds, 1),
        "homeworks": {
            mutation.homework: {
                **_counts(mutation),
                "raising": mutation.raising,
                "share": round(mutation.share, 4),
                "equivalents": [_plain(survivor) for survivor in mutation.equivalents],
                "open": [_plain(survivor) for survivor in mutation.left_open],
                "holes": [_plain(survivor) for survivor in mutation.holes],
                "gaps": [{"subject": gap.subject, "what": gap.what} for gap in mutation.gaps],
            }
            for mutation in mutations
        },
    }


def _plain(survivor: Survivor) -> dict[str, Any]:
    mutant = survivor.mutant
    return {
        "function": mutant.function,
        "line": mutant.line,
        "kind": mutant.kind,
        "edit": mutant.edit,
        "differs_at": survivor.differs_at,
        "because": survivor.because,
    }

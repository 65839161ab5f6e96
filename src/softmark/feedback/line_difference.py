"""Writes expected and actual lines below each other: equal lines once, the others with a sign before them."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from softmark.feedback.escape import one_line
from softmark.records.verdict import Lines

EXPECTED, GOT, BOTH = "-", "+", " "
LEGEND = "- expected, + got"


class SignedLine(NamedTuple):
    """A line with the sign of its side."""

    sign: str
    text: str


def rows(lines: Lines) -> list[SignedLine]:
    """Return the lines of both sides in one order, with tabs and invisible characters written out."""
    expected, got = (tuple(map(_shown, side)) for side in (lines.expected, lines.got))
    found = [SignedLine(BOTH, f"… {lines.first} before")] if lines.first else []
    for kind, i, j, k, m in SequenceMatcher(None, expected, got, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [SignedLine(BOTH, text) for text in expected[i:j]]
        else:
            found += [SignedLine(EXPECTED, text) for text in expected[i:j]] + [
                SignedLine(GOT, text) for text in got[k:m]
            ]
    return found


def _shown(line: str) -> str:
    """Return a line as it is shown. Spaces at its ends are made visible, because most layouts would drop them."""
    inside = line.strip(" ")
    if not inside:
        return "·" * len(line)
    start, end = len(line) - len(line.lstrip(" ")), len(line) - len(line.rstrip(" "))
    return "·" * start + one_line(inside.replace("\t", "⇥")) + "·" * end

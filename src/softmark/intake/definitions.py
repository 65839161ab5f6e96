"""What a file of a student's defines, and what it hides, as far as its text tells: nothing is parsed or run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from softmark.intake.names import unseen

MOST_REPORTED = 5
_IN_PYTHON = re.compile(rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*=(?!=))", re.MULTILINE)
_IN_NOTEBOOK = re.compile(rb'(?:"|\\n)(?:async +)?(?:def|class) +(\w+)')
_UNFINISHED = re.compile(rb"\braise[ \t]+NotImplementedError\b")
_HARMLESS = "\t\n\r\f"


def defined(content: bytes, names: Collection[str]) -> int:
    """How many of `names` the text of a file or a notebook defines."""
    pattern = _IN_NOTEBOOK if content.lstrip().startswith(b"{") else _IN_PYTHON
    found = {
        (match[1] or match[match.lastindex or 1]).decode("utf-8", "replace") for match in pattern.finditer(content)
    }
    return len(found.intersection(names))


def unfinished(content: bytes) -> int:
    """How many functions of the starter were left as they were."""
    return sum(1 for _ in _UNFINISHED.finditer(content))


def invisible(file: str, content: bytes) -> list[str]:
    """Notes for staff on characters that a reader of the file would not see, or that reorder what is seen."""
    if content.isascii():
        return []
    return list(
        islice(_invisible(file, content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")), MOST_REPORTED)
    )


def _invisible(file: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        hidden = {c for c in line if not c.isascii() and unseen(c) and c not in _HARMLESS}
        if hidden:
            points = ", ".join(f"U+{ord(character):04X}" for character in sorted(hidden)[:MOST_REPORTED])
            yield f"{file} line {number} holds characters that cannot be seen: {points}"

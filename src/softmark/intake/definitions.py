"""What a file of a student's defines, and what it hides, as far as its text tells: nothing is parsed or run."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from itertools import islice

from softmark.intake.names import unseen

MOST_REPORTED = 5
_IN_PYTHON = re.compile(rb"^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*=(?!=))", re.MULTILINE)
_IN_NOTEBOOK = re.compile(rb'(?:"|\\n)(?:async +)?(?:def|class) +(\w+)')
_UNFINISHED = re.compile(rb"\braise[ \t]+NotImplementedError\b")


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
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    hidden = {c for c in set(text) if not c.isascii() and unseen(c)}  # a text has many characters, but few different
    return list(islice(_lines_with(hidden, file, text), MOST_REPORTED)) if hidden else []


def _lines_with(hidden: set[str], file: str, text: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        found = hidden.intersection(line)
        if found:
            points = ", ".join(f"U+{ord(character):04X}" for character in sorted(found)[:MOST_REPORTED])
            yield f"{file} line {number} holds characters that cannot be seen: {points}"

"""Says what is wrong with a line that Python cannot parse, if more is known than "invalid syntax"."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence

from softmark.sandbox.wire import Raised

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_CONFLICT = re.compile(r"(?:<{7}|>{7}|\|{7})(?: |$)|={7}$")
_QUOTES = "“”„‟‘’‚‛«»"
_NOTEBOOK_LINE = re.compile(r"\s*(?:[%!]\s*\w|[\w. ]+\?\s*$)")
_NEWER = (  # the first version that can read it, what it looks like, how it is called
    ((3, 12), re.compile(r"^type\s+\w+\s*(?:\[.*\])?\s*="), "a `type` statement"),
    ((3, 12), re.compile(r"^(?:async\s+)?(?:def|class)\s+\w+\s*\["), "type parameters in square brackets"),
    ((3, 14), re.compile(r"^except\*?\s+[\w.]+\s*,\s*[\w.]+.*:"), "several exceptions without brackets around them"),
    ((3, 14), re.compile(r"""(?<!\w)[tT][rR]?['"]"""), "a template string, t'…'"),
)
_F_STRING = re.compile(r"""(?<!\w)[rR]?[fF][rR]?(['"]{1,3})""")


def unreadable(raised: Raised, lines: Sequence[str], number: int) -> tuple[str, int] | None:
    """Return a sentence and the line that it is about; None if nothing more is known than "invalid syntax"."""
    conflict = next((at for at, line in enumerate(lines, 1) if _CONFLICT.match(line)), None)
    if conflict is not None:
        marker = "has a line of a merge conflict (<<<<<<<, ======= or >>>>>>>)"
        return f"{marker}: keep one of the two versions and delete the marker lines", conflict
    if not 1 <= number <= len(lines):
        return None
    line = lines[number - 1].strip()
    said = _in_line(raised, line)
    return None if said is None else (said, number)


def _in_line(raised: Raised, line: str) -> str | None:
    if raised.cls == "TabError" or (raised.cls == "IndentationError" and "unindent does not match" in raised.message):
        return "is indented with tabs in one line and with spaces in another, or unevenly: use four spaces everywhere"
    if raised.cls == "IndentationError":
        return "is not indented as Python wants it: what belongs to `def`, `if` or `for` is four spaces further right"
    strange = re.search(r"character", raised.message) and next((c for c in line if not c.isascii()), None)
    if strange and strange in _QUOTES:
        return f"has a typographic quotation mark ({strange}): type a plain ' or \" in its place"
    if strange and not strange.isidentifier():
        called = unicodedata.name(strange, "without a name").lower()
        return f"has a character that Python cannot read (U+{ord(strange):04X}, {called}): delete it and type it anew"
    if _NOTEBOOK_LINE.match(line):
        return "has a line that only a notebook can read (with %, ! or ?): delete this line"
    if "Missing parentheses in call to 'print'" in raised.message:
        return "has a print without brackets, as in Python 2: write print(…)"
    for version, pattern, what in _NEWER:
        if sys.version_info < version and pattern.search(line):
            return _too_new(what, version)
    if sys.version_info < (3, 12) and raised.message.startswith("f-string") and _nested(line):
        return _too_new("an f-string with the same quotation marks inside its braces", (3, 12))
    return None


def _too_new(what: str, version: tuple[int, int]) -> str:
    newer = ".".join(map(str, version))
    return (
        f"uses {what}, which only Python {newer} and later can read, and Python {PYTHON} is used here: write it without"
    )


def _nested(line: str) -> bool:
    """Return whether an f-string has its own quotation mark, or a backslash, inside its braces."""
    found = _F_STRING.search(line)
    if found is None:
        return False
    inside = line[found.end() :].partition("{")[2].partition("}")[0]
    return found[1] in inside or "\\" in inside

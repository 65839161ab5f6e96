"""A notebook's cell as Python: what is IPython's in it is blanked out by lines, so that each line keeps its number.

Only where Python itself sees an error is a line looked at, and blanked if it looks like IPython's. So a `%` that goes
on an expression, or a `!` inside a text, is never taken for a magic.
"""

from __future__ import annotations

import ast
import re
import textwrap

_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:#.*)?\n)*[ \t]*%%(\w*)")
_AROUND_PYTHON = {"time", "timeit", "capture"}  # the cell is Python below the first line; other magics take all of it
_LINE = re.compile(r"\s*(?:[%!?]|[\w., ]+=\s*[%!])|.*\?\s*(?:#.*)?$")  # %magic, !shell, ?help, name = !shell, help?


def parse_cell(text: str, file: str) -> ast.Module:
    """The syntax tree of a cell, without magics; SyntaxError, with its line, if it is no Python."""
    if "\0" in text:
        raise SyntaxError("a NUL character", (file, text.count("\n", 0, text.index("\0")) + 1, 0, ""))
    lines = re.split(r"\r\n|\r|\n", text)
    magic = _CELL_MAGIC.match("\n".join(lines))
    if magic is not None and magic[1] not in _AROUND_PYTHON:
        return ast.Module([], [])
    if text[:1] in (" ", "\t"):
        lines = textwrap.dedent("\n".join(lines)).split("\n")  # IPython runs a cell that is indented as a whole
    while True:
        try:
            return ast.parse("\n".join(lines), file)
        except SyntaxError as error:
            if not _blank(lines, (error.lineno or 0) - 1):
                raise


def _blank(lines: list[str], index: int) -> bool:
    """Whether that line is IPython's; if so it, and the lines it goes on in, are replaced by nothing."""
    if not 0 <= index < len(lines) or not _LINE.match(lines[index]):
        return False
    goes_on = lines[index].endswith("\\")
    indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
    lines[index] = f"{indent}pass"
    while goes_on and (index := index + 1) < len(lines):
        goes_on = lines[index].endswith("\\")
        lines[index] = ""
    return True

"""CSV files that a spreadsheet opens as they are meant: text as text, numbers as numbers, nothing as a formula.

Text is always quoted, and numbers never are. Text that a spreadsheet would take for a formula has an apostrophe put
before it, and invisible characters are written out (feedback/escape.py): a script that needs the original name takes
away one leading apostrophe. Lines end with a single newline.
"""

import codecs
import csv
import io
import math
from collections.abc import Iterable
from pathlib import Path

from softmark.feedback.escape import cell, one_line
from softmark.feedback.safe_files import replacement

Cell = str | float | None


def csv_line(cells: Iterable[Cell]) -> bytes:
    """One line of a file; None is an empty cell."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(_written(cell) for cell in cells)
    return line.getvalue().encode("utf-8")


def write_csv(path: Path, lines: Iterable[bytes], *, for_people: bool) -> None:
    """Replaces the file by these lines, one after the other.

    A file for people begins with the mark by which Excel knows UTF-8 (in Python: encoding="utf-8-sig"); one for another
    program's import does not, because Ruby, hence Canvas, stumbles over it.
    """
    with replacement(path) as file:
        if for_people:
            file.write(codecs.BOM_UTF8)
        file.writelines(lines)


def _written(value: Cell) -> str | float:
    if value is None:
        return ""
    if isinstance(value, str):
        return cell(one_line(value))
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number for a spreadsheet")
    return int(value) if value == int(value) else value

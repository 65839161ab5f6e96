"""A regrade on the terminal and as CSV; as JSON it is written as it is."""

from collections.abc import Iterator
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from softmark.feedback.escape import log_safe, one_line
from softmark.records.points import shown, total
from softmark.report.csv_cells import csv_line, write_csv
from softmark.report.regrade import Change, Difference, Regrade, Single, summary

COLUMNS = ("id", "name", "what", "old", "new", "change", "status")
NONE = "none"


def show_regrade(regrade: Regrade, console: Console) -> None:
    """Prints who has another mark, and where it comes from; or that nobody has."""
    if not regrade.identical:
        console.print(Padding(_table(regrade, console), (1, 2, 0, 2)))
    console.print(Padding(_text(summary(regrade), console), (1, 2)))
    if regrade.versions:
        changes = (f"{v.what} {' and '.join(v.old)} → {' and '.join(v.new)}" for v in regrade.versions)
        console.print(Padding(_text(f"Graded by other versions: {', '.join(changes)}.", console), (0, 2, 1, 2)))


def write_regrade(regrade: Regrade, path: Path) -> None:
    """Replaces the file: a line for every mark that is another, and one for every part that made it so."""
    write_csv(path, regrade_lines(regrade), for_people=True)


def regrade_lines(regrade: Regrade) -> Iterator[bytes]:
    """The lines of the file."""
    yield csv_line(COLUMNS)
    for change in regrade.changed:
        mark = Difference(what="mark", old=change.old, new=change.new)
        for one in (mark, *change.differences):
            yield csv_line((change.id, change.name, one.what, one.old, one.new, _by(one), _status(change)))
    for student, old, new, status in _singles(regrade):
        yield csv_line((student.id, student.name, "mark", old, new, None, status))


def _table(regrade: Regrade, console: Console) -> Table:
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("id", "name", "old", "new", "change", "where"):
        table.add_column(heading, justify="right" if heading in ("old", "new", "change") else "left", overflow="fold")
    for change in regrade.changed:
        where = ", ".join(f"{one.what}: {_shown(one.old)} → {_shown(one.new)}" for one in change.differences)
        where = where if change.old_status == change.new_status else f"{_status(change)}; {where}".rstrip("; ")
        cells = (change.id, change.name, _shown(change.old), _shown(change.new), _signed(change.by), where)
        table.add_row(*(_text(cell, console) for cell in cells))
    for student, old, new, status in _singles(regrade):
        cells = (student.id, student.name, _shown(old), _shown(new), "", status)
        table.add_row(*(_text(cell, console) for cell in cells))
    return table


def _singles(regrade: Regrade) -> Iterator[tuple[Single, float | None, float | None, str]]:
    for student in regrade.added:
        yield student, None, student.mark, "added"
    for student in regrade.missing:
        yield student, student.mark, None, "missing"


def _by(difference: Difference) -> float | None:
    if difference.old is None or difference.new is None:
        return None
    return total((difference.new, -difference.old))


def _status(change: Change) -> str:
    same = change.old_status == change.new_status
    return change.new_status if same else f"{change.old_status} → {change.new_status}"


def _shown(mark: float | None) -> str:
    return NONE if mark is None else shown(mark)


def _signed(by: float | None) -> str:
    if by is None:
        return ""
    return f"+{shown(by)}" if by > 0 else shown(by)


def _text(text: str, console: Console) -> Text:
    """Names as text, whatever they contain, in what the terminal can show."""
    safe = log_safe(one_line(text))
    if console.options.ascii_only:
        safe = safe.replace("→", "->")
    return Text(safe.encode(console.encoding, "backslashreplace").decode(console.encoding))

"""The end of a class's run on a terminal: who earned what, or for a large class how the marks lie and who has none."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.feedback.escape import log_safe, message, one_line
from softmark.intake.model import COUNTED
from softmark.records.points import shown
from softmark.records.result import Graded, Result, Status
from softmark.report.same_reason import SameReason

MOST_NAMED = 40
"""Submissions of a class that are shown one by one; of a larger one only those that need a look."""
BANDS = 10
WIDEST_BAR = 40


@dataclass
class ClassSummary:
    """Fed with one submission after another, it keeps what is shown of them, and no results."""

    max_score: float = 0.0
    marks: list[float] = field(default_factory=list)
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    """The first of the class: whose, mark, what became of it, why."""
    ungraded: list[tuple[str, str, str, str]] = field(default_factory=list)
    faults: int = 0
    same: SameReason = field(default_factory=SameReason)

    def add(self, graded: Graded) -> None:
        result = graded.result
        if not graded.gone:
            self.same.add(result)
        self.max_score = result.max_score
        row = (_whose(graded), _mark(result), *_what(result))
        if result.status is Status.GRADER_ERROR:
            self.faults += 1
        else:
            self.marks.append(result.mark)
        if result.status is not Status.GRADED:
            self.ungraded.append(row)
        if len(self.rows) <= MOST_NAMED:
            self.rows.append(row)


def show_class(summary: ClassSummary, console: Console) -> None:
    """Print it."""
    small = len(summary.rows) <= MOST_NAMED
    if small:
        console.print(_table(summary.rows))
    else:
        _show_bands(summary, console)
        if summary.ungraded:
            console.print("\nnot graded:")
            console.print(_table(summary.ungraded[:MOST_NAMED]))
            _say_more(len(summary.ungraded) - MOST_NAMED, console)
    if summary.marks:
        mean = sum(summary.marks) / len(summary.marks)
        number = len(summary.marks)
        submissions = f"{number} submission{'' if number == 1 else 's'}"
        console.print(f"mean {mean:.1f} of {shown(summary.max_score)}, {submissions}")


def _table(rows: list[tuple[str, str, str, str]]) -> Table:
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, show_header=False)
    table.add_column(max_width=40)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    return table


def _show_bands(summary: ClassSummary, console: Console) -> None:
    """Show how the marks lie: a bar for each tenth of the points; full marks, and what is beyond them, on top."""
    counts = [0] * (BANDS + 1)
    for mark in summary.marks:
        counts[min(BANDS, int(mark / summary.max_score * BANDS))] += 1
    most = max(*counts, 1)
    for band in reversed(range(BANDS + 1)):
        low = summary.max_score * band / BANDS
        label = f"{low:g}–" if band < BANDS else f"{shown(low)}{'–' if max(summary.marks) > low else ''}"
        bar = "█" * round(WIDEST_BAR * counts[band] / most) if not console.options.ascii_only else ""
        console.print(Text(f"{label:>6} {counts[band]:5} {bar}"))


def _say_more(number: int, console: Console) -> None:
    if number > 0:
        console.print(f"… and {number} more: see grades.csv")


def _whose(graded: Graded) -> str:
    names = ", ".join(student.name or student.id for student in graded.students) or graded.id
    return log_safe(one_line(names))


def _mark(result: Result) -> str:
    if result.status is Status.GRADER_ERROR:
        return "–"
    return f"{shown(result.mark)} of {shown(result.max_score)}"


def _what(result: Result) -> tuple[str, str]:
    """What is to be said beside the mark, and why."""
    if result.status is Status.GRADER_ERROR:
        return "grader error", log_safe(one_line(message("; ".join(result.faults)))) or "see results.json"
    if result.status is Status.NOT_GRADABLE:
        return "not gradable", log_safe(one_line(message(result.reason)))
    if result.lateness is not None and result.lateness.line:
        return "late", log_safe(one_line(result.lateness.line))
    if result.adjustment is not None:
        return "adjusted", log_safe(one_line(result.adjustment.line))
    return "", log_safe(one_line("; ".join(note for note in result.notes if note != COUNTED)))

"""Shows how a class went: a table, and a warning if most submissions failed for one same reason."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from softmark.feedback.escape import log_safe, message, one_line
from softmark.intake.model import COUNTED
from softmark.records.points import shown
from softmark.records.result import Graded, Outcome, Result, Status

MOST_NAMED = 40
"""Submissions of a class that are shown one by one; of a larger one only those that need a look."""
BANDS = 10
WIDEST_BAR = 40

FEWEST = 3
"""In a smaller class, two students with the same mistake would already be most of the class."""
_VARYING = re.compile(r"`[^`]*`|[^\s`]+\.(?:py|ipynb|zip)\b|\d+(?:\.\d+)?")


@dataclass
class SameReason:
    """Counts why the submissions of a class failed, one result after another."""

    submissions: int = 0
    failed: int = 0
    """The number of submissions that earned nothing in any test."""
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Count one submission. One at which the grader failed has no reason."""
        if result.status is Status.GRADER_ERROR:
            return
        self.submissions += 1
        self.failed += not result.total
        said = _reason(result)
        if said:
            alike = _alike(said, result)
            self.reasons[alike] += 1
            self.examples.setdefault(alike, said)

    @property
    def most_failed(self) -> bool:
        """Return True if more than half earned nothing."""
        return 2 * self.failed > self.submissions

    @property
    def warning(self) -> str:
        """Return the sentence to say first; empty if most did not fail for one reason."""
        for alike, number in self.reasons.most_common(1):
            if number >= FEWEST and 2 * number > self.submissions:
                return f"{number} of {self.submissions} submissions failed for one same reason: {self.examples[alike]}"
        return ""


def _reason(result: Result) -> str:
    """Return why nothing was earned, if there is one reason; of several tests, the words of the first."""
    if result.status is Status.NOT_GRADABLE:
        return result.reason
    if result.total or any(test.outcome is not Outcome.FAILED for test in result.tests):
        return ""
    facts = [verdict.fact for test in result.tests for verdict in test.verdicts]
    return facts[0] if len({_alike(fact, result) for fact in facts}) == 1 else ""


def _alike(said: str, result: Result) -> str:
    """Return a text without what differs from part to part and from student to student."""
    said, _, _ = said.partition(";")
    names = {name for part in result.parts for full in part.function.split(",") for name in full.strip().split(".")}
    named = rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})\b(?:\.\w+)*"
    return re.sub(named, "…", _VARYING.sub("…", said)) if names else said


@dataclass
class ClassSummary:
    """Keeps the lines of the table about each submission, and no results."""

    max_score: float = 0.0
    marks: list[float] = field(default_factory=list)
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Lines about the first submissions of the class: who, mark, status, reason."""
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
    """Print the table."""
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
    names = ", ".join(student.name or student.id for student in graded.submission.students) or graded.submission.id
    return log_safe(one_line(names))


def _mark(result: Result) -> str:
    if result.status is Status.GRADER_ERROR:
        return "–"
    return f"{shown(result.mark)} of {shown(result.max_score)}"


def _what(result: Result) -> tuple[str, str]:
    """Return the note beside the mark."""
    if result.status is Status.GRADER_ERROR:
        return "grader error", log_safe(one_line(message("; ".join(result.faults)))) or "see results.json"
    if result.status is Status.NOT_GRADABLE:
        return "not gradable", log_safe(one_line(message(result.reason)))
    if result.lateness is not None and result.lateness.line:
        return "late", log_safe(one_line(result.lateness.line))
    if result.adjustment is not None:
        return "adjusted", log_safe(one_line(result.adjustment.line))
    return "", log_safe(one_line("; ".join(note for note in result.notes if note != COUNTED)))

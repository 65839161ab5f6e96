"""Shows a result on a terminal: a table of the parts, then every failure in words.

It must read well without colour, on a narrow terminal and in plain ASCII. So colour only repeats what a word or a sign
already says. Text of a student's is never read as markup, because everything is a `Text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich import box
from rich.console import Console, ConsoleOptions, Group, OverflowMethod, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from softmark.feedback.checked import Occasion, check_feedback, closing, worth
from softmark.feedback.escape import log_safe
from softmark.feedback.feedback import (
    Audience,
    Block,
    Feedback,
    PartLine,
    Section,
    Sentence,
    Tone,
    feedback_for,
)
from softmark.feedback.line_difference import EXPECTED, GOT, LEGEND, rows
from softmark.feedback.matrices import Matrices, in_digits
from softmark.records.points import shown
from softmark.records.result import Outcome, Result
from softmark.records.verdict import CodeLine, Lines, Picture

NARROW = 64
WIDEST = 110
MOST_ROWS = 8
MOST_LINES = 16
NUMBER_WIDTH = 11
GOT_HEADING = "got (* is wrong)"

SIGNS = {
    Outcome.PASSED: ("✓", "ok", "green"),
    Outcome.FAILED: ("✗", "x", "red"),
    Outcome.NOT_RUN: ("·", ".", "dim"),
    Outcome.GRADER_ERROR: ("!", "!", "magenta"),
}
PARTLY = ("◐", "~", "yellow")

STYLES = {
    Tone.FACT: "",
    Tone.WHERE: "dim",
    Tone.CAUSE: "bold",
    Tone.HINT: "italic",
    Tone.NOTE: "cyan",
    Tone.STAFF: "dim",
}


def show(result: Result, console: Console, audience: Audience = Audience.STUDENT) -> None:
    """Print the result."""
    console.print(ResultTable(feedback_for(result, audience)))


class ResultTable:
    """A rich renderable. It adapts to the console that it is printed on."""

    def __init__(self, feedback: Feedback) -> None:
        self.feedback = feedback

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        layout = _Layout(width, options.encoding, ascii_only=options.ascii_only)
        yield from console.render(Group(*layout.everything(self.feedback)), options.update(width=width))


class _Gutter:
    """Puts a bar before every line, so that no line of student text begins a line of the output.

    A CI system obeys a line that begins with `::`, and a reader could take a student's line for one of ours.
    """

    def __init__(self, content: RenderableType, bar: str, style: str) -> None:
        self.content = content
        self.bar = bar
        self.style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        inner = options.update(width=max(options.max_width - 4, 10))
        for line in console.render_lines(self.content, inner, pad=False):
            yield Segment(f"  {self.bar} ", console.get_style(self.style))
            yield from line
            yield Segment.line()


class _Layout:
    """Lays feedback out for one width and one encoding."""

    def __init__(self, width: int, encoding: str, *, ascii_only: bool) -> None:
        self.width = width
        self.narrow = width < NARROW
        self.encoding = encoding
        self.ascii_only = ascii_only
        self.bar = "|" if ascii_only else "│"
        self.too_long: OverflowMethod = "crop" if ascii_only else "ellipsis"

    def everything(self, feedback: Feedback) -> Iterable[RenderableType]:
        yield Text()
        yield self._title(feedback)
        if feedback.headline:
            yield Text()
            yield self._quoted(feedback.headline, "red")
        yield Text()
        yield Padding(self._parts(feedback), (0, 2))
        if feedback.changes:
            yield Text()
            yield self._quoted(_changes(feedback), "yellow")
        for section in feedback.sections:
            yield Text()
            yield from self._section(section)
        if feedback.notes:
            yield Text()
            yield self._quoted(feedback.notes, "cyan")

    def text(self, content: str, style: str = "") -> Text:
        """Return text, a student's or our own, without markup, CI commands and characters that the encoding lacks."""
        safe = log_safe(content).encode(self.encoding, "backslashreplace").decode(self.encoding)
        return Text(safe, style=style)

    def remark(self, part: PartLine) -> Text:
        """Return the remark in a part's line of the table. Wherever it is wrapped, no line begins with `::`."""
        return self.text(part.remark.replace("::", ": :"), "dim")

    def sign(self, outcome: Outcome, earned: float, points: float) -> Text:
        """Return ✓ for all points, ◐ for some and ✗ for none; · for not run yet, ! for a fault of the grader."""
        partly = outcome is Outcome.FAILED and 0 < earned < points
        sign, ascii_sign, style = PARTLY if partly else SIGNS[outcome]
        return Text(ascii_sign if self.ascii_only else sign, style=style)

    def _title(self, feedback: Feedback) -> RenderableType:
        title = self.text(feedback.title, "bold")
        if feedback.submission:
            title.append("  ").append(self.text(feedback.submission, "dim"))
        title.no_wrap, title.overflow = True, self.too_long
        return Padding(title, (0, 0, 0, 2))

    def _parts(self, feedback: Feedback) -> Table:
        earned = max(len(shown(part.earned)) for part in feedback.parts)
        earned = max(earned, len(shown(feedback.total)))
        table = Table(box=box.SIMPLE, show_footer=True, show_edge=False, pad_edge=False, expand=not self.narrow)
        table.add_column("")
        table.add_column("part", Text("total", style="bold"), no_wrap=not self.narrow, overflow=self.too_long)
        table.add_column("points", self._points(feedback.total, feedback.points, earned, "bold"), no_wrap=True)
        if not self.narrow:
            table.add_column("", ratio=1)
        for part in feedback.parts:
            sign = self.sign(part.outcome, part.earned, part.points)
            row: list[RenderableType] = [
                sign,
                self.text(f"{part.number}  {part.title}"),
                self._points(part.earned, part.points, earned, str(sign.style)),
            ]
            table.add_row(*row if self.narrow else [*row, self.remark(part)])
        return table

    def _points(self, earned: float, points: float, width: int, style: str) -> Text:
        return Text(f"{shown(earned):>{width}} / {shown(points)}", style=style)

    def _section(self, section: Section) -> Iterable[RenderableType]:
        sign = self.sign(section.outcome, section.score, section.max_score)
        title = self.text(f"{section.number}  {section.title}", "bold")
        title.append(f"  {shown(section.score)} of {shown(section.max_score)}", style=sign.style)
        heading = Table.grid(padding=(0, 1, 0, 0))
        heading.add_row(sign, title)
        yield Padding(heading, (0, 0, 0, 2))
        yield self._quoted(section.blocks, str(sign.style))

    def _quoted(self, blocks: Iterable[Block], style: str) -> RenderableType:
        return _Gutter(Group(*(self._block(block) for block in blocks)), self.bar, style)

    def _block(self, block: Block) -> RenderableType:
        match block:
            case Sentence():
                lead = self.text(f"{block.lead}: " if block.lead else "", "dim")
                return Text().append(lead).append(self.text(block.text, STYLES[block.tone]))
            case CodeLine():
                place = self.text(f"{block.place}  ", "cyan")
                return Text().append(place).append(self.text(block.text))
            case Picture():
                return self._matrices(block)
            case Lines():
                return self._lines(block)

    def _lines(self, lines: Lines) -> RenderableType:
        """Return the first lines that differ, each with its sign."""
        shown = rows(lines)
        text = self.text(f"{LEGEND}\n", "dim")
        for row in shown[:MOST_LINES]:
            text.append(self.text(f"{row.sign} {row.text}\n", {EXPECTED: "green", GOT: "red"}.get(row.sign, "")))
        left_out = len(shown) - MOST_LINES
        return text.append(self.text(f"… {left_out} more", "dim")) if left_out > 0 else text[:-1]

    def _matrices(self, picture: Picture) -> RenderableType:
        """Return expected and got: side by side if they fit, else one below the other."""
        matrices = Matrices.of(picture)
        layouts = ((2, NUMBER_WIDTH), (2, matrices.tight), (1, matrices.tight))
        fitting = [layout for layout in layouts if layout[0] * layout[1] * matrices.columns + 8 <= self.width]
        if matrices.rows > MOST_ROWS or not fitting:
            return self._too_large(matrices)
        return self._drawn(matrices, *fitting[0])

    def _drawn(self, matrices: Matrices, beside: int, width: int) -> RenderableType:
        expected = [_numbers(row, (), width) for row in matrices.expected]
        got = [_numbers(row, wrong, width) for row, wrong in zip(matrices.got, matrices.wrong, strict=False)]
        grid = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        grid.add_column("expected", header_style="dim", justify="right", no_wrap=True)
        if beside == 1:
            for line in (*expected, Text(GOT_HEADING, "dim"), *got):
                grid.add_row(line)
            return grid
        grid.add_column(GOT_HEADING, header_style="dim", justify="right", no_wrap=True)
        for row in zip_longest(expected, got, fillvalue=Text()):
            grid.add_row(*row)
        return grid

    def _too_large(self, matrices: Matrices) -> RenderableType:
        """Return the size of matrices that are not drawn; the page for staff has them."""
        said = f"({matrices.rows} by {matrices.columns} numbers, too large to be drawn here)"
        return Text(said, style="dim")


def _changes(feedback: Feedback) -> tuple[Sentence, ...]:
    mark = f"{shown(feedback.mark)} of {shown(feedback.points)}"
    return *(Sentence(Tone.FACT, change) for change in feedback.changes), Sentence(Tone.CAUSE, mark, lead="mark")


def _numbers(row: Sequence[float | None], wrong: Sequence[bool], width: int) -> Text:
    """Return the numbers of a row, each in a column of this width; a wrong one has a star."""
    line = Text()
    for number, off in zip_longest(row, wrong[: len(row)], fillvalue=False):
        line.append(f"{in_digits(number):>{width - 1}}{'*' if off else ' '}", "bold red" if off else "")
    return line


def show_checked(result: Result, console: Console, occasion: Occasion | None = None) -> None:
    """Print the result of the public tests."""
    occasion = occasion or Occasion()
    feedback = check_feedback(result, occasion)
    console.print(CheckedTable(feedback, tuple(closing(feedback, result, occasion)), occasion))


class CheckedTable:
    """A rich renderable of the result of public tests, like ResultTable."""

    def __init__(self, feedback: Feedback, closing: Sequence[Sentence], occasion: Occasion) -> None:
        self.feedback, self.closing, self.occasion = feedback, closing, occasion

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        layout = _CheckedLayout(width, options.encoding, ascii_only=options.ascii_only)
        layout.about(self.closing, self.occasion)
        yield from console.render(Group(*layout.everything(self.feedback)), options.update(width=width))


class _CheckedLayout(_Layout):
    def about(self, closing: Sequence[Sentence], occasion: Occasion) -> None:
        """Set the last lines, and what is known beside the result."""
        self.closing, self.occasion = closing, occasion

    def _matrices(self, picture: Picture) -> RenderableType:
        drawn = super()._matrices(picture)
        return Group(drawn, self.text(picture.caption, "dim")) if picture.caption else drawn

    def everything(self, feedback: Feedback) -> Iterable[RenderableType]:
        yield from super().everything(feedback)
        yield Text()
        yield Padding(Group(*map(self._block, self.closing)), (0, 0, 1, 2))

    def _parts(self, feedback: Feedback) -> Table:
        table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, expand=not self.narrow)
        table.add_column("")
        table.add_column("part", no_wrap=not self.narrow, overflow=self.too_long)
        table.add_column("tests", no_wrap=True)
        if self.occasion.points:
            table.add_column("points", no_wrap=True, justify="right")
        table.add_column("", ratio=1)
        for part in feedback.parts:
            sign = self.sign(part.outcome, part.earned, part.points)
            count = Text(f"{part.earned:g} of {part.points:g}", style=str(sign.style))
            points = [Text(worth(part, self.occasion))] if self.occasion.points else []
            table.add_row(sign, self.text(f"{part.number}  {part.title}"), count, *points, self.remark(part))
        return table

    def _too_large(self, matrices: Matrices) -> RenderableType:
        """Return the rows and columns around the first wrong number, as many as fit."""
        window = matrices.window(MOST_ROWS, max(1, (self.width - 8) // matrices.tight))
        return Group(self._drawn(window, 1, matrices.tight), self.text(window.place, "dim"))

    def _section(self, section: Section) -> Iterable[RenderableType]:
        sign = self.sign(section.outcome, section.score, section.max_score)
        heading = Table.grid(padding=(0, 1, 0, 0))
        heading.add_row(sign, self.text(f"{section.number}  {section.title}", "bold"))
        yield Padding(heading, (0, 0, 0, 2))
        yield self._quoted(section.blocks, str(sign.style))

"""What a student sees of the public tests: the table and the words of a graded result, with tests counted, not points.

A part that is not written yet has its line in the table and no section: there is nothing to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from softmark.feedback.difference import size
from softmark.feedback.feedback import Audience, Block, Feedback, PartLine, Section, Sentence, Tone, feedback
from softmark.feedback.terminal import MOST_ROWS, NUMBER_WIDTH, WIDEST, _Layout
from softmark.records.result import Outcome, Result
from softmark.records.verdict import Code, Picture


def show_checked(result: Result, console: Console) -> None:
    """Prints the result of the public tests."""
    console.print(CheckedTable(told(result)))


def told(result: Result) -> Feedback:
    """The feedback, without sections on what was not run, and without points."""
    everything = feedback(result, Audience.STUDENT)
    parts = (replace(part, remark=_remark(part, result)) for part in everything.parts)
    sections = (section for section in everything.sections if section.outcome is not Outcome.NOT_RUN)
    sections = (replace(section, blocks=tuple(map(_pointless, section.blocks))) for section in sections)
    return replace(everything, parts=tuple(parts), sections=tuple(sections))


def _remark(part: PartLine, result: Result) -> str:
    """Return the remark on a part. If nothing of the part is written, it does not say which function is missing."""
    codes = (verdict.code for test in result.tests if test.part == part.number for verdict in test.verdicts)
    untouched = part.outcome is Outcome.NOT_RUN and not part.earned and next(codes, "") == Code.NOT_WRITTEN
    return "not done yet" if untouched else part.remark


def _pointless(block: Block) -> Block:
    """ "The same in 3.2 (0 of 1)" without the part in brackets."""
    if isinstance(block, Sentence) and block.tone is Tone.NOTE:
        return replace(block, text=re.sub(r" \([\d.]+ of [\d.]+\)", "", block.text))
    return block


class CheckedTable:
    """A rich renderable, as feedback/terminal.py's."""

    def __init__(self, told: Feedback) -> None:
        self.told = told

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDEST)
        layout = _CheckedLayout(width, options.encoding, ascii_only=options.ascii_only)
        yield from console.render(Group(*layout.everything(self.told)), options.update(width=width))


class _CheckedLayout(_Layout):
    def everything(self, told: Feedback) -> Iterable[RenderableType]:
        yield from super().everything(told)
        yield Text()
        summary = f"public tests: {told.total:g} of {told.points:g}; hidden tests are run later"
        yield Padding(self.text(summary, "bold" if told.total == told.points else ""), (0, 0, 1, 2))

    def _parts(self, told: Feedback) -> Table:
        table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, expand=not self.narrow)
        table.add_column("")
        table.add_column("part", no_wrap=not self.narrow, overflow=self.too_long)
        table.add_column("tests", no_wrap=True)
        table.add_column("", ratio=1)
        for part in told.parts:
            sign = self.sign(part.outcome, part.earned, part.points)
            count = Text(f"{part.earned:g} of {part.points:g}", style=str(sign.style))
            table.add_row(sign, self.text(f"{part.number}  {part.title}"), count, self.remark(part))
        return table

    def _matrices(self, picture: Picture) -> RenderableType:
        rows, columns = size(picture)
        too_large = rows > MOST_ROWS or 2 * columns * NUMBER_WIDTH + 8 > self.width
        return Text(f"({rows} by {columns} numbers)", "dim") if too_large else super()._matrices(picture)

    def _section(self, section: Section) -> Iterable[RenderableType]:
        sign = self.sign(section.outcome, section.score, section.max_score)
        heading = Table.grid(padding=(0, 1, 0, 0))
        heading.add_row(sign, self.text(f"{section.number}  {section.title}", "bold"))
        yield Padding(heading, (0, 0, 0, 2))
        yield self._quoted(section.blocks, str(sign.style))

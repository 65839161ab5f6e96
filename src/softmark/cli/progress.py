"""Shows how far the grading of a class is: a bar on a terminal, elsewhere a line from time to time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from softmark.batch.run import Finished
from softmark.records.result import Status

SECONDS_BETWEEN_LINES = 10.0
_WORDS = {
    Status.GRADED: ("graded", "graded"),
    Status.NOT_GRADABLE: ("not gradable", "not gradable"),
    Status.GRADER_ERROR: ("grader error", "grader errors"),
}
_ROOM_FOR_A_BAR = 100  # columns of the terminal; a narrower one shows the numbers instead


class Tally:
    """The number of submissions of this run by how they ended."""

    def __init__(self) -> None:
        self.unchanged = 0
        self.other_software = 0
        """The number of submissions graded again only because softmark or its libraries have changed."""
        self.by_status: Counter[Status] = Counter()
        self.faults: Counter[str] = Counter()
        """The reasons why the grader failed, with the number of submissions."""
        self._start = time.monotonic()

    def add(self, finished: Finished) -> None:
        self.other_software += finished.other_software
        if finished.result is None:
            self.unchanged += 1
        else:
            self.by_status[finished.result.status] += 1
            if finished.result.status is Status.GRADER_ERROR:
                self.faults.update(finished.result.faults)

    @property
    def done(self) -> int:
        return self.unchanged + self.by_status.total()

    @property
    def seconds(self) -> float:
        """Return the seconds since the run began."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Return the number of submissions graded in a second, without those found unchanged."""
        return self.by_status.total() / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        numbers = ((self.by_status[status], words) for status, words in _WORDS.items())
        parts = [f"{number} {words[number > 1]}" for number, words in numbers if number]
        if self.unchanged:
            parts.append(f"{self.unchanged} unchanged")
        return ", ".join(parts) or "nothing graded yet"


class _WhatFits(TextColumn):
    """A text that is cut at the terminal's edge, because a second line would scroll everything away."""

    def render(self, task: Task) -> Text:
        text = super().render(task)
        text.no_wrap, text.overflow = True, "ellipsis"
        return text


@contextmanager
def following(total: int, console: Console) -> Iterator[tuple[Tally, Callable[[Finished], None]]]:
    """Yield a tally, and the function to call with every submission that is finished."""
    tally = Tally()
    if not console.is_terminal:
        yield tally, _plain(tally, total, console)
        return
    columns = (
        *([BarColumn()] if console.width >= _ROOM_FOR_A_BAR else []),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
        _WhatFits("{task.fields[counts]}", table_column=Column()),  # the only column that may be cut
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, rate=0.0, counts="starting the engine")

        def show(finished: Finished) -> None:
            tally.add(finished)
            progress.update(task, advance=1, rate=tally.rate, counts=str(tally))

        yield tally, show


def _plain(tally: Tally, total: int, console: Console) -> Callable[[Finished], None]:
    last = time.monotonic()

    def show(finished: Finished) -> None:
        nonlocal last
        tally.add(finished)
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            console.print(f"{tally.done} of {total}: {tally}", soft_wrap=True)

    return show

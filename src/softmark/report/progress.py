"""What is seen while a class is graded: a bar on a terminal, a line now and then where there is none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from softmark.batch.run import Finished
from softmark.grading.result import Status

SECONDS_BETWEEN_LINES = 10.0
_WORDS = {
    Status.GRADED: "graded",
    Status.NOT_GRADABLE: "not gradable",
    Status.GRADER_ERROR: "grader errors",
}


class Tally:
    """How many submissions ended how, in this run."""

    def __init__(self) -> None:
        self.unchanged = 0
        self.by_status: Counter[Status] = Counter()
        self._start = time.monotonic()

    def add(self, finished: Finished) -> None:
        if finished.result is None:
            self.unchanged += 1
        else:
            self.by_status[finished.result.status] += 1

    @property
    def done(self) -> int:
        return self.unchanged + self.by_status.total()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Submissions graded in a second; those found unchanged do not count."""
        return self.by_status.total() / max(self.seconds, 1e-9)

    def __str__(self) -> str:
        parts = [f"{self.by_status[status]} {word}" for status, word in _WORDS.items() if self.by_status[status]]
        if self.unchanged:
            parts.append(f"{self.unchanged} unchanged")
        return ", ".join(parts) or "nothing graded yet"


@contextmanager
def following(total: int, console: Console) -> Iterator[tuple[Tally, Callable[[Finished], None]]]:
    """A tally, and what is to be called with every submission that is finished."""
    tally = Tally()
    if not console.is_terminal:
        yield tally, _plain(tally, total, console)
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:.1f}/s"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[counts]}"),
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
            console.print(f"{tally.done} of {total}: {tally}")

    return show

"""What is seen while a class is graded: a bar on a terminal, next to nothing in a file."""

from __future__ import annotations

import io
import re
from itertools import count

import msgspec
import pytest
from rich.console import Console

from softmark.batch.run import Finished
from softmark.cli import progress
from softmark.cli.progress import Tally, following
from softmark.intake.model import Entry, RefusedSource
from softmark.records.result import Status, Submission
from tests.support.results import graded

ENTRY = Entry(Submission(id="ada", origin="class/ada"), RefusedSource("it is empty"))
FINISHED = {status: Finished(ENTRY, msgspec.structs.replace(graded(), status=status)) for status in Status}
UNCHANGED = Finished(ENTRY)


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a second whenever it is read."""
    ticks = count()
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))


def seen(width: int, *, terminal: bool, total: int = 400) -> str:
    """What is written while so many are finished: most graded, some not gradable, one a fault, some unchanged."""
    written = io.StringIO()
    console = Console(file=written, width=width, force_terminal=terminal, color_system=None, legacy_windows=False)
    finished = [UNCHANGED] * 20 + [FINISHED[Status.NOT_GRADABLE]] * 10 + [FINISHED[Status.GRADER_ERROR]]
    with following(total, console) as (_, show):
        for one in [*finished, *[FINISHED[Status.GRADED]] * (total - len(finished))]:
            show(one)
    return written.getvalue()


class TestTally:
    """How many submissions ended how."""

    def test_says_it_in_words(self) -> None:
        tally = Tally()
        assert str(tally) == "nothing graded yet"
        for one in (*[FINISHED[Status.GRADED]] * 3, FINISHED[Status.GRADER_ERROR], UNCHANGED):
            tally.add(one)
        assert str(tally) == "3 graded, 1 grader error, 1 unchanged"
        assert tally.done == 5
        tally.add(FINISHED[Status.GRADER_ERROR])
        assert str(tally) == "3 graded, 2 grader errors, 1 unchanged"

    def test_rate_is_of_what_was_graded(self, seconds: None) -> None:
        """A submission that was found unchanged costs nothing, and says nothing about the others."""
        tally = Tally()
        for one in (FINISHED[Status.GRADED], UNCHANGED, FINISHED[Status.NOT_GRADABLE]):
            tally.add(one)
        assert tally.rate == 2.0


class TestInAFile:
    """Where nobody watches: cron, CI, `| tee`."""

    def test_is_quiet_for_a_small_class(self) -> None:
        assert seen(80, terminal=False, total=40) == ""

    def test_is_a_plain_line_now_and_then(self, seconds: None) -> None:
        """No control characters, no bar, one line in ten seconds at most."""
        lines = seen(80, terminal=False).splitlines()
        assert 2 <= len(lines) <= 400 / progress.SECONDS_BETWEEN_LINES
        assert all(re.fullmatch(r"\d+ of 400: [a-z0-9, ]+", line) for line in lines)


class TestOnATerminal:
    """Where somebody watches."""

    def test_shows_rate_time_left_and_counts(self) -> None:
        text = seen(120, terminal=True)
        assert "starting the engine" in text
        last = text.replace("\x1b[2K", "\r").split("\r")
        line = [part for part in last if "400/400" in part][-1]
        assert re.search(r"━+ +400/400 +\d+\.\d/s +00:0\d +369 graded, 10 not gradable", line)

    @pytest.mark.parametrize("width", [30, 40, 60, 80])
    def test_stays_on_one_line(self, width: int) -> None:
        """On a narrow terminal, too: a bar that wraps scrolls everything away."""
        text = seen(width, terminal=True)
        shown = re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\r", text))
        assert max(len(line.rstrip()) for line in shown) <= width
        assert text.count("\n") == 1
        assert any(re.search(r"400/400 \d+\.\d/s +00:00", line) for line in shown)

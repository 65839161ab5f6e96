"""Runs something whenever a file was saved, until Ctrl-C; a run that is overtaken by the next save is given up."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

POLL_SECONDS = 0.05
_SETTLED_SECONDS = 0.02  # a file that has not changed for so long is not just being written
_PATIENCE_SECONDS = 0.5  # for a file that is away or empty: many editors write a new one in its place

State = Mapping[Path, tuple[int, int]]
"""Time and size of each file that is there."""


class Saved(Exception):
    """Raised in the place of a run if a file has been saved meanwhile."""


def watch(
    look: Callable[[], State],
    run: Callable[[], int],
    search: Callable[[], object] = lambda: None,
    wait: Callable[[], object] = lambda: time.sleep(POLL_SECONDS),
) -> int:
    """Run now and whenever a file was changed, until Ctrl-C. Return the exit code of the last finished run.

    After each run comes the search for what takes longer to find.

    Raise KeyboardInterrupt if no run has finished.
    """
    code: int | None = None
    before: State | None = None
    try:
        while True:
            if look() != before:
                before = _settled(look, before or {})
                try:
                    with _overtaken(look, before):
                        code = run()
                        search()
                except Saved:
                    continue
            wait()
    except KeyboardInterrupt:
        if code is None:
            raise
        return code


def _settled(look: Callable[[], State], before: State) -> State:
    """Return the state when no file is being written any more, or after a while."""
    end, now = time.monotonic() + _PATIENCE_SECONDS, look()
    while time.monotonic() < end:
        time.sleep(_SETTLED_SECONDS)
        last, now = now, look()
        emptied = any(size and not now.get(path, (0, 0))[1] for path, (_, size) in before.items())
        if now == last and not emptied:
            break
    return now


@contextmanager
def _overtaken(look: Callable[[], State], before: State) -> Iterator[None]:
    """Raise Saved in the place of this block as soon as a file has changed, where the system has timers."""
    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    ended_by: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGALRM and (ended_by or look() == before):
            return  # Ctrl-C goes before a save: what ends the run first must not be replaced while it does
        ended_by.append(number)
        raise KeyboardInterrupt  # pytest would take any other exception for a failure of the test

    own = {number: signal.signal(number, end) for number in (signal.SIGALRM, signal.SIGINT)}
    signal.setitimer(signal.ITIMER_REAL, POLL_SECONDS, POLL_SECONDS)
    try:
        yield
    except KeyboardInterrupt:
        if signal.SIGINT in ended_by:
            raise
        raise Saved from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in own.items():
            signal.signal(number, handler)

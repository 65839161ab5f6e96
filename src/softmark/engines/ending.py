"""Ends processes with the one that started them, or when they are told to. It is imported before torch, so it imports
little."""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_PR_SET_PDEATHSIG = 1
_A_MOMENT = 0.001


def end_with_the_parent(number: int = signal.SIGTERM) -> None:
    """Have this signal sent to this process when its parent ends.

    A parent that is killed closes its streams, too, but that is seen only when the submission in hand is finished.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)


def stop_when_told() -> None:
    """Turn SIGTERM into a KeyboardInterrupt from now on, because there is something to clean up.

    Only the first SIGTERM counts. A second one may follow (from the launcher at Ctrl-C, from the kernel for every
    thread of a launcher that dies), and would interrupt the cleaning up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)


@contextmanager
def no_interrupt_lost() -> Iterator[None]:
    """Let a KeyboardInterrupt that comes at a bad moment come again.

    In a callback (of a fork, of an import's lock, of the garbage collector) Python prints what is raised and goes on,
    as if nobody had asked it to stop. So it is raised again, a moment later, until it stops the process.
    """
    before = sys.unraisablehook

    def hook(ignored: sys.UnraisableHookArgs) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt) and hasattr(signal, "setitimer"):
            _raise_in_a_moment(ignored.exc_type)
        else:
            before(ignored)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _raise_in_a_moment(kind: type[KeyboardInterrupt]) -> None:
    def again(number: int, frame: FrameType | None) -> None:
        raise kind

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, _A_MOMENT)

"""Ends a call in this same process if it takes too long, or if the user stops it with Ctrl-C. Level `none` only.

A timer interrupts the program at every tick. When the time is up, its handler raises in the student's code, and again
at every further tick until the code ends, because the code may catch any exception. The same holds for Ctrl-C. Only
Python code can be stopped like this: a call of a C library that hangs goes on until it returns. While a debugger is
active, the time does not count.

A system without this timer has a thread in its place, which interrupts the program when the time is up. Only the main
thread can be interrupted, so in another thread nothing is limited.
"""

from __future__ import annotations

import _thread
import builtins
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_TICK = 0.05


class Stopped(BaseException):
    """Raised in the student's code when its time is up or its user has pressed Ctrl-C."""


class Clock:
    """Counts the time that one call has taken so far: processor time, and time on the clock."""

    def __init__(self, cpu_seconds: float, wall_seconds: float) -> None:
        self._cpu_allowed, self._wall_allowed = cpu_seconds, wall_seconds
        self._latest = time.process_time(), time.monotonic()
        self.cpu = self.wall = 0.0
        self.interrupted = False
        self.running = False

    @property
    def expired(self) -> bool:
        """Return whether the call has taken too long."""
        return self.cpu > self._cpu_allowed or self.wall > self._wall_allowed

    def tick(self, _number: int, _frame: FrameType | None) -> None:
        """Count the time since the last tick, and stop the call if that was too much."""
        self.count(is_debugged())
        self._stop_if_due()

    def count(self, debugged: bool) -> None:
        """Count the time since the last look, unless a debugger has the program."""
        now = time.process_time(), time.monotonic()
        if not debugged:
            self.cpu += now[0] - self._latest[0]
            self.wall += now[1] - self._latest[1]
        self._latest = now

    def interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Stop the call, because the user wants to."""
        self.interrupted = True
        self._stop_if_due()

    def watched(self, _number: int, _frame: FrameType | None) -> None:
        """Stop the call, because its time is up, or else because the user wants to."""
        self.interrupted |= not self.expired
        self._stop_if_due()

    def _stop_if_due(self) -> None:
        if self.running and (self.interrupted or self.expired):
            raise Stopped


def is_debugged() -> bool:
    """Return whether a debugger follows this program."""
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12 and later
    by_events = monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is not None
    return sys.gettrace() is not None or by_events


@contextmanager
def limited(cpu_seconds: float, wall_seconds: float) -> Iterator[Clock]:
    """Stop what takes too long inside this block; ask the clock afterwards whether it was stopped."""
    clock = Clock(cpu_seconds, wall_seconds)
    if threading.current_thread() is not threading.main_thread():
        yield clock
        return
    if not hasattr(signal, "setitimer"):
        with _watch(clock):
            yield clock
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT)}
    try:
        signal.signal(signal.SIGALRM, clock.tick)
        signal.signal(signal.SIGINT, clock.interrupt)
        signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
        clock.running = True
        yield clock
    except Stopped:
        pass
    finally:
        clock.running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


@contextmanager
def _watch(clock: Clock) -> Iterator[None]:
    """Stop what takes too long inside this block where the system has no timer: a thread interrupts this one.

    It does so as Ctrl-C would, so the signal has one handler for both.
    """
    ended, watched = threading.Event(), threading.get_ident()

    def watch() -> None:
        while not ended.wait(_TICK):
            clock.count(_is_traced(sys._current_frames().get(watched)))
            if clock.expired and clock.running:
                _thread.interrupt_main()

    before = signal.getsignal(signal.SIGINT)
    watcher = threading.Thread(target=watch, daemon=True)
    try:
        signal.signal(signal.SIGINT, clock.watched)
        clock.running = True
        watcher.start()
        yield
    except Stopped:
        pass
    finally:
        clock.running = False
        ended.set()
        watcher.join()
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)


def _is_traced(frame: FrameType | None) -> bool:
    """Return whether a debugger follows a frame of another thread, or one that has called it."""
    while frame is not None:
        if frame.f_trace is not None:
            return True
        frame = frame.f_back
    return False


@contextmanager
def no_keyboard(is_own: Callable[[FrameType], bool]) -> Iterator[None]:
    """Let input() fail inside this block as it does in grading, if the student's own code calls it."""
    original = builtins.input

    def refused(*prompt: Any) -> str:
        if is_own(sys._getframe(1)):
            raise EOFError("EOF when reading a line")
        return original(*prompt)

    builtins.input = refused
    try:
        yield
    finally:
        builtins.input = original

"""Ends the process of a lane (here called a judge) if a hidden test does not return.

A hidden test is code of the course. It runs in the judge, like the reference and the named mistakes. If one of them
loops for ever, or calls C code that never returns, no Python code can stop it there. So a timer of the kernel kills the
judge. The timer starts anew with each test, and pauses while the judge waits for a student's process, which has clocks
of its own.

The launcher reads from a note which test it was. The note is memory that the launcher shares with its engine: each
judge writes there what it is doing, and until when it may. Only Linux has such timers; elsewhere nothing ends such a
test.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_CLOCK_MONOTONIC, _SIGEV_SIGNAL = 1, 0
_SLOT = 1024  # bytes of the note for each lane
_HEAD = struct.Struct("=dd")  # until when, or 0 if the time does not run; seconds that were allowed


def running(test_id: str) -> str:
    """Return the words for a judge that runs a hidden test."""
    return f"the hidden test {test_id}"


def naming(part: str) -> str:
    """Return the words for a judge that searches for the names of mistakes."""
    return f"the naming of mistakes in part {part}"


class Note:
    """A note of what each judge of an engine is doing. The engine writes it, the launcher reads it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, 0)

    @classmethod
    def of(cls, lanes: int) -> Note | None:
        """Return a new note for this many lanes; None if the system cannot share memory by descriptor."""
        if sys.platform != "linux":
            return None
        descriptor = os.memfd_create("softmark-note")
        os.truncate(descriptor, lanes * _SLOT)
        return cls(descriptor)

    def write(self, lane: int, what: str) -> None:
        """Note what a lane is doing."""
        text = what.encode()[: _SLOT - _HEAD.size]
        self._memory[lane * _SLOT + _HEAD.size : (lane + 1) * _SLOT] = text.ljust(_SLOT - _HEAD.size, b"\0")

    def set_end(self, lane: int, end: float, seconds: float) -> None:
        """Note until when on the monotonic clock a lane may go on, and how long it may take altogether."""
        _HEAD.pack_into(self._memory, lane * _SLOT, end, seconds)

    def overdue(self, lane: int) -> tuple[str, float] | None:
        """Return what a lane has done for too long, and its limit in seconds; None if its time is not over."""
        end, seconds = _HEAD.unpack_from(self._memory, lane * _SLOT)
        if end == 0 or time.monotonic() < end:
            return None
        text = bytes(self._memory[lane * _SLOT + _HEAD.size : (lane + 1) * _SLOT])
        return text.rstrip(b"\0").decode(errors="replace"), seconds

    def close(self) -> None:
        self._memory.close()
        os.close(self.descriptor)


class OwnTime:
    """Limits the time that a judge takes by itself for one test. It is made in the judge's process."""

    def __init__(self, seconds: float = 0.0, note: Note | None = None, lane: int = 0) -> None:
        self._seconds, self._note, self._lane = seconds, note, lane
        self._timer = _Timer() if note is not None else None
        self._running = False

    def begin(self, what: str) -> None:
        """Note what the judge does now, and start its time anew."""
        if self._note is not None:
            self._note.write(self._lane, what)
            self._set(self._seconds)

    def begin_anew(self) -> None:
        """Give the judge its whole time again."""
        if self._running:
            self._set(self._seconds)

    def stop(self) -> None:
        """Note that the judge has nothing to do, and stop its time."""
        self._set(0.0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the time inside this block, while the judge waits for a process with its own limit; then start anew."""
        running = self._running
        if running:
            self._set(0.0)
        try:
            yield
        finally:
            if running:
                self._set(self._seconds)

    def _set(self, seconds: float) -> None:
        if self._note is None or self._timer is None:
            return
        self._running = seconds > 0
        self._note.set_end(self._lane, time.monotonic() + seconds if seconds else 0.0, seconds)
        self._timer.set(seconds)


class _Event(ctypes.Structure):
    """struct sigevent: what happens when a timer runs out."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("number", ctypes.c_int),
        ("how", ctypes.c_int),
        ("rest", ctypes.c_byte * 48),
    )


class _Spans(ctypes.Structure):
    """struct itimerspec: the interval of a timer, then its first span, each in seconds and nanoseconds."""

    _fields_ = (("interval", ctypes.c_long * 2), ("span", ctypes.c_long * 2))


class _Timer:
    """A timer that kills this process. A fork of this process does not inherit it."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        library = libc if hasattr(libc, "timer_create") else ctypes.CDLL("librt.so.1", use_errno=True)
        self._settime = library.timer_settime
        self._settime.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Spans), ctypes.c_void_p)
        self._number = ctypes.c_void_p()
        event = _Event(None, signal.SIGKILL, _SIGEV_SIGNAL)
        if library.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self._number)) != 0:
            failure = ctypes.get_errno()
            raise OSError(failure, f"timer_create: {os.strerror(failure)}")

        self._spans: dict[float, _Spans] = {}

    def set(self, seconds: float) -> None:
        """Run out after this many seconds; 0 stops the timer."""
        if seconds not in self._spans:
            whole = int(seconds)
            self._spans[seconds] = _Spans((0, 0), (whole, int((seconds - whole) * 1e9)))
        self._settime(self._number, 0, self._spans[seconds], None)

"""Catches what a student's code prints in a child of this process, so that it can be shown under its test.

A debugger needs the terminal itself. So the child gives its streams back to the terminal when a debugger starts, and
catches nothing from then on.
"""

from __future__ import annotations

import io
import mmap
import os
import sys

from softmark.sandbox.debugger import note_debuggers
from softmark.sandbox.student_process import Capture

_CHUNK = 1 << 16
_READS = 16  # reads at a time, so that code that prints without end does not keep its clock from being looked at


class Prints:
    """The parent's end: keeps the beginning and the end of what has been printed since the last `take`."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._kept = Capture(keep)
        self._end, self.pipe = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._end, False)

    def fileno(self) -> int:
        return self._end

    def read(self) -> None:
        """Keep what waits in the pipe, or a part of it."""
        for _ in range(_READS):
            try:
                chunk = os.read(self._end, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                return
            self._kept.add(chunk)

    def take(self) -> str:
        """Return what was printed since the last time."""
        if self._end >= 0:
            self.read()
        text, self._kept = self._kept.text(), Capture(self._keep)
        return text

    def close(self) -> None:
        """Read the last output, and close the pipe."""
        if self._end >= 0:
            self.read()
            os.close(self._end)
            self._end = -1


def catch(pipe: int, debugged: mmap.mmap) -> None:
    """Send all prints of this process into a pipe, until a debugger starts that is derived from `bdb`.

    The debugger leaves a note in `debugged`, and has the streams of the terminal.
    """
    own = [(stream, descriptor, os.dup(descriptor)) for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2))]
    for _, descriptor, _ in own:
        os.dup2(pipe, descriptor)
    sys.stdout, sys.stderr = _unbuffered(1), _unbuffered(2)

    def release() -> None:
        if not debugged[0]:
            debugged[0] = 1
            for _, descriptor, terminal in own:
                os.dup2(terminal, descriptor)
            sys.stdout, sys.stderr = (stream for stream, _, _ in own)

    note_debuggers(release)


def _unbuffered(descriptor: int) -> io.TextIOWrapper:
    """Return a text stream that keeps nothing back: its process may be ended at any time."""
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors="replace", write_through=True)

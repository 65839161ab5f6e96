"""Opens Python's debugger in one call of the student's code, and notices debuggers that the code itself starts."""

from __future__ import annotations

import bdb
import os
import pdb
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from softmark.sandbox.wire.protocol import Call, DoneReply, Request
from softmark.sandbox.worker import Worker

_NOT_STEPPED_INTO = ("softmark.*", "torch.*", "contextlib")


def worker(directory: str, stop_at: int | None = None) -> Worker:
    """Return a worker; with a number, one that opens the debugger in the call of this number."""
    return Worker(directory) if stop_at is None else _DebuggedWorker(directory, stop_at)


class _DebuggedWorker(Worker):
    def __init__(self, directory: str, stop_at: int) -> None:
        super().__init__(directory)
        self._stop_at = stop_at

    def _dispatch(self, request: Request) -> DoneReply:
        if isinstance(request, Call) and request.id == self._stop_at:
            with _stopping(self._scratch):
                return super()._dispatch(request)
        return super()._dispatch(request)


def note_debuggers(note: Callable[[], object]) -> None:
    """Have every debugger that is derived from `bdb` call `note` when it is made and when it starts."""
    prepare, reset = bdb.Bdb.__init__, bdb.Bdb.reset

    def prepared(self: bdb.Bdb, *args: Any, **kwargs: Any) -> None:
        note()
        prepare(self, *args, **kwargs)

    def started(self: bdb.Bdb) -> None:
        note()
        reset(self)

    bdb.Bdb.__init__ = prepared  # type: ignore[method-assign]
    bdb.Bdb.reset = started  # type: ignore[method-assign]


@contextmanager
def _stopping(directory: str) -> Iterator[None]:
    """Open the debugger when code of this directory is entered inside this block."""

    def look(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        if event != "call" or not frame.f_code.co_filename.startswith(directory):
            return None
        debugger = _Debugger(directory)
        debugger.begin(frame)
        return debugger.trace_dispatch

    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(None)


class _Debugger(pdb.Pdb):
    """Shows the student's files by their names, and steps into them only."""

    def __init__(self, directory: str) -> None:
        super().__init__(skip=_NOT_STEPPED_INTO, nosigint=True)
        self._directory = directory

    def begin(self, frame: FrameType) -> None:
        """Stop at the next line of this frame; what has called it is not shown."""
        self.reset()
        self.botframe = frame.f_back
        self.set_step()
        sys.settrace(self.trace_dispatch)

    def format_stack_entry(self, frame_lineno: tuple[FrameType, int], lprefix: str = ": ") -> str:
        return super().format_stack_entry(frame_lineno, lprefix).replace(f"{self._directory}{os.sep}", "")

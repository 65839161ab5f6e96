"""Runs a student's code in this same process (level `none`): for a notebook, or where no child can be started
(in_child.py).

Requests, replies and the wire format are the same as everywhere, so students see at home what the grader will see. Only
a process of its own and the walls are missing.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import FrameType

from softmark.records.limits import DEFAULTS, Allowed, Limits
from softmark.sandbox import failure_texts, wire
from softmark.sandbox.clock import limited, no_keyboard
from softmark.sandbox.debugger import worker
from softmark.sandbox.ended import Exit
from softmark.sandbox.student_process import Outgoing, StudentProcess
from softmark.sandbox.wire import protocol
from softmark.sandbox.wire.protocol import Answered, Ask, Call
from softmark.sandbox.worker import absent, forbidden


class InProcessWorker(StudentProcess):
    """Answers requests by calling the worker's code directly. clock.py ends endless loops; nothing stops a crash."""

    alive = True

    def __init__(self, directory: Path, limits: Limits = DEFAULTS, stop_at: int | None = None) -> None:
        self._limits = limits
        self._came_from = os.getcwd()
        self._directory = str(directory)
        os.chdir(directory)  # where a worker runs, too
        self._worker = worker(str(directory), stop_at)

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        request = protocol.read_request(wire.unpack(_body(outgoing.frame)))
        reply = b""
        self._worker.asked_here = self._asked
        with no_keyboard(self._is_own), limited(allowed.cpu_seconds, allowed.longest) as clock:
            try:
                reply = self._worker.reply(request)
            finally:
                forbidden.rest()  # the tests and the reference run in this process, too
        if clock.interrupted:
            raise KeyboardInterrupt
        if clock.expired:
            limit = outgoing.limit(self._limits.cpu_seconds, allowed)
            raise failure_texts.out_of_time(limit, allowed.cpu_seconds, clock.cpu, clock.wall)
        outgoing.body_size(reply[: wire.PREFIX])  # raises if the answer would be too large in grading
        return bytes(_body(reply))

    def _asked(self, ask: Ask) -> Answered:
        """Return the answer to a question of a call. Both go through the wire format, as in grading."""
        number = self._worker.present
        asked = protocol.read_reply(wire.unpack(_body(wire.pack(protocol.ask_value(number, ask)))), Call("", id=number))
        if self.answer is None or not isinstance(asked, Ask):
            raise RuntimeError("nothing may be asked here")
        answered = protocol.request_value(self.answer(asked))
        answer = protocol.read_request(wire.unpack(_body(wire.pack(answered))))
        assert isinstance(answer, Answered)
        return answer

    def cpu_seconds(self) -> float:
        return time.process_time()

    def printed(self) -> tuple[str, str]:
        return "", ""  # the prints went to the student's own terminal

    def close(self) -> Exit | None:
        if self.alive:
            os.chdir(self._came_from)
            self._forget()
            forbidden.undo()  # the notebook gets its torch back
        self.alive = False
        return None

    def _is_own(self, frame: FrameType) -> bool:
        """Return whether this is the student's own code."""
        return frame.f_code.co_filename.startswith(self._directory)

    def _forget(self) -> None:
        """Forget the submission's modules: `softmark check --watch` loads them again when they have changed."""
        sys.path[:] = [place for place in sys.path if place != self._directory]
        absent.forget(self._directory)
        inside = self._directory + os.sep
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(inside):
                del sys.modules[name]


def _body(frame: bytes) -> memoryview:
    """Return the part of a frame that follows its prefix."""
    return memoryview(frame)[wire.PREFIX :]

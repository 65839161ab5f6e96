"""Runs a student's own code in a child of this process, on the student's own machine, with limits of time (level
`none`).

There are no walls: the child may do all that its user may. But it can be ended from outside. So an endless loop, a call
of a C library that never returns, a crash and an exit are told as they are in grading, and Ctrl-C ends the check at
once. What it prints is caught, test by test (prints.py). A debugger gets this process's terminal; once one has started,
the time is no longer limited.

A child that is not heard prints to nobody, and its memory is limited: hundreds of edits of the student's code are tried
in it, and each of them would print again.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import socket
import sys
import termios
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from softmark.records.limits import Allowed, Limits
from softmark.sandbox import failure_texts, procfs, wire
from softmark.sandbox.clock import no_keyboard
from softmark.sandbox.debugger import worker
from softmark.sandbox.ended import Exit
from softmark.sandbox.prints import Prints, catch
from softmark.sandbox.process import killed_for_memory
from softmark.sandbox.student_process import Outgoing, StudentProcess, name_of_call
from softmark.sandbox.walls import rlimits
from softmark.sandbox.walls.seccomp import prctl
from softmark.sandbox.wire.protocol import Request

_TICK = 0.05  # seconds between looks at a child that has not answered yet
_ENDING = 0.5  # seconds that a child may take to end by itself
_PR_SET_PDEATHSIG = 1


class ChildWorker(StudentProcess):
    """Answers requests from a fork of this process."""

    def __init__(self, directory: Path, limits: Limits, *, heard: bool = True, stop_at: int | None = None) -> None:
        self._limits = limits
        self._ended: Exit | None = None
        self._busy = False
        self._terminal = _terminal()
        self._debugged = mmap.mmap(-1, 1)  # shared with the child
        self._oom_kills = procfs.oom_kills()
        self._prints = Prints(limits.output_bytes)
        self._asked: Request | None = None
        self._wire, theirs = socket.socketpair()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # otherwise the child would print the buffered text again
        self._pid = os.fork()
        if self._pid == 0:
            self._wire.close()
            prepare = partial(catch, self._prints.pipe, self._debugged) if heard else partial(_be_unheard, limits)
            _serve(str(directory), theirs.fileno(), prepare, stop_at)
        theirs.close()
        os.close(self._prints.pipe)
        self._pidfd = os.pidfd_open(self._pid)

    @property
    def alive(self) -> bool:
        return self._ended is None

    def cpu_seconds(self) -> float:
        return procfs.process_cpu(self._pid)

    def printed(self) -> tuple[str, str]:
        return "", ""  # each test takes its own

    def running(self) -> str:
        return name_of_call(self._asked)

    def take_printed(self) -> str:
        return self._prints.take()

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        cpu_start, wall_start = self.cpu_seconds(), time.monotonic()
        self._busy, self._asked = True, outgoing.request
        self._send(outgoing.frame)
        body = _Body(outgoing)
        while not self._take(body):
            cpu, wall = self.cpu_seconds() - cpu_start, time.monotonic() - wall_start
            if allowed.exceeded(cpu, wall) and not self._debugged[0]:
                limit = outgoing.limit(self._limits.cpu_seconds, allowed)
                raise failure_texts.out_of_time(limit, allowed.cpu_seconds, cpu, wall)
        self._busy = False
        return bytes(body.received)

    def close(self) -> Exit:
        """End the child and what it has started. If it waits for a request, give it a moment to end by itself."""
        if self._ended is None:
            for started in procfs.descendants(self._pid):  # later they would be nobody's children, and not be found
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(started, signal.SIGKILL)
            self._wire.close()
            if not self._busy:
                select.select([self._pidfd], [], [], _ENDING)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            _, status, used = os.wait4(self._pid, 0)
            self._ended = Exit(status, used.ru_utime + used.ru_stime, leftovers=0, clean=True)
            os.close(self._pidfd)
            self._prints.close()
            if self._terminal is not None and self._debugged[0]:
                termios.tcsetattr(0, termios.TCSANOW, self._terminal)  # a debugger's prompt may have changed it
        return self._ended

    def _send(self, frame: bytes) -> None:
        try:
            self._wire.sendall(frame)
        except OSError:  # it has ended since the last answer
            self._tell_death()

    def _take(self, body: _Body) -> bool:
        """Wait a moment for more of the answer; return whether it is complete."""
        ready, _, _ = select.select([self._wire.fileno(), self._prints.fileno()], [], [], _TICK)
        if self._prints.fileno() in ready:
            self._prints.read()
        if self._wire.fileno() not in ready:
            return False
        try:
            part = self._wire.recv(body.lacking)
        except ConnectionResetError:
            part = b""
        if not part:
            self._tell_death()
        return body.add(part)

    def _tell_death(self) -> NoReturn:
        """Raise the failure of a child whose wire is closed, because the child has ended or its code has closed it."""
        ending, _, _ = select.select([self._pidfd], [], [], _ENDING)
        status = self.close().status
        if not ending:
            raise wire.WireError("the wire was closed")
        raise failure_texts.death(status, killed_for_memory(self._oom_kills))


class _Body:
    """The part of an answer's frame that has arrived."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._size: int | None = None
        self.received = bytearray()

    @property
    def lacking(self) -> int:
        """Return how many bytes of the prefix, and after it of the body, have not arrived yet."""
        return (wire.PREFIX if self._size is None else self._size) - len(self.received)

    def add(self, part: bytes) -> bool:
        """Add bytes that have arrived; return whether the body is complete."""
        self.received += part
        if self._size is None and not self.lacking:
            self._size = self._outgoing.body_size(bytes(self.received))
            self.received.clear()
        return self._size is not None and not self.lacking


def _serve(directory: str, descriptor: int, prepare: Callable[[], None], stop_at: int | None) -> NoReturn:
    """Run the child until its wire ends. Its parent answers Ctrl-C."""
    try:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.chdir(directory)
        prepare()
        with no_keyboard(lambda frame: frame.f_code.co_filename.startswith(directory)):
            worker(directory, stop_at).serve(descriptor, descriptor)
    finally:
        os._exit(0)


def _be_unheard(limits: Limits) -> None:
    """Let this process print to nobody, read nothing, and use no more memory than a worker of grading."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - a notebook's streams are no descriptors
    sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    rlimits.impose_memory(limits)


def _terminal() -> list[Any] | None:
    """Return the settings of the terminal; None if there is no terminal."""
    try:
        return termios.tcgetattr(0)
    except termios.error:
        return None

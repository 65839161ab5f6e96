"""Starts a worker as a program of its own, with no walls, where it cannot be forked.

It is level `process` of grading there, and level `none` of a student's own machine. On that, it is heard: what the code
prints goes to this process's standard output, a debugger has the terminal, and once it has started, the time is no
longer limited.

The frames travel over its standard input and output. Before any student code runs, the worker moves these two to other
descriptors, so that the student's prints go to the standard error pipe. A thread reads each pipe, because these systems
have no other way to wait for a pipe. A start costs an `import torch`; only time on the clock is limited.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, NoReturn

from softmark.records.limits import Allowed, Limits
from softmark.sandbox import failure_texts, procfs, scratch, wire
from softmark.sandbox.clock import no_keyboard
from softmark.sandbox.debugger import note_debuggers
from softmark.sandbox.ended import Exit
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.student_process import READY, Capture, Outgoing, StudentProcess, name_of_call

_TICK = 0.01  # seconds between looks at readers that have not ended yet
_STEP = 0.05  # seconds between looks at the time
_ENDING = 1.0  # seconds that a process or a pipe may take to end
_STANDARD_OUTPUT = 1


class SpawnedWorker(StudentProcess):
    """Answers requests from a worker that was started as a program."""

    def __init__(self, directory: Path, limits: Limits, environment: dict[str, str], *, heard: bool = False) -> None:
        self._directory, self._limits = directory, limits
        self._printed = Capture(limits.output_bytes)
        self._ended: Exit | None = None
        self._outgoing = READY
        self._debugged = directory.with_name(f"{directory.name}.debugged") if heard else None
        sys.stdout.flush()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", "-m", "softmark.sandbox.spawned", str(directory),
             *([str(self._debugged)] if heard else [])],
            cwd=directory, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=_STANDARD_OUTPUT if heard else subprocess.PIPE,
            start_new_session=not heard,
        )  # fmt: skip
        self._bodies: queue.Queue[bytes | wire.WireError | StudentFailure | None] = queue.Queue(maxsize=4)
        jobs = (self._read_frames,) if heard else (self._read_frames, self._read_output)
        self._readers = [threading.Thread(target=job, daemon=True) for job in jobs]
        for reader in self._readers:
            reader.start()
        try:
            self._reply(READY, Allowed.of(limits.import_seconds))
        except StudentFailure as failure:
            raise GraderFault(str(failure)) from failure  # no code of the student's has run yet

    @property
    def alive(self) -> bool:
        return self._ended is None

    def cpu_seconds(self) -> float:
        """Return the processor time, or 0 on a system that does not tell it."""
        return procfs.process_cpu(self._process.pid) if self.alive else 0.0

    def printed(self) -> tuple[str, str]:
        return self._printed.text().replace(f"{self._directory}{os.sep}", ""), ""

    def running(self) -> str:
        return name_of_call(self._outgoing.request)

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        self._outgoing = outgoing
        return self._answer(outgoing.frame, allowed.longest)

    def close(self) -> Exit:
        if self._ended is None:
            self._kill()
            status = _wait_status(self._process.wait())
            left = self._await_readers()
            self._ended = Exit(status, 0.0, left, not left)
            with contextlib.suppress(BrokenPipeError):  # the worker may not have read the last request
                _pipe(self._process.stdin).close()
            scratch.remove(self._directory)
        return self._ended

    def _kill(self) -> None:
        """Kill the worker and, where it has a process group of its own, its group."""
        if hasattr(os, "killpg") and self._debugged is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    def _await_readers(self) -> int:
        """Return how many pipes do not end: a process that the student's code started still holds them."""
        deadline = time.monotonic() + _ENDING
        while any(reader.is_alive() for reader in self._readers) and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                self._bodies.get(timeout=_TICK)
        return sum(reader.is_alive() for reader in self._readers)

    def _answer(self, frame: bytes, allowed: float) -> bytes:
        try:
            _pipe(self._process.stdin).write(frame)
            _pipe(self._process.stdin).flush()
            body = self._body_within(allowed)
        except queue.Empty:
            raise failure_texts.out_of_time(allowed, allowed, None, allowed) from None
        except OSError:
            body = None
        if isinstance(body, wire.WireError | StudentFailure):
            raise body
        return body if body is not None else self._await_end()

    def _body_within(self, seconds: float) -> bytes | wire.WireError | StudentFailure | None:
        """Return the next body. Raise queue.Empty if there is none in time.

        It waits in short steps, because some systems notice Ctrl-C only between two of them.
        """
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 and not (self._debugged is not None and self._debugged.exists()):
                raise queue.Empty
            with contextlib.suppress(queue.Empty):
                return self._bodies.get(timeout=_STEP if left <= 0 else min(left, _STEP))

    def _await_end(self) -> NoReturn:
        """Raise the failure of a worker that closed the wire: it is ending, or its code lives on without the wire."""
        try:
            raise failure_texts.death(_wait_status(self._process.wait(_ENDING)))
        except subprocess.TimeoutExpired:
            raise wire.WireError("the wire was closed") from None

    def _read_frames(self) -> None:
        with _pipe(self._process.stdout) as stream:
            try:
                while prefix := stream.read(wire.PREFIX):
                    self._bodies.put(stream.read(self._outgoing.body_size(prefix)))
            except (wire.WireError, StudentFailure) as error:
                self._bodies.put(error)
            self._bodies.put(None)

    def _read_output(self) -> None:
        with _pipe(self._process.stderr) as stream:
            while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
                self._printed.add(chunk)


def _wait_status(code: int) -> int:
    """Return the exit code of a Popen in the form of the status that wait() returns."""
    return -code if code < 0 else code << 8


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise GraderFault("a student process was started without its pipes")
    return stream


def main() -> None:
    """Run the worker's side: `python -m softmark.sandbox.spawned DIRECTORY [DEBUGGED]`.

    `DEBUGGED` is the file that a debugger makes when it starts, if the worker is heard.
    """
    from softmark.sandbox import worker

    directory, *debugged = sys.argv[1:]
    requests, replies = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    os.dup2(_keyboard(bool(debugged)), 0)
    worker.preload()
    if not debugged:
        worker.serve_spawned(directory, requests, replies)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    note_debuggers(Path(debugged[0]).touch)
    with no_keyboard(lambda frame: frame.f_code.co_filename.startswith(directory)):
        worker.serve_spawned(directory, requests, replies)


def _keyboard(wanted: bool) -> int:
    """Open the terminal for a debugger; an empty file if there is none, or if it is not wanted."""
    if wanted:
        with contextlib.suppress(OSError):
            return os.open("CONIN$" if os.name == "nt" else "/dev/tty", os.O_RDONLY)
    return os.open(os.devnull, os.O_RDONLY)


if __name__ == "__main__":
    main()

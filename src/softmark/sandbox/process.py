"""The trusted side of one worker: asks, waits within limits, drains what is printed, and ends it.

Three clocks run while an answer is awaited. Processor time is the measure, so that a busy machine fails nobody; wall
time is the guard against a program that waits for ever; memory and disk are looked at every tick. All are read from
the kernel. The answer counts when one complete frame has arrived; nothing the worker does afterwards matters.

The clocks run only while this side never waits in a read or write of the wire: a worker may begin a frame and not end
it. So the wire does not block, and each read and write asks once more not to wait.
"""

from __future__ import annotations

import os
import select
import selectors
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from softmark.sandbox import explain, procfs, scratch, wire
from softmark.sandbox.asking import READINESS, Question, StudentProcess
from softmark.sandbox.capture import Capture
from softmark.sandbox.failures import GraderFault, SandboxLost, StudentFailure
from softmark.sandbox.limits import Limits
from softmark.sandbox.walls import Walls
from softmark.sandbox.zygote import Ended, Zygote

_TICK = 0.05  # seconds between looks at a worker that has not answered yet
_DISK_TICKS = 10  # looking at the disk means walking a directory: every tenth tick
_CHUNK = 1 << 16
_ENTRIES = 100_000
_ENDING = 1.0  # seconds a process may take to be gone after its end of the wire is

_oom_kills = procfs.OomKills()


def killed_for_memory() -> bool | None:
    """Whether the kernel has killed a process for want of memory since the last look; None: it does not tell."""
    return _oom_kills.any_since() if _oom_kills.known() else None


class ForkedWorker(StudentProcess):
    """A worker forked from the zygote, behind walls."""

    def __init__(
        self,
        zygote: Zygote,
        walls: Walls,
        limits: Limits,
        on_end: Callable[[Ended], None] = lambda ended: None,
        spare: int | None = None,
    ) -> None:
        self._zygote, self._walls, self._limits, self._on_end = zygote, walls, limits, on_end
        self._out, self._err = Capture(limits.output_bytes), Capture(limits.output_bytes)
        self._ended: Ended | None = None
        self._wire, theirs = socket.socketpair()
        out, out_theirs = os.pipe2(os.O_CLOEXEC)
        err, err_theirs = os.pipe2(os.O_CLOEXEC)
        given = [theirs.fileno(), out_theirs, err_theirs]
        try:
            self.pid = zygote.start(walls, given, spare)
        except (GraderFault, OSError):
            self._wire.close()
            os.close(out)
            os.close(err)
            raise
        finally:
            theirs.close()
            os.close(out_theirs)
            os.close(err_theirs)
        self._streams = {out: self._out, err: self._err}
        self._pidfd = os.pidfd_open(self.pid)
        self._selector = selectors.DefaultSelector()
        self._wire.setblocking(False)
        for descriptor in (self._wire.fileno(), self._pidfd, out, err):
            self._selector.register(descriptor, selectors.EVENT_READ)
        for descriptor in self._streams:
            os.set_blocking(descriptor, False)
        self._await_ready()

    @property
    def alive(self) -> bool:
        return self._ended is None

    def cpu_seconds(self) -> float:
        return procfs.process_cpu(self.pid)

    def printed(self) -> tuple[str, str]:
        return self._out.text(), self._err.text()

    def exchange(self, question: Question, cpu_seconds: float, wall_seconds: float) -> bytes:
        if self._ended is not None:
            raise GraderFault("a request was made to a student process that has ended")
        return _Exchange(self, question, cpu_seconds, wall_seconds).run()

    def close(self) -> Ended:
        """End it and all that came of it; safe to call twice.

        The first call raises SandboxLost if the zygote, which alone can do that, has ended itself.
        """
        if self._ended is None:
            try:
                self._ended = self._zygote.stop()
                self._on_end(self._ended)
            except SandboxLost:
                self._ended = Ended(signal.SIGKILL, 0.0, left=0, clean=False)  # by the zygote's trusted side
                raise
            finally:
                self._release()
        return self._ended

    def _release(self) -> None:
        """Take what was printed last, close all descriptors, and delete the scratch directory."""
        self._drain()
        self._selector.close()
        self._wire.close()
        for descriptor in (self._pidfd, *self._streams):
            os.close(descriptor)
        scratch.remove(Path(self._walls.scratch))

    def _await_ready(self) -> None:
        """Until here no code of the student's has run, so whatever goes wrong is not their fault."""
        try:
            self.read(READINESS, self.ask(READINESS, self._limits.import_seconds))
        except SandboxLost:
            raise  # by `close`, which has been called
        except (GraderFault, StudentFailure) as failure:
            self.close()
            raise GraderFault(str(failure)) from failure

    def _drain(self) -> None:
        """Take what is in the output pipes now; a stream that a child of the student's holds open does not matter."""
        for descriptor, capture in self._streams.items():
            for _ in range(64):  # at most 4 MB at a time, so that a flood cannot hold the trusted side
                try:
                    chunk = os.read(descriptor, _CHUNK)
                except BlockingIOError:
                    break
                if not chunk:
                    break
                capture.add(chunk)


class _Exchange:
    """One request on its way there and back, under the three clocks."""

    def __init__(self, worker: ForkedWorker, question: Question, cpu_seconds: float, wall_seconds: float) -> None:
        self._worker, self._question = worker, question
        self._operation = question.message.get("op")
        self._unsent = memoryview(question.frame)
        self._received = bytearray()
        self._expected = wire.PREFIX
        self._have_prefix = False
        self._cpu_allowed = cpu_seconds
        self._wall_allowed = min(worker._limits.wall(cpu_seconds), wall_seconds)
        self._wall_start = time.monotonic()
        self._cpu_start = procfs.process_cpu(worker.pid)
        self._ticks = 0

    def run(self) -> bytes:
        """The body of the reply's frame."""
        worker = self._worker
        wire_fd = worker._wire.fileno()
        while True:
            if self._unsent:
                self._send()
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
                worker._selector.modify(wire_fd, wanted)
            events = worker._selector.select(_TICK)
            ready = {key.fd for key, _ in events}
            if ready - {wire_fd, worker._pidfd}:
                worker._drain()
            if wire_fd in ready and self._receive():
                return bytes(self._received)
            if worker._pidfd in ready and wire_fd not in ready:
                raise explain.death(worker.close().status, killed_for_memory())
            if not events or time.monotonic() - self._wall_start > (self._ticks + 1) * _TICK:
                self._look()

    def _send(self) -> None:
        try:
            sent = self._worker._wire.send(self._unsent, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._await_end()
        self._unsent = self._unsent[sent:]

    def _receive(self) -> bool:
        """Take what has arrived; True when the frame is complete."""
        try:
            most = min(_CHUNK * 16, self._expected - len(self._received))
            part = self._worker._wire.recv(most, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except ConnectionResetError:
            part = b""
        if not part:
            self._await_end()
        self._received += part
        if not self._have_prefix and len(self._received) == wire.PREFIX:
            self._expected = self._question.body_size(bytes(self._received))
            self._received.clear()
            self._have_prefix = True
            return self._receive()  # the rest is mostly there, too
        return self._have_prefix and len(self._received) == self._expected

    def _await_end(self) -> NoReturn:
        """The wire was closed. Either the process is ending, or its code closed the wire and lives on."""
        worker = self._worker
        end = select.poll()
        end.register(worker._pidfd, select.POLLIN)
        ending = bool(end.poll(_ENDING * 1000))
        ended = worker.close()
        raise explain.death(ended.status, killed_for_memory()) if ending else explain.malformed("the wire was closed")

    def _look(self) -> None:
        """The three clocks, and the disk."""
        worker = self._worker
        self._ticks = int((time.monotonic() - self._wall_start) / _TICK)
        used = procfs.usage(worker._zygote.pid, worker.pid, worker._zygote.baseline)
        cpu, wall = used.cpu_seconds - self._cpu_start, time.monotonic() - self._wall_start
        if cpu > self._cpu_allowed or wall > self._wall_allowed:
            limit = worker._limits.cpu_seconds if self._operation == "call" else self._cpu_allowed
            raise explain.out_of_time(limit, self._cpu_allowed, cpu, wall)
        if used.memory_bytes > worker._limits.memory_mb * 1_000_000:
            raise explain.out_of_memory(worker._limits.memory_mb, used.memory_bytes)
        if self._ticks % _DISK_TICKS == 0:
            most = worker._limits.file_mb * 1_000_000
            written, entries = scratch.usage(Path(worker._walls.scratch), most, _ENTRIES)
            if written > most or entries > _ENTRIES:
                raise explain.out_of_disk(worker._limits.file_mb)

"""The trusted side of one worker: asks it, waits within limits, reads what it prints, and ends it.

Two clocks run while this side waits for an answer. Processor time is limited, so that a busy machine fails nobody; time
on the clock is limited too, against a program that waits for ever. Memory and disk are checked twenty times in each
second of a request, and the disk at its end as well. All figures come from the kernel. An answer counts once one
complete frame has arrived and the disk's limit holds, whatever the worker does afterwards.

A worker may begin a frame and never end it. This side must not wait for that in a read or write, because then nobody
would look at the clocks. So the socket does not block, and each read and write has the flag not to wait.

A worker must not be able to keep the trusted side busy. A stream that has ended is no longer watched. In each tick a
bounded amount of output is read; a program that prints more has to wait. So has a program that sends its answer in
crumbs.
"""

from __future__ import annotations

import os
import select
import selectors
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from softmark.records.limits import Allowed, Limits
from softmark.sandbox import failure_texts, procfs, scratch, wire
from softmark.sandbox.disk import Disk, in_turn
from softmark.sandbox.ended import Exit
from softmark.sandbox.failures import Disturbed, GraderFault, SandboxLost, StudentFailure
from softmark.sandbox.student_process import READY, Capture, Outgoing, StudentProcess
from softmark.sandbox.walls import Walls
from softmark.sandbox.zygote import Zygote

_TICK = 0.05  # seconds between looks at a worker
_THOROUGH = 10  # at every tenth look the files are counted, even if nothing hints at new ones
_CHUNK = 1 << 16
_READS = 16  # reads in a tick from one stream, or of crumbs of an answer: up to 20 MB a second
_CRUMB = 4096  # bytes; all parts of an answer but the last one have about a hundred thousand
_SHORT = 0.005  # seconds; after a shorter exchange we do not ask for the time of children, which would take longer
_MEGABYTE = 1_000_000
_OF_BACKSTOP = 0.75  # the kernel counts clock ticks for its own limit, and on a busy machine it may count too many
_ENDING = 1.0  # seconds that a process may live on after its end of the wire is closed


def killed_for_memory(before: int | None) -> bool | None:
    """Return whether the kernel has killed more processes for memory than `before`; None if it does not tell."""
    now = procfs.oom_kills()
    return None if before is None or now is None else now > before


class ForkedWorker(StudentProcess):
    """A worker forked from the zygote, behind walls."""

    def __init__(
        self,
        zygote: Zygote,
        walls: Walls,
        limits: Limits,
        on_end: Callable[[Exit], None] = lambda ended: None,
        spare: int | None = None,
    ) -> None:
        self._zygote, self._walls, self._limits, self._on_end = zygote, walls, limits, on_end
        self._out, self._err = Capture(limits.output_bytes), Capture(limits.output_bytes)
        self._ended: Exit | None = None
        self._cpu_of_others = 0.0
        self._oom_kills = procfs.oom_kills()
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
        self._reads: Counter[int] = Counter()
        self._waiting_for = {self._wire.fileno(), self._pidfd, out, err}
        for descriptor in self._waiting_for:
            self._selector.register(descriptor, selectors.EVENT_READ)
        for descriptor in self._streams:
            os.set_blocking(descriptor, False)
        self._disk: Disk | None = None
        self._looks, self._next_look = 0, time.monotonic() + _TICK
        self._await_ready()

    @property
    def alive(self) -> bool:
        return self._ended is None

    def cpu_seconds(self) -> float:
        if self._ended is not None:
            return self._ended.cpu_seconds
        return procfs.process_cpu(self.pid) + self._cpu_of_others

    def cpu_seconds_of_all(self) -> float:
        if self._ended is None:
            self.usage()
        return self.cpu_seconds()

    def printed(self) -> tuple[str, str]:
        own = f"{self._walls.scratch}/"  # a warning names its file with the directory, which each run draws anew
        return self._out.text().replace(own, ""), self._err.text().replace(own, "")

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        if self._ended is not None:
            raise GraderFault("a request was made to a student process that has ended")
        start = time.monotonic()
        self._wake_all()
        answer = _Exchange(self, outgoing, allowed).run()
        if time.monotonic() - start > _SHORT:
            self._know_of_others(procfs.reaped_cpu(self.pid))
        return answer

    def usage(self) -> procfs.Usage:
        """Return the resources that the worker and all processes it has started use now."""
        self._looks, self._next_look = self._looks + 1, time.monotonic() + _TICK
        used = procfs.usage(self._zygote.pid, self.pid, self._zygote.baseline)
        self._know_of_others(used.cpu_seconds - procfs.process_cpu(self.pid))
        return used

    def _know_of_others(self, seconds: float) -> None:
        """Note the processor time of processes that the worker has started. A look may miss one that is just ending."""
        self._cpu_of_others = max(self._cpu_of_others, seconds)

    def close(self) -> Exit:
        """End the worker and every process that it has started; safe to call twice.

        The first call raises SandboxLost if the zygote has ended: only the zygote can end a worker.
        """
        if self._ended is None:
            try:
                self._ended = self._zygote.stop()
                self._on_end(self._ended)
            except SandboxLost:
                self._ended = Exit(signal.SIGKILL, 0.0, leftovers=0, clean=False)  # the zygote's handle has killed it
                raise
            finally:
                self._release()
        return self._ended

    def _release(self) -> None:
        """Read the last output, close all descriptors, and delete the scratch directory."""
        self._drain()
        self._selector.close()
        self._wire.close()
        for descriptor in (self._pidfd, *self._streams):
            os.close(descriptor)
        if self._disk is not None:
            self._disk.settle()
            self._disk.close()
        scratch.remove(Path(self._walls.scratch))

    def require_memory(self, used: procfs.Usage) -> None:
        """Raise StudentFailure if the worker uses more memory than it may."""
        if used.memory_bytes > self._limits.memory_mb * _MEGABYTE:
            raise failure_texts.out_of_memory(self._limits.memory_mb, used.memory_bytes)

    def require_disk(self, thoroughly: bool) -> None:
        """Raise StudentFailure if the worker holds too much of the disk. End it if only its end can show that."""
        if self._disk is None:
            return
        if self._disk.exceeded(thoroughly):
            raise failure_texts.out_of_disk(self._limits.file_mb)
        if self._disk.hidden:
            with in_turn():
                self._look_for_hidden_files(self._disk)

    def _look_for_hidden_files(self, disk: Disk) -> None:
        """End the worker to see how much it held, unless another worker's end has returned the missing space."""
        if not disk.exceeded(thoroughly=True) and not disk.hidden:
            return
        self.close()
        if not disk.hidden or disk.came_back:
            raise failure_texts.out_of_disk(self._limits.file_mb)
        place = Path(self._walls.scratch).parent.parent
        raise Disturbed(f"another program filled the disk of {place} meanwhile: grade again when it has ended")

    def _await_ready(self) -> None:
        """Wait until the walls stand. No code of the student's has run yet, so a failure is the grader's."""
        try:
            self._reply(READY, Allowed.of(self._limits.import_seconds))
            zygote, most = self._zygote, self._limits.file_mb * _MEGABYTE
            self._disk = Disk(Path(self._walls.scratch), most, zygote.pid, zygote.written)
        except SandboxLost:
            raise  # `close` raised it, so the worker has been closed
        except (GraderFault, StudentFailure, OSError) as failure:
            self.close()
            raise GraderFault(str(failure)) from failure

    def _drain(self) -> None:
        """Read the rest of the output pipes, when the worker and all processes that it started have ended."""
        for descriptor in self._streams:
            for _ in range(64):  # a pipe holds 1 MB at most, in parts of any size
                if not self._read_output(descriptor):
                    break

    def _read_output(self, descriptor: int) -> bool:
        """Read a chunk of output; return whether there was any. At the end of the stream, stop watching it."""
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._streams[descriptor].add(chunk)
        if not chunk:
            self._waiting_for.discard(descriptor)
            self._rest(descriptor)
        return bool(chunk)

    def _count_read(self, descriptor: int) -> None:
        """Do not watch a descriptor until the next tick if it has kept us busy in this one."""
        self._reads[descriptor] += 1
        if self._reads[descriptor] == _READS:
            self._rest(descriptor)

    def _rest(self, descriptor: int) -> None:
        self._reads[descriptor] += 1
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _wake_all(self) -> None:
        """Watch all descriptors again that `_rest` has put aside."""
        if not self._reads:
            return
        self._reads.clear()
        for descriptor in self._waiting_for.difference(self._selector.get_map()):
            self._selector.register(descriptor, selectors.EVENT_READ)

    def _death(self) -> StudentFailure:
        """Close a worker that has ended, and return its failure."""
        ended = self.close()
        killed = os.WIFSIGNALED(ended.status) and os.WTERMSIG(ended.status) in (signal.SIGKILL, signal.SIGXCPU)
        if killed and ended.cpu_seconds > _OF_BACKSTOP * self._walls.cpu_backstop:
            return failure_texts.out_of_time(self._walls.cpu_backstop, 0.0, ended.cpu_seconds, 0.0)
        return failure_texts.death(ended.status, killed_for_memory(self._oom_kills))


class _Exchange:
    """Sends one request and receives its reply, under the clocks and limits."""

    def __init__(self, worker: ForkedWorker, outgoing: Outgoing, allowed: Allowed) -> None:
        self._worker, self._outgoing, self._allowed = worker, outgoing, allowed
        self._unsent = memoryview(outgoing.frame)
        self._received = bytearray()
        self._expected = wire.PREFIX
        self._have_prefix = False
        self._wall_start = time.monotonic()
        self._cpu_start = worker.cpu_seconds()
        self._printing = False
        """True if the worker printed more in a tick than was read."""

    def run(self) -> bytes:
        """Return the body of the reply's frame."""
        worker = self._worker
        wire_fd = worker._wire.fileno()
        while True:
            if self._unsent:
                self._send(wire_fd)
            events = worker._selector.select(max(0.0, worker._next_look - time.monotonic()))
            ready = {key.fd for key, _ in events}
            for descriptor in ready & worker._streams.keys():
                worker._read_output(descriptor)
                worker._count_read(descriptor)
            if wire_fd in ready and self._receive():
                self._look_at_holdings()
                return bytes(self._received)
            if worker._pidfd in ready and wire_fd not in ready:
                if wire_fd in worker._selector.get_map():
                    raise worker._death()
                worker._rest(worker._pidfd)  # until the next tick, because its last output may be waiting
            if time.monotonic() >= worker._next_look:
                self._look()

    def _send(self, wire_fd: int) -> None:
        try:
            sent = self._worker._wire.send(self._unsent, socket.MSG_DONTWAIT)
        except BlockingIOError:
            sent = 0
        except (BrokenPipeError, ConnectionResetError):
            self._await_end()
        self._unsent = self._unsent[sent:]
        if wire_fd in self._worker._selector.get_map():
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
            self._worker._selector.modify(wire_fd, wanted)

    def _receive(self) -> bool:
        """Read what has arrived; return whether the frame is complete."""
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
            self._expected = self._outgoing.body_size(bytes(self._received))
            self._received.clear()
            self._have_prefix = True
            return self._receive()  # usually the rest has arrived, too
        complete = self._have_prefix and len(self._received) == self._expected
        if not complete and len(part) < _CRUMB:
            self._worker._count_read(self._worker._wire.fileno())
        return complete

    def _await_end(self) -> NoReturn:
        """Raise the failure of a worker that closed the wire: it is ending, or its code lives on without the wire."""
        worker = self._worker
        end = select.poll()
        end.register(worker._pidfd, select.POLLIN)
        ending = bool(end.poll(_ENDING * 1000))
        death = worker._death()
        raise death if ending else failure_texts.malformed("the wire was closed")

    def _look(self) -> None:
        """Raise StudentFailure if a time is over, or if the worker holds too much memory or disk."""
        worker = self._worker
        self._printing |= any(worker._reads[stream] >= _READS for stream in worker._streams)
        worker._wake_all()
        used = worker.usage()
        cpu, wall = used.cpu_seconds - self._cpu_start, time.monotonic() - self._wall_start
        allowed = self._allowed
        if allowed.exceeded(cpu, wall):
            limit = self._outgoing.limit(worker._limits.cpu_seconds, allowed)
            together = wall + allowed.wall_before
            raise failure_texts.out_of_time(limit, allowed.cpu_seconds, cpu, together, printing=self._printing)
        worker.require_memory(used)
        worker.require_disk(thoroughly=worker._looks % _THOROUGH == 0)

    def _look_at_holdings(self) -> None:
        """Raise StudentFailure if the worker holds too much memory or disk when its answer has come in time."""
        worker = self._worker
        if time.monotonic() >= worker._next_look:
            worker.require_memory(worker.usage())
        worker.require_disk(thoroughly=False)

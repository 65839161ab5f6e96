"""Starts the process of a grading engine, asks it, and ends it if need be. Runs in the launcher.

The engine gets an environment of constants. So no secret of the launcher's, such as a platform's token, is in the
memory that student processes are forked from.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, BinaryIO, cast

import msgspec

from softmark.engines.messages import Begin, Done, EngineReady, GradeRequest, Progress, Refused, receive, send
from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.grading.own_time import Note
from softmark.records.errors import UsageError
from softmark.records.limits import Level
from softmark.records.result import Result, grader_error
from softmark.sandbox.environment import environment
from softmark.sandbox.machine import Machine, temporary_directory

_PATIENCE = 10.0  # seconds that an engine may take to end when it is told to


class Lane:
    """One of an engine's judges. It grades one submission at a time."""

    def __init__(self, to_judge: BinaryIO, from_judge: BinaryIO, how_it_ended: Callable[[], EngineError]) -> None:
        self._to_judge, self._from_judge, self._how_it_ended = to_judge, from_judge, how_it_ended
        self.busy = False

    def grade(self, job: Job, on_progress: Callable[[Result], None] | None) -> Result:
        """Return the final result. `on_progress` is called with the result so far after each test."""
        so_far = None
        self.busy = True
        try:
            self.send(GradeRequest(job, on_progress is not None))
            while not isinstance(message := self.receive(), Done):
                if not isinstance(message, Progress) or on_progress is None:
                    raise EngineError(f"the grading engine answered with {type(message).__name__}")
                so_far = message.result
                on_progress(so_far)
        except EngineError as failure:
            result = grader_error(so_far, str(failure)) if so_far is not None else None
            raise EngineError(str(failure), result, failure.endless) from None
        self.busy = False
        return message.result

    def send(self, message: Begin | GradeRequest) -> None:
        """Send a message. Raise EngineError if the judge has ended."""
        try:
            send(self._to_judge, message)
        except ConnectionError:
            raise self._how_it_ended() from None

    def receive(self) -> EngineReady | Progress | Done:
        """Return the next message. Raise UsageError if the engine refuses because of what was asked."""
        try:
            message = receive(self._from_judge)
        except ConnectionError:  # it ended before it read what it was sent
            message = None
        if message is None:
            raise self._how_it_ended()
        if isinstance(message, Refused):
            raise UsageError(message.why) if message.usage else EngineError(message.why)
        if isinstance(message, Begin | GradeRequest):
            raise EngineError(f"the grading engine sent a {type(message).__name__}")
        return message

    def close(self) -> None:
        """Close the stream, at whose end the judge ends."""
        with contextlib.suppress(ConnectionError):  # the judge has ended, and lost what it was sent
            self._to_judge.close()
        self._from_judge.close()


class EngineProcess:
    """The process of an engine, and its lanes.

    It ends with the thread that started it, and so with the launcher, however that ends. It has a process group of its
    own: the launcher decides what Ctrl-C means.
    """

    def __init__(self, lanes: int) -> None:
        self._note = Note.of(lanes)
        try:
            pairs = [socket.socketpair() for _ in range(lanes - 1)]
            theirs = [their.fileno() for _, their in pairs]
            note, noted = ("-", []) if self._note is None else (str(self._note.descriptor), [self._note.descriptor])
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", "softmark.engines", note, *map(str, theirs)],
                env=environment(temporary_directory()), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                pass_fds=noted + theirs, process_group=0 if os.name == "posix" else None,
            )  # fmt: skip
        except OSError as error:
            raise EngineError(f"no grading engine can be started ({error.strerror}); try fewer --jobs") from error
        first = Lane(_pipe(self._process.stdin), _pipe(self._process.stdout), lambda: self._how_it_ended(0))
        self.lanes = (first, *(self._lane(number, pair) for number, pair in enumerate(pairs, start=1)))

    @property
    def pid(self) -> int:
        """The engine's process. Zygotes, judges and every student process are below it."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Return True if the engine's process has ended, and so have all its judges."""
        return self._process.poll() is not None

    def begin(self, spec: GradingSpec, lanes: int) -> Result:
        """Wait until it can grade; return the Result before the first test.

        Raise UsageError if it refuses because of what was asked. So many lanes share the memory, not only its own.
        """
        first = self.lanes[0]
        first.send(Begin(spec, lanes))
        message = first.receive()
        if not isinstance(message, EngineReady):
            raise EngineError(f"the grading engine began with {type(message).__name__}")
        return message.pending

    def interrupt(self) -> None:
        """End it without waiting for what it is doing. It cleans up before it ends, which may take some seconds."""
        if os.name == "posix":
            self._process.send_signal(signal.SIGTERM)
            hanging = threading.Timer(_PATIENCE, self._process.kill)  # a call of C does not hear the signal
            hanging.daemon = True
            hanging.start()

    def close(self) -> None:
        """Wait until it has ended. If it is still grading, interrupt it first, because that may take minutes."""
        if any(lane.busy for lane in self.lanes):
            self.interrupt()
        for lane in self.lanes:
            lane.close()
        try:
            self._process.wait(2 * _PATIENCE)
        except subprocess.TimeoutExpired:  # its zygotes clear up when it is gone
            self._process.kill()
            self._process.wait()
        if self._note is not None:
            self._note.close()

    def _lane(self, number: int, pair: tuple[socket.socket, socket.socket]) -> Lane:
        ours, theirs = pair
        theirs.close()
        with ours:
            return Lane(ours.makefile("wb"), ours.makefile("rb"), lambda: self._how_it_ended(number))

    def _how_it_ended(self, lane: int) -> EngineError:
        """Return why a lane's stream has ended, as an error."""
        overdue = self._note.overdue(lane) if self._note is not None else None
        status = self._process.wait() if lane == 0 else None  # judges of other lanes end with it: `has_ended` says so
        if overdue is not None:
            what, seconds = overdue
            return EngineError(
                f"{what} did not return within {seconds:g} s and was ended; correct it, or set test_seconds under "
                "[limits] in homework.toml if it needs more",
                endless=what,
            )
        if lane > 0:
            return EngineError("a judge of the grading engine ended unexpectedly")
        return EngineError(f"the grading engine ended unexpectedly (exit status {status})")


def _pipe(pipe: IO[bytes] | None) -> BinaryIO:
    if pipe is None:
        raise EngineError("the grading engine was started without its pipes")
    return cast(BinaryIO, pipe)


class Examined(msgspec.Struct, frozen=True):
    """The findings about this machine, and the isolation level that was asked for."""

    machine: Machine
    asked: str

    @property
    def enough(self) -> bool:
        """Return True if the machine reaches the level that was asked for."""
        return Level(self.asked) <= Level(self.machine.level)


def examine_machine(asked: str) -> Examined:
    """Have the machine examined as a grading engine would find it: in a process with an environment of constants."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "softmark.sandbox.doctor"],
        env=environment(temporary_directory()),
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise EngineError(f"the examination of this machine ended with exit status {done.returncode}")
    return Examined(msgspec.json.decode(done.stdout, type=Machine), asked)

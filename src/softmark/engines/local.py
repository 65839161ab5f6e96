"""The launcher's handle on a grading engine: a process that is started, asked, and if need be ended.

The engine gets an environment of constants, so that no secret of the launcher's (a platform's token, say) is anywhere
in the memory that student processes are forked from.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from tempfile import gettempdir
from typing import IO, BinaryIO, cast

import msgspec

from softmark.engines.messages import Done, Progress, Ready, Refused, Setup, receive, send
from softmark.grading.job import Job
from softmark.grading.own_time import Note
from softmark.records.errors import UsageError
from softmark.records.limits import Level
from softmark.records.result import Result
from softmark.sandbox.machine_info import Machine
from softmark.sandbox.walls import environment

_PATIENCE = 10.0  # seconds that an engine may take to end when it is told to


class EngineFailed(Exception):
    """The grading engine ended or broke: the grader's fault, no submission's.

    `endless` is what it was doing if it was ended because that did not return (own_time.py).
    """

    def __init__(self, why: str, endless: str = "") -> None:
        super().__init__(why)
        self.endless = endless


class Lane:
    """One of an engine's judges: it grades one submission at a time."""

    def __init__(self, to_judge: BinaryIO, from_judge: BinaryIO, how_it_ended: Callable[[], EngineFailed]) -> None:
        self._to_judge, self._from_judge, self._how_it_ended = to_judge, from_judge, how_it_ended
        self.busy = False

    def grade(self, job: Job) -> Iterator[Result]:
        """The result so far, again and again; the last one is the final result."""
        self.busy = True
        self.send(job)
        while self.busy:
            message = self.receive()
            if not isinstance(message, Progress | Done):
                raise EngineFailed(f"the grading engine answered with {type(message).__name__}")
            self.busy = isinstance(message, Progress)
            yield message.result

    def send(self, message: Setup | Job) -> None:
        try:
            send(self._to_judge, message)
        except ConnectionError:
            raise self._how_it_ended() from None

    def receive(self) -> Ready | Progress | Done:
        """The next message; UsageError if the engine refuses because of what was asked."""
        try:
            message = receive(self._from_judge)
        except ConnectionError:  # it ended before it read what it was sent
            message = None
        if message is None:
            raise self._how_it_ended()
        if isinstance(message, Refused):
            raise UsageError(message.why) if message.usage else EngineFailed(message.why)
        if isinstance(message, Setup | Job):
            raise EngineFailed(f"the grading engine sent a {type(message).__name__}")
        return message

    def close(self) -> None:
        with contextlib.suppress(ConnectionError):  # it is gone already, and what it was sent with it
            self._to_judge.close()
        self._from_judge.close()


class Grader:
    """One engine and its lanes; a context manager, so that it never outlives its use.

    It ends with the thread that started it, and so with the launcher, however that ends. It has a process group of its
    own: what Ctrl-C means is the launcher's to say.
    """

    def __init__(self, setup: Setup, lanes: int = 1) -> None:
        self._note = Note.of(lanes)
        try:
            pairs = [socket.socketpair() for _ in range(lanes - 1)]
            theirs = [their.fileno() for _, their in pairs]
            note, noted = ("-", []) if self._note is None else (str(self._note.descriptor), [self._note.descriptor])
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", "softmark.engines", note, *map(str, theirs)],
                env=environment(_temporary()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=noted + theirs,
                process_group=0 if os.name == "posix" else None,
            )  # fmt: skip
        except OSError as error:
            raise EngineFailed(f"no grading engine can be started ({error.strerror}); try fewer --jobs") from error
        first = Lane(_pipe(self._process.stdin), _pipe(self._process.stdout), lambda: self._how_it_ended(0))
        self.lanes = (first, *(self._lane(number, pair) for number, pair in enumerate(pairs, start=1)))
        self._setup = msgspec.structs.replace(setup, lanes=max(lanes, setup.lanes))

    @property
    def pid(self) -> int:
        """The engine's process; zygotes, judges and every student process are below it."""
        return self._process.pid

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        if any(lane.busy for lane in self.lanes):
            self.interrupt()  # nobody waits for what it is doing, which may take minutes
        for lane in self.lanes:
            lane.close()
        try:
            self._process.wait(2 * _PATIENCE)
        except subprocess.TimeoutExpired:  # its zygotes clear up when it is gone
            self._process.kill()
            self._process.wait()
        if self._note is not None:
            self._note.close()

    def interrupt(self) -> None:
        """End it without waiting for what it is doing; it cleans up before it goes, for which it has some seconds."""
        if os.name == "posix":
            self._process.send_signal(signal.SIGTERM)
            hanging = threading.Timer(_PATIENCE, self._process.kill)  # in C, where nothing hears a signal
            hanging.daemon = True
            hanging.start()

    def ready(self) -> Result:
        """Wait until it can grade; the result of second zero. UsageError if it refuses because of what was asked."""
        first = self.lanes[0]
        first.send(self._setup)
        message = first.receive()
        if not isinstance(message, Ready):
            raise EngineFailed(f"the grading engine began with {type(message).__name__}")
        return message.pending

    def grade(self, job: Job) -> Iterator[Result]:
        """On the first lane: for whoever needs but one."""
        return self.lanes[0].grade(job)

    def _lane(self, number: int, pair: tuple[socket.socket, socket.socket]) -> Lane:
        ours, theirs = pair
        theirs.close()
        with ours:
            return Lane(ours.makefile("wb"), ours.makefile("rb"), lambda: self._how_it_ended(number))

    def _how_it_ended(self, lane: int) -> EngineFailed:
        """Why a lane's stream has ended, in words."""
        overdue = self._note.overdue(lane) if self._note is not None else None
        if overdue is not None:
            what, seconds = overdue
            return EngineFailed(
                f"{what} did not return within {seconds:g} s and was ended; correct it, or set test_seconds under "
                "[limits] in homework.toml if it needs more",
                what,
            )
        if lane > 0:
            return EngineFailed("a judge of the grading engine ended unexpectedly")
        return EngineFailed(f"the grading engine ended unexpectedly (exit status {self._process.wait()})")


def _pipe(pipe: IO[bytes] | None) -> BinaryIO:
    if pipe is None:
        raise EngineFailed("the grading engine was started without its pipes")
    return cast(BinaryIO, pipe)


def _temporary() -> str:
    try:
        return gettempdir()
    except FileNotFoundError:
        raise UsageError(
            "no directory for temporary files can be written to; name one with TMPDIR, or give a container --tmpfs=/tmp"
        ) from None


class Examined(msgspec.Struct, frozen=True):
    """What was found out about this machine, and whether it is enough for what was asked."""

    machine: Machine
    asked: str

    @property
    def enough(self) -> bool:
        return Level(self.asked) <= Level(self.machine.level)


def examine_machine(asked: str) -> Examined:
    """Have the machine examined the way a grading engine would find it: from a process with constants around it."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "softmark.sandbox.machine"],
        env=environment(_temporary()),
        stdout=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        raise EngineFailed(f"the examination of this machine ended with exit status {done.returncode}")
    return Examined(msgspec.json.decode(done.stdout, type=Machine), asked)

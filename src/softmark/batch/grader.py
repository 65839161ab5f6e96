"""The launcher's handle on a grading engine: a process that is started, asked, and if need be ended.

The engine gets an environment of constants, so that no secret of the launcher's (a platform's token, say) is anywhere
in the memory that student processes are forked from.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from tempfile import gettempdir
from typing import BinaryIO

import msgspec

from softmark.grading.errors import UsageError
from softmark.grading.messages import Done, Job, Progress, Ready, Refused, Setup, receive, send
from softmark.grading.result import Result
from softmark.sandbox.facts import Machine
from softmark.sandbox.levels import Level
from softmark.sandbox.walls import environment


class EngineFailed(Exception):
    """The grading engine ended or broke: the grader's fault, no submission's."""


class Grader:
    """One engine; a context manager, so that it never outlives its use."""

    def __init__(self, setup: Setup) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "softmark.grading"],
            env=environment(_temporary()), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._setup = setup
        self._busy = False

    @property
    def pid(self) -> int:
        """The engine's process; the zygote and every student process are below it."""
        return self._process.pid

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._busy and os.name == "posix":
            self._process.send_signal(signal.SIGINT)  # nobody waits for what it is doing, which may take minutes
        with contextlib.suppress(BrokenPipeError):  # it is gone already, and what it was sent with it
            self._to_engine.close()
        self._from_engine.close()
        self._process.wait()

    def ready(self) -> Result:
        """Wait until it can grade; the result of second zero. UsageError if it refuses because of what was asked."""
        self._send(self._setup)
        message = self._receive()
        if isinstance(message, Refused):
            raise UsageError(message.why) if message.usage else EngineFailed(message.why)
        if not isinstance(message, Ready):
            raise EngineFailed(f"the grading engine began with {type(message).__name__}")
        return message.pending

    def grade(self, job: Job) -> Iterator[Result]:
        """The result so far, again and again; the last one is the final result."""
        self._busy = True
        self._send(job)
        while self._busy:
            message = self._receive()
            if isinstance(message, Refused):
                raise EngineFailed(message.why)
            if not isinstance(message, Progress | Done):
                raise EngineFailed(f"the grading engine answered with {type(message).__name__}")
            self._busy = isinstance(message, Progress)
            yield message.result

    def _send(self, message: Setup | Job) -> None:
        try:
            send(self._to_engine, message)
        except BrokenPipeError:
            raise EngineFailed(self._end()) from None

    def _receive(self) -> object:
        message = receive(self._from_engine)
        if message is None:
            raise EngineFailed(self._end())
        return message

    def _end(self) -> str:
        return f"the grading engine ended unexpectedly (exit status {self._process.wait()})"

    @property
    def _to_engine(self) -> BinaryIO:
        return self._pipe(self._process.stdin)

    @property
    def _from_engine(self) -> BinaryIO:
        return self._pipe(self._process.stdout)

    @staticmethod
    def _pipe(pipe: object) -> BinaryIO:
        if pipe is None:
            raise EngineFailed("the grading engine was started without its pipes")
        return pipe  # type: ignore[return-value]


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

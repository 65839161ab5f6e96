"""What the launcher and its grading engines say to each other: typed, over a pipe, length-prefixed msgpack.

Both ends are trusted. The engine is a process of its own so that it starts with an environment of constants, can be
ended and replaced, and so that the launcher stays light.

    launcher -> engine   Setup once, then any number of Jobs, then end of file
    engine -> launcher   Ready once (or Refused, and the end); for each Job, Progress after each test, then Done
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import msgspec

from softmark.engines.device import CPU
from softmark.grading.job import Job
from softmark.records.result import Result

_LENGTH = 8


class Setup(msgspec.Struct, frozen=True, tag=True):
    """What to grade with."""

    root: str
    homework: str
    isolation: str
    budget_seconds: float | None = None
    """Wall time that one submission may take altogether."""
    device: str = CPU
    """Where submissions run: cpu, cuda:0, or (for tests of the way there) pretended."""
    lanes: int = 1
    """How many share the memory and the device."""
    progress: bool = True
    """Whether to send a result after each test, for a reader that keeps a file up to date."""
    backwards: bool = False
    """Whether to run the tests of each part in reverse: a proof looks for tests that depend on each other."""

    @property
    def path(self) -> Path:
        return Path(self.root)


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The tests are collected and the walls stand; `pending` is the result of second zero."""

    pending: Result


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Grading cannot start. `usage`: because of what was asked for or configured, not of a fault."""

    why: str
    usage: bool


class Progress(msgspec.Struct, frozen=True, tag=True):
    """One more test of the present submission is finished."""

    result: Result


class Done(msgspec.Struct, frozen=True, tag=True):
    """The present submission is finished."""

    result: Result


FromLauncher = Setup | Job
FromEngine = Ready | Refused | Progress | Done


def send(stream: BinaryIO, message: FromLauncher | FromEngine) -> None:
    body = msgspec.msgpack.encode(message)
    stream.write(len(body).to_bytes(_LENGTH, "big") + body)
    stream.flush()


def receive(stream: BinaryIO) -> FromLauncher | FromEngine | None:
    """The next message; None at the end of the stream, be it in the middle of a message."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length, "big")
    body = stream.read(size)
    if len(body) < size:
        return None
    message: FromLauncher | FromEngine = _decoder.decode(body)
    return message


_decoder = msgspec.msgpack.Decoder(Setup | Job | Ready | Refused | Progress | Done)

"""The messages between the launcher and its grading engines: typed, over a pipe, length-prefixed msgpack.

Both ends are trusted. The engine is a process of its own so that it starts with an environment of constants, can be
ended and replaced, and so that the launcher stays light.

    launcher -> engine   Begin once, then any number of GradeRequests, then end of file
    engine -> launcher   EngineReady once (or Refused, and the end); per GradeRequest: Progress if asked for, then Done
"""

from __future__ import annotations

from typing import BinaryIO

import msgspec

from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.records.result import Result

_LENGTH = 8


class Begin(msgspec.Struct, frozen=True, tag=True):
    """Grade with this spec. The memory and the device are shared by so many lanes."""

    spec: GradingSpec
    lanes: int = 1


class GradeRequest(msgspec.Struct, frozen=True, tag=True):
    """Grade this submission. With `progress`, a result is sent after each test."""

    job: Job
    progress: bool = False


class EngineReady(msgspec.Struct, frozen=True, tag=True):
    """The tests are collected and the walls stand. `pending` is the Result before the first test."""

    pending: Result


class Refused(msgspec.Struct, frozen=True, tag=True):
    """Grading cannot start. `usage` says that what was asked for or configured is the reason, and not a fault."""

    why: str
    usage: bool


class Progress(msgspec.Struct, frozen=True, tag=True):
    """One more test of the present submission is finished."""

    result: Result


class Done(msgspec.Struct, frozen=True, tag=True):
    """The present submission is finished."""

    result: Result


FromLauncher = Begin | GradeRequest
FromEngine = EngineReady | Refused | Progress | Done


def send(stream: BinaryIO, message: FromLauncher | FromEngine) -> None:
    """Write a message. Raise ConnectionError if nobody reads it."""
    body = msgspec.msgpack.encode(message)
    stream.write(len(body).to_bytes(_LENGTH, "big") + body)
    stream.flush()


def receive(stream: BinaryIO) -> FromLauncher | FromEngine | None:
    """Return the next message; None at the end of the stream, also in the middle of a message."""
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length, "big")
    body = stream.read(size)
    if len(body) < size:
        return None
    message: FromLauncher | FromEngine = _decoder.decode(body)
    return message


_decoder = msgspec.msgpack.Decoder(Begin | GradeRequest | EngineReady | Refused | Progress | Done)

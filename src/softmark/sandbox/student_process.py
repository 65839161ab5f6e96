"""Defines a student's process as the trusted side sees it: one request goes out, one checked reply comes back.

The size of an answer is bounded before it is received: it may have sixteen times the bytes of the right answer or of
the request, whichever is more, and a few megabytes besides (`answer_mb` of a homework). The first bytes of a frame tell
its size. If it is too large, the rest is not read, and the process that sent it is ended. So a student's code cannot
fill the memory of the trusted side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import overload

from softmark.records.limits import Allowed
from softmark.sandbox import failure_texts, wire
from softmark.sandbox.ended import Exit
from softmark.sandbox.failures import StudentFailure, UnsendableRequest
from softmark.sandbox.wire import protocol
from softmark.sandbox.wire.editing import EditPut, Propose, Proposed, PutEdit
from softmark.sandbox.wire.protocol import (
    Answered,
    Ask,
    Call,
    CallResult,
    DoneReply,
    FailedReply,
    Load,
    Loaded,
    Request,
    SelfTest,
    SelfTestResult,
)

_TIMES = 16
"""An answer may have this many times the bytes of the right one, or of the request where the right one is not known."""
OF_A_TENSOR = 1000
"""An answer may have one tensor or array for each 1000 bytes: even one without numbers takes time and memory."""
_FACTS = 4_000_000


def packed(request: Request) -> bytes:
    """Return the frame of a request. Raise UnsendableRequest if it holds a value that cannot be sent."""
    try:
        return wire.pack(protocol.request_value(request))
    except wire.Unsupported as refusal:
        raise UnsendableRequest(f"the hidden test passes a value that cannot be sent: {refusal}") from refusal


@dataclass(frozen=True)
class Outgoing:
    """A request, the frame that it is sent as, and how many bytes its reply may have."""

    request: Request | None
    frame: bytes
    most_bytes: int = _FACTS

    @classmethod
    def of(
        cls,
        request: Request,
        expected_bytes: int | None = None,
        spare_bytes: int = 0,
        answer: Answered | None = None,
        frame: bytes = b"",
    ) -> Outgoing:
        """Return a packed request. `expected_bytes` is the size of the right answer, 0 if that is not known.

        None stands for a request that no test makes, such as to load the submission: its reply is a list of facts. If
        the request has led to a question, `answer` is sent instead of the request, and its reply belongs to the
        request. `frame` is the packed request, if the caller has it.
        """
        frame = frame or packed(request)
        sent = frame if answer is None else packed(answer)
        if expected_bytes is None:
            return cls(request, sent)
        most = _TIMES * max(expected_bytes, len(frame)) + spare_bytes
        return cls(request, sent, min(most, wire.CAPS.frame_bytes))

    def body_size(self, prefix: bytes) -> int:
        """Return the size that the first bytes of a reply announce; raise StudentFailure if it is far too large."""
        size = wire.body_size(prefix)
        if size > self.most_bytes:
            raise failure_texts.too_large(f"{size / 1e6:.0f} MB", f"{self.most_bytes / 1e6:.0f} MB")
        return size

    def read(self, body: bytes) -> DoneReply:
        """Return the content of a reply. Raise StudentFailure if it reports a failure, WireError if it is no reply."""
        try:
            said = wire.unpack(body, replace(wire.CAPS, arrays=self.most_bytes // OF_A_TENSOR))
        except wire.TooMany as many:
            raise failure_texts.too_large(f"{many.count} tensors", f"{self.most_bytes // OF_A_TENSOR}") from None
        reply = protocol.read_reply(said, self.request)
        if isinstance(reply, FailedReply):
            raise failure_texts.failed_reply(reply, self.request)
        return reply

    def limit(self, of_a_test: float, allowed: Allowed) -> float:
        """Return the limit that a time-out names: for a call that of the whole test, even if less of it was left."""
        return of_a_test if isinstance(self.request, Call) else allowed.cpu_seconds


def name_of_call(request: Request | None) -> str:
    """Return the name of the function or method that a request calls; empty for any other request."""
    called = (request.method or request.target) if isinstance(request, Call) else ""
    return called if isinstance(called, str) else ""


READY = Outgoing(None, b"")
"""The first message of a worker: ready, or which wall failed. No request precedes it."""


class Capture:
    """The first and the last `keep` bytes of a stream that may never end."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        room = self._keep - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        surplus = len(self._tail) - self._keep
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus

    def text(self) -> str:
        """Return the bytes that were kept, as text. Bytes that are not UTF-8 become replacement characters."""
        omitted = f"\n… {self._dropped} bytes omitted …\n" if self._dropped else ""
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        return head + omitted + tail


class StudentProcess(ABC):
    """A process that runs a student's code, with or without walls. On a student's own machine it may be this one."""

    answer: Callable[[Ask], Answered] | None = None
    """A function that answers the questions of a call, if the student's code runs in this same process; else None."""

    @abstractmethod
    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        """Send a request and return the body of the reply's frame; raise StudentFailure or WireError without one."""

    @property
    @abstractmethod
    def alive(self) -> bool: ...

    @abstractmethod
    def cpu_seconds(self) -> float:
        """Return the processor time that the process has used so far."""

    def cpu_seconds_of_all(self) -> float:
        """Return the processor time that the process has used so far, with all processes that it has started."""
        return self.cpu_seconds()

    @abstractmethod
    def printed(self) -> tuple[str, str]:
        """Return the beginning and the end of the output so far, to stdout and to stderr."""

    def running(self) -> str:
        """Return the name of the function that was called last; empty if there is none, or if it is not known."""
        return ""

    def take_printed(self) -> str:
        """Return the output since the last time this was asked, to both streams; empty if it is not caught by tests."""
        return ""

    @abstractmethod
    def close(self) -> Exit | None:
        """End the process; safe to call twice."""

    @overload
    def ask(
        self,
        request: Call,
        allowed: Allowed,
        expected_bytes: int | None = ...,
        spare_bytes: int = ...,
        answer: Answered | None = ...,
        frame: bytes = ...,
    ) -> CallResult | Ask: ...
    @overload
    def ask(
        self, request: Load, allowed: Allowed, expected_bytes: int | None = ..., spare_bytes: int = ...
    ) -> Loaded: ...
    @overload
    def ask(
        self, request: SelfTest, allowed: Allowed, expected_bytes: int | None = ..., spare_bytes: int = ...
    ) -> SelfTestResult: ...
    @overload
    def ask(self, request: Propose, allowed: Allowed) -> Proposed: ...
    @overload
    def ask(self, request: PutEdit, allowed: Allowed) -> EditPut: ...
    def ask(
        self,
        request: Request,
        allowed: Allowed,
        expected_bytes: int | None = None,
        spare_bytes: int = 0,
        answer: Answered | None = None,
        frame: bytes = b"",
    ) -> DoneReply:
        """Return the reply to a request; raise StudentFailure if the student's code gives no answer.

        The reply to a call may be a question (Ask). To continue the call, pass the same request again, with the answer.
        The process is ended if it does not reply in time, or if its reply breaks the rules. `frame` is the packed
        request, if the caller has it.
        """
        return self._reply(Outgoing.of(request, expected_bytes, spare_bytes, answer, frame), allowed)

    def _reply(self, outgoing: Outgoing, allowed: Allowed) -> DoneReply:
        try:
            try:
                body = self.exchange(outgoing, allowed)
            except StudentFailure:
                self.close()
                raise
            return outgoing.read(body)
        except wire.WireError as error:
            self.close()
            raise failure_texts.malformed(str(error)) from None

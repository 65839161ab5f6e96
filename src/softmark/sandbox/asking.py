"""One request and its reply. Trusted side.

A request is packed once, as a Question; a process is asked it and gives back the body of a frame, which may hold
anything; what that says is read against the question.

An answer is bounded before it is received: sixteen times the bytes of the right answer or of the question, whichever
is more, and a few megabytes besides (`answer_mb` of a homework). The first bytes of a frame tell its size; of a larger
one nothing more is read, and the process that sent it is ended. So the trusted side's memory does not depend on what a
student's code returns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from softmark.records.limits import Allowed
from softmark.sandbox import explain, wire
from softmark.sandbox.failures import StudentFailure, UnsendableRequest
from softmark.sandbox.replies import checked_reply
from softmark.sandbox.zygote import Ended

_TIMES = 16
"""An answer may have so many times the bytes of the right one, or of the question where the right one is not known."""
OF_A_TENSOR = 1000
"""Bytes for which an answer may have one tensor or array more: each takes time and memory, be it without numbers."""
_FACTS = 4_000_000


@dataclass(frozen=True)
class Question:
    """A request, the frame it is sent as, and how many bytes its answer may have."""

    message: dict[str, Any]
    frame: bytes
    most_bytes: int = _FACTS

    @classmethod
    def of(cls, message: dict[str, Any]) -> Question:
        """A request that no test makes, such as to load the submission: its answer is a list of short facts."""
        try:
            return cls(message, wire.pack(message))
        except wire.Unsupported as refusal:
            raise UnsendableRequest(f"the hidden test passes a value that cannot be sent: {refusal}") from refusal

    @classmethod
    def expecting(cls, message: dict[str, Any], expected_bytes: int, spare_bytes: int) -> Question:
        """A request of a test; the right answer has so many bytes, 0 if that is not known."""
        question = cls.of(message)
        most = _TIMES * max(expected_bytes, len(question.frame)) + spare_bytes
        return replace(question, most_bytes=min(most, wire.CAPS.frame_bytes))

    def body_size(self, prefix: bytes) -> int:
        """The size of an answer, told by its first bytes; StudentFailure if it is far more than expected."""
        size = wire.body_size(prefix)
        if size > self.most_bytes:
            raise explain.too_large(f"{size / 1e6:.0f} MB", f"{self.most_bytes / 1e6:.0f} MB")
        return size

    def read(self, body: bytes) -> dict[Any, Any]:
        """The "done" part of a reply; StudentFailure if it tells of one, WireError if it is no reply to this."""
        try:
            said = wire.unpack(body, replace(wire.CAPS, arrays=self.most_bytes // OF_A_TENSOR))
        except wire.TooMany as many:
            raise explain.too_large(f"{many.count} tensors", f"{self.most_bytes // OF_A_TENSOR}") from None
        reply = checked_reply(said, self.message)
        if "failed" in reply:
            raise explain.failed_reply(reply, explain.asked_for(self.message))
        done: dict[Any, Any] = reply["done"]
        return done


READINESS = Question({"id": 0}, b"")
"""What nobody asks, and every worker answers first."""


class StudentProcess(ABC):
    """Where a student's code runs: a walled process, a bare one, or (on the student's own machine) this one."""

    _asked = 0

    @abstractmethod
    def exchange(self, question: Question, allowed: Allowed) -> bytes:
        """Send the question, await the body of the reply's frame; StudentFailure or WireError if none comes in time."""

    @property
    @abstractmethod
    def alive(self) -> bool: ...

    @abstractmethod
    def cpu_seconds(self) -> float:
        """Processor time the process has used so far."""

    @abstractmethod
    def printed(self) -> tuple[str, str]:
        """What was printed to stdout and stderr so far, beginning and end."""

    @abstractmethod
    def close(self) -> Ended | None:
        """End it; safe to call twice."""

    def ask(self, question: Question, allowed: Allowed) -> bytes:
        """The body of the reply's frame, unread; a process that gives none is ended."""
        try:
            return self.exchange(question, allowed)
        except wire.WireError as error:
            self.close()
            raise explain.malformed(str(error)) from None
        except StudentFailure:
            self.close()
            raise

    def read(self, question: Question, body: bytes) -> dict[Any, Any]:
        """What a reply says; one that breaks the rules ends the process."""
        try:
            return question.read(body)
        except wire.WireError as error:
            self.close()
            raise explain.malformed(str(error)) from None

    def request(self, message: dict[str, Any], cpu_seconds: float, wall_seconds: float = math.inf) -> dict[Any, Any]:
        """Ask for something outside of any test, and read the reply."""
        self._asked += 1
        question = Question.of({"id": self._asked, **message})
        return self.read(question, self.ask(question, Allowed.of(cpu_seconds, wall_seconds)))

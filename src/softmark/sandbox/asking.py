"""One request and its reply. Trusted side.

A request is packed once, as a Question; a process is asked it and gives back the body of a frame, which may hold
anything; what that says is read against the question. The two steps are apart because the same question with the same
bytes for an answer need not be read twice (grading/precedents.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from softmark.sandbox import explain, wire
from softmark.sandbox.failures import StudentFailure, UnsendableRequest
from softmark.sandbox.replies import checked_reply
from softmark.sandbox.zygote import Ended


@dataclass(frozen=True)
class Question:
    """A request, and the frame it is sent as."""

    message: dict[str, Any]
    frame: bytes

    @classmethod
    def of(cls, message: dict[str, Any]) -> Question:
        try:
            return cls(message, wire.pack(message))
        except wire.Unsupported as refusal:
            raise UnsendableRequest(f"the hidden test passes a value that cannot be sent: {refusal}") from refusal

    def read(self, body: bytes) -> dict[Any, Any]:
        """The "done" part of a reply; StudentFailure if it tells of one, WireError if it is no reply to this."""
        reply = checked_reply(wire.unpack(body), self.message)
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
    def exchange(self, question: Question, cpu_seconds: float, wall_seconds: float) -> bytes:
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

    def ask(self, question: Question, cpu_seconds: float, wall_seconds: float = math.inf) -> bytes:
        """The body of the reply's frame, unread; a process that gives none is ended."""
        try:
            return self.exchange(question, cpu_seconds, wall_seconds)
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
        return self.read(question, self.ask(question, cpu_seconds, wall_seconds))

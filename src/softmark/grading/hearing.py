"""The questions and answers of one test: what it has asked so far, and what it is known to be going to ask.

How a function did in the tests of its own part is a question, too, which the session answers (STANDING): the verdict
rests on it as on any answer.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from softmark.sandbox.asking import Question

STANDING = "standing"


@dataclass
class Hearing:
    """One run of one test against one submission. Asked the same, two submissions are asked the same bytes."""

    part: str = ""
    seed: int = 0
    fresh: bool = True
    """Whether the next question is the first that a process hears in this test: it puts its state back then."""
    pure: bool = True
    """Whether every question went to a process that had run nothing but the test's part, and of a test that is shown
    nothing but shown ones."""
    shown: bool = False
    """Whether students see all of the test."""
    quoted: bool = False
    """Whether the test has looked into what was handed in, to quote from it."""
    unanswered: bool = False
    """Whether a question has had no answer."""
    asked: list[tuple[Question, bytes]] = field(default_factory=list)
    """The questions, each with a digest of its answer: the answers may be as large as the wire allows."""
    answered_bytes: int = 0
    """What all these answers had."""
    ahead: deque[tuple[Question, bytes | Exception]] = field(default_factory=deque)
    """What has been asked before the test asks it, with the answers, or what happened instead."""
    strayed: bool = False
    consulted: set[str] = field(default_factory=set)
    """The functions whose standing the verdict rests on."""

    def consult(self, name: str, standing: bytes) -> None:
        """Note that the verdict rests on how a function did in the tests of its own part."""
        if name not in self.consulted:
            self.consulted.add(name)
            self.asked.append((Question({"op": STANDING, "name": name}, name.encode()), standing))

    @property
    def astray(self) -> bool:
        """Whether the test, which has ended, was to ask something that it did not ask."""
        return self.strayed or bool(self.ahead)

    def question(self, request: dict[str, Any], expected_bytes: int, spare_bytes: int) -> Question:
        """What the test asks now; the right answer has so many bytes, 0 if that is not known."""
        number = self.seed + len(self.asked)
        message = {"op": "call", "id": number, "seed": self.seed if self.fresh else None, **request}
        return Question.expecting(message, expected_bytes, spare_bytes)

    def strays(self, question: Question) -> bool:
        """Whether something else was asked ahead; all of that is of no use then."""
        if not self.ahead or self.ahead[0][0].frame == question.frame:
            return False
        self.ahead.clear()
        self.strayed = True
        return True

    def hear(self, question: Question, answer: bytes | Exception) -> bytes:
        """Note the answer to a question of the test; what happened instead is raised."""
        self.fresh = False
        if not isinstance(answer, bytes):
            self.unanswered = True
            raise answer
        self.asked.append((question, digest(answer)))
        self.answered_bytes += len(answer)
        return answer


def digest(answer: bytes) -> bytes:
    """What stands for an answer where only its sameness matters."""
    return hashlib.sha256(answer).digest()


def seed_of(test_id: str) -> int:
    """The seed of everything random in a test: the same test draws the same numbers, today and in a year."""
    return int.from_bytes(hashlib.sha256(test_id.encode()).digest()[:6], "big")

"""Questions about a student's earlier functions, asked in a worker that has run nothing of the later part.

A worker that has run a later part could know what its earlier functions had better answer, and one that has answered
for the earlier functions could know what the later part had better return. So when a test needs such an answer, it
stops (`Waiting`). A fresh worker answers and ends, and the test is run again from its beginning, with the answer known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from softmark.verdict.context import TestContext, activate, at_once

_MOST = 20
"""Questions of one test. Only code that answers otherwise every time makes a test ask for more."""


_Position = tuple[int, int]
"""The place where a test asks: after so many questions and so many checks. Other answers lead to other places."""


class Waiting(BaseException):
    """The test cannot go on before a question has been asked apart; no `except Exception` of a test holds it."""


@dataclass
class Apart:
    """The questions of one test, each with its answer or what was raised instead."""

    waiting: Callable[[], Any] | None = None
    """The question to ask before the test can be run again."""
    _case: TestContext | None = None
    _asked: int = 0
    """The number of questions that the present run of the test has asked."""
    _answers: dict[_Position, tuple[Any, Exception | None]] = field(default_factory=dict)
    _key: _Position = (0, 0)

    def begin(self, case: TestContext) -> None:
        """Note that the test is run from its beginning."""
        self._case, self._asked = case, 0

    def ask(self, question: Callable[[], Any], otherwise: Any) -> Any:
        """Return the answer, or `otherwise` after too many questions. Raise Waiting if the answer is not known yet."""
        if self._case is None or len(self._answers) >= _MOST:
            return otherwise
        key = self._asked, len(self._case.checks)
        self._asked += 1
        if key not in self._answers:
            self.waiting, self._key = self.waiting or question, key
            raise Waiting
        answer, error = self._answers[key]
        if error is not None:
            raise error
        return answer

    def settle(self) -> None:
        """Ask what the test waits for, as part of its case."""
        question, self.waiting = self.waiting, None
        if self._case is None or question is None:
            return
        self._case.apart = at_once
        try:
            with activate(self._case):
                self._answers[self._key] = question(), None
        except Exception as error:  # it is raised in the test, which decides whose fault it is
            self._answers[self._key] = None, error

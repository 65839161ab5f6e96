"""Defines the exceptions for failures between the two sides, one class for each cause."""

from __future__ import annotations

from dataclasses import dataclass

from softmark.records.verdict import LONGEST_TEXT, Category
from softmark.sandbox.wire import Raised


class GraderFault(Exception):
    """Raised if the grader itself failed. It is reported as such, and never counted as a student's zero."""


class SandboxLost(GraderFault):
    """Raised if no further student process can be started here: the engine must be replaced."""


class Disturbed(GraderFault):
    """Raised if another program of this machine spoilt what was observed. A fresh process may do better."""


class UnsendableRequest(GraderFault):
    """Raised if a hidden test passes a value that cannot be sent to a student process."""


@dataclass(eq=False)  # not frozen: Python writes tracebacks into exceptions
class StudentFailure(Exception):
    """Raised if the student's code gave no answer. Programs read `category` and `code`, people read the texts.

    `fact` is one sentence that is safe to show: it never repeats text that the student's code could fill with hidden
    inputs. `detail` may repeat such text (an exception's own message); the test's visibility decides who sees it.
    `staff` is for staff only. Each text is cut to `LONGEST_TEXT`, because it may come from a worker, and every verdict
    keeps it.
    """

    category: Category
    fact: str
    detail: str = ""
    raised: Raised | None = None
    staff: str = ""
    code: str = ""

    def __post_init__(self) -> None:
        self.fact, self.detail, self.staff = (text[:LONGEST_TEXT] for text in (self.fact, self.detail, self.staff))

    def __str__(self) -> str:
        return self.fact

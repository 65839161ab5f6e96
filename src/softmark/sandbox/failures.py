"""The exceptions for failures between the two sides, by whose fault they are."""

from __future__ import annotations

from dataclasses import dataclass

from softmark.records.verdict import LONGEST_TEXT, Category
from softmark.sandbox.wire import Raised


class GraderFault(Exception):
    """The grader itself failed: said so, never counted as a student's zero."""


class SandboxLost(GraderFault):
    """No further student process can be started here: the engine must be replaced."""


class Disturbed(GraderFault):
    """Another program of this machine spoilt what was observed. In a fresh process it may go well."""


class UnsendableRequest(GraderFault):
    """A hidden test passes a value that cannot be sent to a student process."""


@dataclass(eq=False)  # not frozen: Python writes tracebacks into exceptions
class StudentFailure(Exception):
    """The student's code gave no answer. `category` and `code` say why to the program, the rest says it to people.

    `fact` is one sentence that is safe to show: it never repeats text the student's code could fill with hidden
    inputs. `detail` may (an exception's own message); who sees it is decided by the test's visibility. Each text is cut
    to `LONGEST_TEXT`: it may be a worker's, and it is kept in every verdict.
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

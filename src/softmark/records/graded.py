"""One graded submission of a class, as the journal keeps it and every export reads it."""

from softmark.records.record import Record
from softmark.records.result import Result


class StudentData(Record, frozen=True):
    """A student, as far as the source of the submissions names one."""

    id: str
    name: str = ""
    email: str = ""


class Graded(Record, frozen=True):
    """A student's or a group's latest attempt, and what it earned."""

    id: str
    """Unique in the class, stable between runs, and safe as the name of a folder."""
    students: tuple[StudentData, ...]
    origin: str
    """Where in the source it was found, as a person would say it."""
    result: Result
    submitted_at: str | None = None
    """ISO 8601, with an offset if the source gave one."""
    earlier: tuple[str, ...] = ()
    """Origins of earlier attempts, which do not count."""
    gone: bool = False
    """Whether the latest run did not find it in the source any more."""

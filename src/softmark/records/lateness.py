"""When a submission was handed in, and what that costs, as a result keeps it."""

from __future__ import annotations

from softmark.records.record import Record


class Lateness(Record, frozen=True):
    """What is to be said of when one submission was handed in, and what it costs."""

    line: str = ""
    """For the student; empty if there is nothing to say to them."""
    staff_note: str = ""
    submitted_at: str | None = None
    due_at: str | None = None
    seconds: float | None = None
    """How late; None if the times are not known."""
    days: int = 0
    deduction: float = 0.0
    """In points, as the policy has it: it may be more than was earned."""
    excluded: bool = False
    """It came after the last day that counts."""

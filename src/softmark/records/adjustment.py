"""What the course's staff add to a mark, or take from it, by hand, and why: no grading changes it."""

from __future__ import annotations

from softmark.records.points import shown
from softmark.records.record import Record


class Adjustment(Record, frozen=True):
    """Points on top of what the tests and the time of submission make of it."""

    points: float
    why: str
    made: str
    """When, as ISO 8601."""
    total: float
    """What the tests gave at that time."""

    @property
    def line(self) -> str:
        """For the student."""
        sign, number = ("+", self.points) if self.points > 0 else ("−", -self.points)
        return f"{sign}{shown(number)} {'point' if number == 1 else 'points'} by the course's staff: {self.why}"

    def staff_note(self, total: float) -> str:
        """Whoever made it may want to look again when the tests give something else now; nothing otherwise."""
        if total == self.total:
            return ""
        return f"adjusted when the tests gave {shown(self.total)}; now they give {shown(total)}: does it still hold?"

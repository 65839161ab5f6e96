"""How often a homework may be handed in: at most so many attempts in so many hours.

Whether an attempt counts is computed from the times of submission alone, so grading it again gives the same answer.
An attempt that was one too many does not use up another, nor does one at which the autograder failed.

[attempts]
at_most = 5
hours = 24
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from softmark.course.late import in_words
from softmark.course.toml import LocatedToml

TABLE = "attempts"
MOST_HOURS = 24 * 366


class AttemptsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may stand in it."""

    at_most: int
    hours: float


@dataclass(frozen=True)
class AttemptLimit:
    """What `[attempts]` in homework.toml says."""

    at_most: int
    window: timedelta


@dataclass(frozen=True)
class Attempt:
    """One submission under such a limit."""

    counts: bool
    """Whether it is graded."""
    line: str
    """For the student."""


def attempt_limit(toml: LocatedToml, table: AttemptsTable | msgspec.UnsetType) -> AttemptLimit | None:
    """The limit, or None if there is no such table; ConfigError if a value makes no sense."""
    if table is msgspec.UNSET:
        return None
    if table.at_most < 1:
        raise toml.wrong((TABLE, "at_most"), f"at_most must be at least 1, but is {table.at_most}")
    if not 0 < table.hours <= MOST_HOURS:
        raise toml.wrong((TABLE, "hours"), f"hours must be more than 0 and at most {MOST_HOURS}, but is {table.hours}")
    return AttemptLimit(table.at_most, timedelta(hours=table.hours))


def attempt(limit: AttemptLimit, submitted_at: datetime, earlier: Sequence[datetime]) -> Attempt:
    """Whether a submission of this time counts, given the times of those before it."""
    now = _instant(submitted_at)
    counted: list[datetime] = []
    for time in sorted(_instant(time) for time in earlier if _instant(time) < now):
        if len(_within(limit.window, time, counted)) < limit.at_most:
            counted.append(time)
    recent = _within(limit.window, now, counted)
    rule = f"{limit.at_most} in {in_words(limit.window)}"
    if len(recent) < limit.at_most:
        return Attempt(True, f"This is attempt {len(recent) + 1} of {rule}.")
    again = (recent[0] + limit.window).strftime("%Y-%m-%d %H:%M UTC")
    return Attempt(False, f"not graded: attempts are limited to {rule}; the next one counts from {again} on")


def _within(window: timedelta, time: datetime, counted: Sequence[datetime]) -> list[datetime]:
    return [other for other in counted if time - other < window]


def _instant(time: datetime) -> datetime:
    """A time without an offset is taken as UTC: the platform's own clock."""
    return (time if time.utcoffset() is not None else time.replace(tzinfo=UTC)).astimezone(UTC)

"""Applies a homework's rules for deadlines and attempts to the times of one submission.

Days are counted from the end of the grace period, and a day that has begun counts as a whole one. Times are compared
as instants, so neither time zones nor the change of clocks make a difference. Each deduction, and each case that could
not be decided, is said in words.

An attempt counts or not by the times of submission alone, so grading it again gives the same answer. An attempt that
was one too many does not use up another, nor does one at which the autograder failed.

[late]
percent_per_day = 10

[attempts]
at_most = 5
hours = 24
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import msgspec

from softmark.course.toml import LocatedToml
from softmark.records.points import exact, rounded, shown
from softmark.records.result import Lateness

_LATE, _ATTEMPTS = "late", "attempts"
DAY = timedelta(days=1)
EVERYTHING = Fraction(100)
WITHOUT_TIME = "Marked late by the platform; no time given: no points taken off."


@dataclass(frozen=True)
class LatePolicy:
    """The table `[late]` of homework.toml; per cent are of the points of the whole homework."""

    percent_per_day: Fraction
    percent_at_most: Fraction = EVERYTHING
    grace: timedelta = timedelta(0)
    closed_after_days: int | None = None
    """Days after which a submission does not count at all."""
    due: datetime | None = None
    """The deadline, with an offset. It goes before the one that the source of the submissions names."""

    def percent(self, days: int) -> Fraction:
        """Return the per cent that so many days cost."""
        if self.closed(days):
            return EVERYTHING
        return min(self.percent_per_day * days, self.percent_at_most)

    def closed(self, days: int) -> bool:
        """Return True if a submission so many days late does not count."""
        return self.closed_after_days is not None and days > self.closed_after_days


def lateness(
    policy: LatePolicy | None,
    points: Fraction,
    submitted_at: datetime | None,
    due_at: datetime | None = None,
    late_flag: bool | None = None,
) -> Lateness | None:
    """Return what the policy takes off for these times; None if it was in time, or if there is no policy.

    `points` are the homework's; `due_at` and `late_flag` are what the source of the submission says.
    """
    if policy is None:
        return None
    due = policy.due or due_at
    if submitted_at is None or due is None:
        return _undecided(late_flag, submitted_at, due)
    submitted, of_submission = _in_zone_of(due, submitted_at, "The time of submission")
    due, of_due = _in_zone_of(submitted, due, "The due date")
    late = _apart(submitted, due)
    note = " ".join((*of_submission, *of_due, *_other_due(policy, due_at), *_contradiction(late_flag, late)))
    if late <= timedelta(0):
        return Lateness(staff_note=note) if note else None
    days = max(0, math.ceil((late - policy.grace) / DAY))
    deduction = rounded(points * policy.percent(days) / EVERYTHING)
    return Lateness(
        line=f"Handed in {in_words(late)} late{_consequence(policy, days, deduction, points)}.",
        staff_note=note,
        submitted_at=submitted.isoformat(),
        due_at=due.isoformat(),
        seconds=late.total_seconds(),
        days=days,
        deduction=deduction,
        excluded=policy.closed(days),
    )


def in_words(time: timedelta) -> str:
    """Return a length of time in its two largest units: "1 day 3 hours"."""
    minutes = time // timedelta(minutes=1)
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    said = [_count(number, unit) for unit, number in counts.items() if number]
    return " ".join(said[:2]) or "less than a minute"


def _consequence(policy: LatePolicy, days: int, deduction: float, points: Fraction) -> str:
    """Return the reason and the price, to be read after "Handed in … late"."""
    if not days:
        return f", within the {in_words(policy.grace)} of grace: no points taken off"
    price = f"−{shown(deduction)} of {shown(points)} points" if deduction else "no points taken off"
    if policy.closed(days):
        after = f"{_count(policy.closed_after_days, 'day')} after " if policy.closed_after_days else ""
        return f"; nothing counts that comes later than {after}the due date: {price}"
    if not deduction:
        return f": {price}"
    rate = f"{_count(days, 'day')} at {shown(policy.percent_per_day)} %{' each' if days > 1 else ''}"
    capped = policy.percent_per_day * days > policy.percent_at_most
    limit = f", but no more than {shown(policy.percent_at_most)} %" if capped else ""
    return f": {rate}{limit}, {price}"


def _undecided(flag: bool | None, submitted_at: datetime | None, due: datetime | None) -> Lateness | None:
    """Return a note without a deduction, as one of the two times is not known. None if it was in time."""
    if flag is False:
        return None
    unknown = "no due date is known (`due` under [late] sets one)" if due is None else "no time of submission is known"
    said = "Marked late by the platform" if flag else "The late policy was not applied"
    return Lateness(
        line=WITHOUT_TIME if flag else "",
        staff_note=f"{said}: {unknown}.",
        submitted_at=submitted_at.isoformat() if submitted_at else None,
        due_at=due.isoformat() if due else None,
    )


def _in_zone_of(other: datetime, time: datetime, what: str) -> tuple[datetime, tuple[str, ...]]:
    """Return a time with an offset: one that has none gets that of the other, and a note says so."""
    if time.utcoffset() is not None or other.utcoffset() is None:
        return time, ()
    taken = time.replace(tzinfo=other.tzinfo)
    return taken, (f"{what} names no time zone and was taken as {taken.isoformat()}.",)


def _apart(later: datetime, earlier: datetime) -> timedelta:
    """Return the time between two instants. (Python's difference ignores the change of clocks within one zone.)"""
    by_the_clock = later.replace(tzinfo=None) - earlier.replace(tzinfo=None)
    return by_the_clock - ((later.utcoffset() or timedelta(0)) - (earlier.utcoffset() or timedelta(0)))


def _other_due(policy: LatePolicy, due_at: datetime | None) -> tuple[str, ...]:
    """Return a note if the platform has another deadline: it may be an extension."""
    if policy.due is None or due_at is None:
        return ()
    says, _ = _in_zone_of(policy.due, due_at, "")
    if not _apart(says, policy.due):
        return ()
    return (f"The platform says due {due_at.isoformat()}; homework.toml's {policy.due.isoformat()} was used.",)


def _contradiction(flag: bool | None, late: timedelta) -> tuple[str, ...]:
    """Return a note if the platform says late or in time, and its own times say the opposite."""
    is_late = late > timedelta(0)
    if flag is None or flag == is_late:
        return ()
    return (f"The platform marks it {'late' if flag else 'in time'}; by its times it is not.",)


def _count(number: int | None, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


class LateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the table `[late]`."""

    percent_per_day: float
    percent_at_most: float = 100.0
    grace_minutes: float = 0.0
    closed_after_days: int | msgspec.UnsetType = msgspec.UNSET
    due: datetime | msgspec.UnsetType = msgspec.UNSET


def late_policy(toml: LocatedToml, table: LateTable | msgspec.UnsetType) -> LatePolicy | None:
    """Return the policy, or None if there is no such table. Raise ConfigError for a senseless value."""
    if table is msgspec.UNSET:
        return None
    return LatePolicy(
        percent_per_day=_percent(toml, "percent_per_day", table.percent_per_day),
        percent_at_most=_percent(toml, "percent_at_most", table.percent_at_most),
        grace=_grace(toml, table.grace_minutes),
        closed_after_days=_days(toml, table.closed_after_days),
        due=_due(toml, table.due),
    )


def _percent(toml: LocatedToml, key: str, value: float) -> Fraction:
    percent = _exact(toml, key, value)
    if percent > EVERYTHING:
        raise toml.wrong((_LATE, key), f"{key} must be at most 100, but is {shown(percent)}")
    return percent


def _grace(toml: LocatedToml, minutes: float) -> timedelta:
    exactly = _exact(toml, "grace_minutes", minutes)
    try:
        return timedelta(minutes=float(exactly))
    except OverflowError as error:
        raise toml.wrong((_LATE, "grace_minutes"), f"grace_minutes is beyond all reason: {minutes:g}") from error


def _days(toml: LocatedToml, days: int | msgspec.UnsetType) -> int | None:
    if days is msgspec.UNSET:
        return None
    if days < 0:
        raise toml.wrong((_LATE, "closed_after_days"), f"closed_after_days must not be negative, but is {days}")
    return days


def _due(toml: LocatedToml, due: datetime | msgspec.UnsetType) -> datetime | None:
    if due is msgspec.UNSET:
        return None
    if due.utcoffset() is None:
        problem = f"due must say its offset from UTC, as in {due.isoformat()}+01:00 or {due.isoformat()}Z"
        raise toml.wrong((_LATE, "due"), problem)
    return due


def _exact(toml: LocatedToml, key: str, value: float) -> Fraction:
    try:
        return exact(value)
    except ValueError as error:
        raise toml.wrong((_LATE, key), f"{key} {error}") from error


MOST_HOURS = 24 * 366


class AttemptsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of the table `[attempts]`."""

    at_most: int
    hours: float


@dataclass(frozen=True)
class AttemptLimit:
    """The table `[attempts]` of homework.toml."""

    at_most: int
    window: timedelta


@dataclass(frozen=True)
class Attempt:
    """One submission under a limit of attempts."""

    counts: bool
    """True if it is graded."""
    line: str
    """The sentence for the student."""


def attempt_limit(toml: LocatedToml, table: AttemptsTable | msgspec.UnsetType) -> AttemptLimit | None:
    """Return the limit of attempts, or None if there is no such table. Raise ConfigError for a senseless value."""
    if table is msgspec.UNSET:
        return None
    if table.at_most < 1:
        raise toml.wrong((_ATTEMPTS, "at_most"), f"at_most must be at least 1, but is {table.at_most}")
    if not 0 < table.hours <= MOST_HOURS:
        raise toml.wrong(
            (_ATTEMPTS, "hours"), f"hours must be more than 0 and at most {MOST_HOURS}, but is {table.hours}"
        )
    return AttemptLimit(table.at_most, timedelta(hours=table.hours))


def attempt(limit: AttemptLimit, submitted_at: datetime, earlier: Sequence[datetime]) -> Attempt:
    """Return whether a submission of this time counts, given the times of those before it."""
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
    """Return a time in UTC; one without an offset is taken as UTC, the platform's own clock."""
    return (time if time.utcoffset() is not None else time.replace(tzinfo=UTC)).astimezone(UTC)

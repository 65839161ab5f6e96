"""What handing in late costs: a homework's policy, applied to one submission's own times.

Days are counted from the end of the grace period, and a day that has begun counts as a whole one. Times are compared
as instants, so neither time zones nor the change of clocks make a difference. Whatever is taken off, and whatever
could not be decided, is said in words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from softmark.records.points import rounded, shown
from softmark.records.result import Lateness

DAY = timedelta(days=1)
EVERYTHING = Fraction(100)
WITHOUT_TIME = "Marked late by the platform; no time given: no points taken off."


@dataclass(frozen=True)
class LatePolicy:
    """What `[late]` in homework.toml says; per cent are of the points of the whole homework."""

    percent_per_day: Fraction
    percent_at_most: Fraction = EVERYTHING
    grace: timedelta = timedelta(0)
    closed_after_days: int | None = None
    """What is handed in later than this does not count at all."""
    due: datetime | None = None
    """With an offset. It goes before what the source of the submissions says."""

    def percent(self, days: int) -> Fraction:
        """What so many days cost."""
        if self.closed(days):
            return EVERYTHING
        return min(self.percent_per_day * days, self.percent_at_most)

    def closed(self, days: int) -> bool:
        """Whether so many days are too many."""
        return self.closed_after_days is not None and days > self.closed_after_days


def lateness(
    policy: LatePolicy | None,
    points: Fraction,
    submitted_at: datetime | None,
    due_at: datetime | None = None,
    late_flag: bool | None = None,
) -> Lateness | None:
    """What the policy makes of these times; None if it was in time, or if the homework has no policy.

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
    """A length of time in its two largest units: "1 day 3 hours"."""
    minutes = time // timedelta(minutes=1)
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    said = [_count(number, unit) for unit, number in counts.items() if number]
    return " ".join(said[:2]) or "less than a minute"


def _consequence(policy: LatePolicy, days: int, deduction: float, points: Fraction) -> str:
    """The reason and the price, to be read after "Handed in … late"."""
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
    """Without both times nothing is taken off; whoever might want to is told."""
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
    """A time without an offset is read in the zone of the one that has it, and that is noted."""
    if time.utcoffset() is not None or other.utcoffset() is None:
        return time, ()
    taken = time.replace(tzinfo=other.tzinfo)
    return taken, (f"{what} names no time zone and was taken as {taken.isoformat()}.",)


def _apart(later: datetime, earlier: datetime) -> timedelta:
    """The time between two instants. (Python's own difference ignores the change of clocks within one zone.)"""
    by_the_clock = later.replace(tzinfo=None) - earlier.replace(tzinfo=None)
    return by_the_clock - ((later.utcoffset() or timedelta(0)) - (earlier.utcoffset() or timedelta(0)))


def _other_due(policy: LatePolicy, due_at: datetime | None) -> tuple[str, ...]:
    """An extension that was given on the platform must not be overlooked."""
    if policy.due is None or due_at is None:
        return ()
    says, _ = _in_zone_of(policy.due, due_at, "")
    if not _apart(says, policy.due):
        return ()
    return (f"The platform says due {due_at.isoformat()}; homework.toml's {policy.due.isoformat()} was used.",)


def _contradiction(flag: bool | None, late: timedelta) -> tuple[str, ...]:
    """The platform's own word is not followed where there are times, but it is passed on."""
    is_late = late > timedelta(0)
    if flag is None or flag == is_late:
        return ()
    return (f"The platform marks it {'late' if flag else 'in time'}; by its times it is not.",)


def _count(number: int | None, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"

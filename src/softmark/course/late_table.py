"""The `[late]` table of a homework.toml, checked and turned into a policy; docs/gradebook.md explains its keys."""

from datetime import datetime, timedelta
from fractions import Fraction

import msgspec

from softmark.course.late import EVERYTHING, LatePolicy
from softmark.course.toml import LocatedToml
from softmark.records.points import exact, shown

TABLE = "late"


class LateTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may stand in it."""

    percent_per_day: float
    percent_at_most: float = 100.0
    grace_minutes: float = 0.0
    closed_after_days: int | msgspec.UnsetType = msgspec.UNSET
    due: datetime | msgspec.UnsetType = msgspec.UNSET


def late_policy(toml: LocatedToml, table: LateTable | msgspec.UnsetType) -> LatePolicy | None:
    """The policy, or None if there is no such table; ConfigError if a value makes no sense."""
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
        raise toml.wrong((TABLE, key), f"{key} must be at most 100, but is {shown(percent)}")
    return percent


def _grace(toml: LocatedToml, minutes: float) -> timedelta:
    exactly = _exact(toml, "grace_minutes", minutes)
    try:
        return timedelta(minutes=float(exactly))
    except OverflowError as error:
        raise toml.wrong((TABLE, "grace_minutes"), f"grace_minutes is beyond all reason: {minutes:g}") from error


def _days(toml: LocatedToml, days: int | msgspec.UnsetType) -> int | None:
    if days is msgspec.UNSET:
        return None
    if days < 0:
        raise toml.wrong((TABLE, "closed_after_days"), f"closed_after_days must not be negative, but is {days}")
    return days


def _due(toml: LocatedToml, due: datetime | msgspec.UnsetType) -> datetime | None:
    if due is msgspec.UNSET:
        return None
    if due.utcoffset() is None:
        problem = f"due must say its offset from UTC, as in {due.isoformat()}+01:00 or {due.isoformat()}Z"
        raise toml.wrong((TABLE, "due"), problem)
    return due


def _exact(toml: LocatedToml, key: str, value: float) -> Fraction:
    try:
        return exact(value)
    except ValueError as error:
        raise toml.wrong((TABLE, key), f"{key} {error}") from error

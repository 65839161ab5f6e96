"""Times as platforms write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?[ ]*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)|(?P<zone>[A-Za-z_]+/[A-Za-z_/]+))?"
)


def moment(text: str) -> datetime | None:
    """The first time in the text, to the second, with its zone if it has one; None if there is none."""
    found = _MOMENT.search(text)
    if not found:
        return None
    try:
        return datetime.fromisoformat(f"{found[1]} {found[2]}").replace(tzinfo=_zone(found))
    except (ValueError, LookupError, OSError):  # the 31st of June; a zone that this machine does not know
        return None


def _zone(found: re.Match[str]) -> tzinfo | None:
    if found["utc"]:
        return UTC
    if found["zone"]:
        return ZoneInfo(found["zone"])
    if found["sign"]:
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
        return timezone(-offset if found["sign"] == "-" else offset)
    return None

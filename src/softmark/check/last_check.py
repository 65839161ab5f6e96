"""Remembers how many tests of each part passed at the last check of a file, and says what has changed since.

That is kept among the files of the user that programs keep for themselves, never beside the homework: its folder may
be read-only, and is handed in. Where nothing can be kept, nothing is told.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from softmark.records.result import Outcome, Result, Status

_Counts = dict[str, tuple[int, int]]
"""For each part, how many tests passed and how many there are."""


def changes(file: Path, result: Result) -> tuple[str, ...]:
    """Return what has changed since the last check of a file, as sentences, and remember this one."""
    if result.status is not Status.GRADED:
        return ()
    now = _counts(result)
    try:
        place = _place(file)
        before = _read(place)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = place.with_suffix(f".{os.getpid()}")
        written.write_bytes(msgspec.json.encode({**before, **now}))
        written.replace(place)
    except (OSError, RuntimeError):  # no home, or one that cannot be written to
        return ()
    return tuple(_sentences(before, now))


def _counts(result: Result) -> _Counts:
    counts = {}
    for part in result.parts:
        outcomes = [test.outcome for test in result.tests if test.part == part.number]
        counts[part.number] = (outcomes.count(Outcome.PASSED), len(outcomes))
    return counts


def _place(file: Path) -> Path:
    """Return the place of what is remembered of a file."""
    own = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_STATE_HOME")
    kept = Path(own) if own else Path.home() / ".local" / "state"
    name = hashlib.sha256(os.fsencode(file.absolute())).hexdigest()[:20]
    return kept / "softmark" / "checks" / f"{name}.json"


def _read(place: Path) -> _Counts:
    try:
        return msgspec.json.decode(place.read_bytes(), type=_Counts)
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _sentences(before: Mapping[str, tuple[int, int]], now: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    changed = [part for part in now if part in before and before[part] != now[part]]
    mended = [part for part in changed if _is_whole(now[part])]
    broken = [part for part in changed if _is_whole(before[part])]
    if mended:
        yield f"{_parts(mended)} {'passes' if len(mended) == 1 else 'pass'} now"
    if broken:
        yield f"{_parts(broken)} {'fails' if len(broken) == 1 else 'fail'} since your last change"
    for part in changed:
        if part not in mended and part not in broken:
            passed, tests = now[part]
            yield f"part {part} passes {passed} of {tests} tests, {before[part][0]} before"


def _is_whole(count: tuple[int, int]) -> bool:
    passed, tests = count
    return passed == tests


def _parts(numbers: Sequence[str]) -> str:
    if len(numbers) == 1:
        return f"part {numbers[0]}"
    return f"parts {', '.join(numbers[:-1])} and {numbers[-1]}"

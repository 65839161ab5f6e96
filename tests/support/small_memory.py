"""Makes a class with students who take all the memory they can get, and a control group that has little of it."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.autograder import ROOT

HOMEWORK = "attention_scores"
BOMBS = ("many_children", "memory", "page_tables", "read_only_pages", "shared_dontneed", "unlinked_files")
_GROUPS = Path("/sys/fs/cgroup")


def write_class(place: Path, size: int, bombs: tuple[str, ...] = BOMBS) -> dict[str, str]:
    """Make a folder for each student, bombs spread among the honest; return which student handed in which bomb."""
    reference = (ROOT / "reference" / f"{HOMEWORK}.py").read_text()
    every = size // len(bombs)
    hostile = {f"s{1 + number * every:02}": bomb for number, bomb in enumerate(bombs)}
    for name in (f"s{number:02}" for number in range(size)):
        text = reference
        if name in hostile:
            text += "\n\n" + (ROOT / "tests/redteam/cases" / hostile[name] / "spoil.py").read_text()
        (place / name).mkdir()
        (place / name / f"{HOMEWORK}.py").write_text(text)
    return hostile


def assert_costs_only(hostile: Collection[str], grades: Path) -> None:
    """Assert that every submission is graded, and that only the hostile ones have less than full marks."""
    with open(grades, newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert {row["status"] for row in rows.values()} == {"graded"}
    assert {name for name, row in rows.items() if float(row["total"]) < 20} == set(hostile)


@contextmanager
def control_group(megabytes: int) -> Iterator[Path]:
    """Yield a control group with so much memory; a process joins it by writing its id into `cgroup.procs`."""
    version_1 = (_GROUPS / "memory" / "memory.limit_in_bytes").exists()
    place = (_GROUPS / "memory" if version_1 else _GROUPS) / f"softmark-test-{secrets.token_hex(4)}"
    try:
        place.mkdir()
        limit = place / ("memory.limit_in_bytes" if version_1 else "memory.max")
        limit.write_text(str(megabytes << 20))
    except OSError as refusal:
        if place.exists():
            place.rmdir()
        pytest.skip(f"no control group can be made here: {refusal}")
    try:
        yield place
    finally:
        place.rmdir()

"""The page "The course at a glance" gives every row of the lectures a home that exists."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from softmark.course.homework import load_homework

ROOT = Path(__file__).parents[2]
HERE = sorted(folder.parent.name for folder in (ROOT / "graders").glob("*/homework.toml"))
ROWS = re.findall(r"^\| (C\d+) \| (.+) \| (.+) \|$", (ROOT / "docs/course.md").read_text(), re.MULTILINE)


class Home(NamedTuple):
    """Some parts of a homework that a row names."""

    homework: str
    parts: list[str]


def homes(cell: str) -> list[Home]:
    """Return what a row's last cell says; it says nothing else."""
    found = [re.fullmatch(r"`(\w+)` ([\d, ]+)", text) for text in cell.split("; ")]
    assert all(found), cell
    return [Home(match[1], match[2].split(", ")) for match in found if match]


def test_every_row_is_there_once() -> None:
    """The rows are those of the list of what the lectures teach, in its order."""
    assert [number for number, _, _ in ROWS] == [f"C{number}" for number in range(1, 98)]


@pytest.mark.parametrize(("cell"), [cell for _, _, cell in ROWS], ids=[number for number, _, _ in ROWS])
def test_names_parts_that_exist(cell: str) -> None:
    """A part is one of its homework, and each homework is here."""
    for home in homes(cell):
        assert home.homework in HERE
        assert set(home.parts) <= {part.number for part in load_homework(home.homework).parts}, home


@pytest.mark.parametrize("homework", HERE)
def test_every_part_has_a_row(homework: str) -> None:
    """No part of a homework asks for what the lectures do not teach."""
    named = {part for _, _, cell in ROWS for home in homes(cell) if home.homework == homework for part in home.parts}
    assert {part.number for part in load_homework(homework).parts} - named == set()

"""The handouts of the homeworks: what they promise alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from softmark.course.homework import homework_names

ROOT = Path(__file__).resolve().parents[2]
RULE = (
    "Each part is graded by itself: it has all its marks if it is right once the earlier parts that it builds on are "
    "right, and a slip that has cost its marks in an earlier part costs nothing again."
)


@pytest.mark.parametrize("homework", homework_names(ROOT))
def test_say_how_parts_are_graded(homework: str) -> None:
    """One sentence, the same in all of them."""
    text = re.sub(r"\s+", " ", (ROOT / "assignments" / homework / "README.md").read_text())
    assert text.count(f"**{RULE}**") == 1
    assert "given your own" not in text

"""The handouts of the homeworks: what they promise alike."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from softmark.course.homework import homework_names

ROOT = Path(__file__).resolve().parents[2]
RULE = (
    "Each part is graded by itself: it has all its marks if it is right once the earlier parts that it builds on are "
    "right, and a slip that has cost its marks in an earlier part costs nothing again."
)

BEGINNING = """
Once, in the folder that you unpacked from the zip: `python install.py` (in the notebook, run the first cell). It
installs Softmark, which checks your work, and PyTorch if you have none.
"""


@pytest.mark.parametrize("homework", homework_names(ROOT))
def test_say_how_to_begin(homework: str) -> None:
    """The same two sentences, below title and points; the notebook's first cell runs what they name."""
    folder = ROOT / "assignments" / homework
    lines = (folder / "README.md").read_text().splitlines(keepends=True)
    assert "".join(lines[3:6]) == BEGINNING
    cells = json.loads((folder / f"{homework}.ipynb").read_text())["cells"]
    first = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))
    assert first.endswith('if os.path.exists("install.py"):\n    %run install.py')
    assert f"upload {homework}.zip" in first


@pytest.mark.parametrize("homework", homework_names(ROOT))
def test_say_how_parts_are_graded(homework: str) -> None:
    """One sentence, the same in all of them."""
    text = re.sub(r"\s+", " ", (ROOT / "assignments" / homework / "README.md").read_text())
    assert text.count(f"**{RULE}**") == 1
    assert "given your own" not in text

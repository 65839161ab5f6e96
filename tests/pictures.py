"""Makes the pictures of the documents from the program's own output: `python -m tests.pictures`."""

from __future__ import annotations

import io
import os
from pathlib import Path

from rich.console import Console

from softmark.batch.one import grade_one
from softmark.grading.messages import Setup
from softmark.report.feedback import Audience
from softmark.report.table import show

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"


def draw_grade() -> str:
    """The terminal after `softmark grade` of the sample submission, as a student would see it."""
    level = "full" if os.geteuid() == 0 else "user"
    setup = Setup(str(ROOT), "attention_scores", level, progress=False)
    sample = ROOT / "samples" / "attention_scores" / "mixed.py"
    console = Console(record=True, width=96, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    show(grade_one(sample, setup, lambda result: None), console, Audience.STUDENT)
    return console.export_svg(title="softmark grade", unique_id="softmark")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / "grade.svg").write_text(draw_grade())

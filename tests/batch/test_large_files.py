"""A class in which some hand in far too much to read: they are told, and everybody else has their marks."""

from __future__ import annotations

from pathlib import Path

from tests.intake.test_budget import PICTURE, compact, output, zipped
from tests.support.classes import RIGHT, gradings, hand_in, marks, run
from tests.support.course import FILE

NOTEBOOK = FILE.replace(".py", ".ipynb")
HOSTILE = {
    "forty": {"hw.zip": zipped({f"n{n}.ipynb": compact(str(n), output(a=PICTURE)) for n in range(40)})},
    "lines": {FILE: RIGHT.encode() + b"x = 1\n" * 800_000},
    "nested": {NOTEBOOK: b'{"nbformat": 4, "x": ' + b"[" * 9_000_000},
    "pictures": {NOTEBOOK: compact(RIGHT, *[output(a="A" * 1_000_000)] * 28)},
}


def test_neighbours_are_unharmed(course: Path, tmp_path: Path) -> None:
    """The run ends well; a notebook that is large for its pictures has full marks, the others a sentence."""
    folder = hand_in(tmp_path / "class", {f"right{number}": {FILE: f"{RIGHT}# {number}\n"} for number in range(8)})
    for student, files in HOSTILE.items():
        for name, content in files.items():
            (folder / student).mkdir(exist_ok=True)
            (folder / student / name).write_bytes(content)
    done = run(folder, "-o", tmp_path / "results")
    assert (done.returncode, done.stderr) == (0, "")
    found = marks(tmp_path / "results")
    assert {student for student, mark in found.items() if mark == 4.0} == {
        *(f"right{number}" for number in range(8)),
        "pictures",
    }
    assert {found[student] for student in ("forty", "lines", "nested")} == {0.0}
    assert gradings(tmp_path / "results").keys() == found.keys()
    page = (tmp_path / "results" / "submissions" / "forty" / "feedback.md").read_text()
    assert "more than 150 MB would have to be read to find what is meant" in page

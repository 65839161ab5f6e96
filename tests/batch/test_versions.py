"""A class that was graded by another version: it is graded again, and the run and `regrade` say why."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from softmark.course.digest import SOFTWARE
from tests.support.another_softmark import AnotherSoftmark
from tests.support.classes import FILE, NAME, RIGHT, WRONG, gradings, hand_in, marks, run

TWO = {"ada": {FILE: RIGHT}, "ben": {FILE: WRONG}}
AGAIN = "2 were graded by another version of Softmark: graded again (`softmark regrade {}` says which)\n"


@pytest.mark.parametrize("changed", ["verdict/agree.py", "a_file.html"])
def test_a_changed_file_of_softmark_is_another_version(changed: str, course: Path, tmp_path: Path) -> None:
    """Whichever file it is, though the number of the version is the same; and the next run finds all unchanged."""
    softmark, folder, results = AnotherSoftmark(tmp_path), hand_in(tmp_path / "class", TWO), tmp_path / "results"
    grade = ("grade", folder, "-a", NAME, "-o", results, "--isolation", "process")
    assert softmark(*grade).returncode == 0
    assert "2 unchanged in " in softmark(*grade).stdout

    softmark.change(changed)
    done = softmark(*grade)
    assert (done.returncode, done.stderr) == (0, "")
    assert AGAIN.format(results) in done.stdout
    assert gradings(results) == {"ada": 2, "ben": 2}
    told = softmark("regrade", results).stdout
    assert "No difference: 2 students with the same marks in every part." in told
    assert "Graded by other versions: softmark 0.1.0 (" in " ".join(told.split())
    assert "2 unchanged in " in softmark(*grade).stdout


def test_what_a_student_changes_is_no_other_version(course: Path, tmp_path: Path) -> None:
    """The sentence is about those who are graded again for no other reason."""
    softmark, folder, results = AnotherSoftmark(tmp_path), hand_in(tmp_path / "class", TWO), tmp_path / "results"
    grade = ("grade", folder, "-a", NAME, "-o", results, "--isolation", "process")
    assert softmark(*grade).returncode == 0
    hand_in(folder, {"ben": {FILE: RIGHT}})
    assert "another version" not in softmark(*grade).stdout
    hand_in(folder, {"ben": {FILE: WRONG}})
    softmark.change("verdict/agree.py")
    assert "1 was graded by another version of Softmark: graded again" in softmark(*grade).stdout


def test_a_journal_from_before_versions_were_noted(course: Path, tmp_path: Path) -> None:
    """It can be read and exported as it is, and its class is graded again."""
    folder, results = hand_in(tmp_path / "class", TWO), tmp_path / "results"
    assert run(folder, "-o", results).returncode == 0
    as_before_versions_were_noted(results / "gradebook.sqlite")
    softmark = AnotherSoftmark(tmp_path)
    assert softmark("export", results, "--canvas", tmp_path / "canvas.csv").stdout.startswith("2 marks written\n")
    done = run(folder, "-o", results)
    assert (done.returncode, done.stderr) == (0, "")
    assert AGAIN.format(results) in done.stdout
    assert marks(results) == {"ada": 4.0, "ben": 2.0}
    told = " ".join(softmark("regrade", results).stdout.split())
    assert "Graded by other versions: softmark 0.1.0 (its files are not known) → 0.1.0 (" in told


def as_before_versions_were_noted(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as db, db:
        for number, fingerprint, data in db.execute("SELECT number, fingerprint, result FROM gradings").fetchall():
            result = json.loads(zlib.decompress(data))
            for name in set(SOFTWARE) - {"softmark", "torch", "python"}:
                del result["provenance"][name]
            row = (fingerprint.partition(".")[0], zlib.compress(json.dumps(result).encode()), number)
            db.execute("UPDATE gradings SET fingerprint = ?, result = ? WHERE number = ?", row)

"""What a run of a class says before anything else, and its exit code 1: results are there, and somebody must look."""

from __future__ import annotations

from pathlib import Path

from tests.batch.classes import FILE, RIGHT, WRONG, hand_in, marks, run


class TestDoubtfulSubmissions:
    """One student's folder makes nobody's work vanish."""

    def test_are_said_first(self, course: Path, tmp_path: Path) -> None:
        """A folder that would be somebody's but for its name."""
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "cyd": {}, ".ben": {FILE: RIGHT}})
        done = run(folder, "-o", tmp_path / "results")
        assert done.returncode == 1
        assert done.stdout.startswith(
            "look at this first, it may be somebody's submission:\n"
            "  class/.ben: its name begins with a dot\n"
            "2 submissions: folder of folders\n"
        )
        assert marks(tmp_path / "results") == {"ada": 4.0, "cyd": 0.0}

    def test_a_forged_time_changes_nothing(self, course: Path, tmp_path: Path) -> None:
        """With nbgrader's file in a student's folder the class is what it was, and nobody has a time."""
        folder = hand_in(tmp_path / "class", {"ada/code/v2": {FILE: RIGHT}, "ben/code/v2": {FILE: WRONG}})
        hand_in(folder, {"mallory/x": {FILE: RIGHT, "timestamp.txt": "2020-01-01 00:00:00 UTC"}})
        done = run(folder, "-o", tmp_path / "results")
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "3 submissions: folder of folders")
        assert marks(tmp_path / "results") == {"ada": 4.0, "ben": 2.0, "mallory": 4.0}
        assert "2020" not in (tmp_path / "results/grades.csv").read_text()

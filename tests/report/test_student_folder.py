"""What each student gets back."""

import json
from pathlib import Path

import pytest

from softmark.report.student_folder import feedback_folder, write_feedback
from tests.support.classroom import HOPPER, LOVELACE, grader_error, one
from tests.support.results import LATE, LATE_LINE, STAFF_SECRET, handed_in


class TestWriteFeedback:
    def test_writes_three_files(self, tmp_path: Path) -> None:
        """A page, a text and the platform's file, each with whose it is, the mark and the lateness."""
        write_feedback(one("s2", HOPPER, result=handed_in(LATE)), tmp_path)
        folder = tmp_path / "submissions" / "s2"
        assert sorted(file.name for file in folder.iterdir()) == ["feedback.html", "feedback.md", "results.json"]
        page = (folder / "feedback.html").read_text(encoding="utf-8")
        text = (folder / "feedback.md").read_text(encoding="utf-8").replace("\\", "")
        for written in (page, text):
            assert "ada_lovelace" in written
            assert LATE_LINE in written
            assert "1 of 10 points" in written
            assert STAFF_SECRET not in written
        results = json.loads((folder / "results.json").read_bytes())
        assert results["score"] == 1
        assert results["extra_data"]["submission"] == "s17"

    def test_of_a_grader_error(self, tmp_path: Path) -> None:
        """The student reads that it is not their mark."""
        write_feedback(one("s1", LOVELACE, result=grader_error()), tmp_path)
        text = (tmp_path / "submissions" / "s1" / "feedback.md").read_text(encoding="utf-8")
        assert "not your mark" in text

    def test_replaces_what_was_there(self, tmp_path: Path) -> None:
        """Grading again leaves one set of files."""
        for result in (handed_in(LATE), None):
            write_feedback(one("s1", LOVELACE, result=result), tmp_path)
        folder = tmp_path / "submissions" / "s1"
        assert LATE_LINE not in (folder / "feedback.md").read_text(encoding="utf-8").replace("\\", "")
        assert len(list(folder.iterdir())) == 3


class TestFeedbackFolder:
    @pytest.mark.parametrize("name", ["", ".", "..", "../s1", "a/b", "/etc", "-rf", ".hidden", "a\nb", "é", "a" * 300])
    def test_refuses_names_that_lead_elsewhere(self, tmp_path: Path, name: str) -> None:
        """Nothing is ever written outside the results, whatever an id says."""
        with pytest.raises(ValueError, match="cannot be the name of a folder"):
            feedback_folder(tmp_path, name)

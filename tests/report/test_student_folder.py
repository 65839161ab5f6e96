"""What each student gets back."""

import json
import stat
from pathlib import Path

import pytest

from softmark.report.student_folder import (
    close_tree,
    feedback_folder,
    has_feedback,
    is_open_to_others,
    private_file,
    results_folder,
    write_feedback,
    write_staff_page,
)
from tests.support.classroom import HOPPER, LOVELACE, grader_error, one
from tests.support.results import LATE, LATE_LINE, STAFF_SECRET, graded, handed_in


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


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


class TestRights:
    """Results are for the person who graded: hidden titles and marks are in them."""

    def test_everything_is_closed_to_others(self, tmp_path: Path) -> None:
        """The folder of the results, that of the submissions, and each student's, whoever may enter the one above."""
        results = tmp_path / "results"
        write_feedback(one("s1", LOVELACE), results)
        folder = feedback_folder(results, "s1")
        assert [rights(path) for path in (results, folder.parent, folder)] == [0o700] * 3
        assert {rights(file) for file in folder.iterdir()} == {0o600}

    @pytest.mark.parametrize(
        ("name", "closed"),
        [("gradebook.sqlite", True), ("grades.csv", True), (".x.part", True), ("notes.txt", False), ("hw.py", False)],
    )
    def test_a_folder_with_other_things_keeps_its_rights(self, name: str, closed: bool, tmp_path: Path) -> None:
        """A folder that is not ours alone is not closed; what is made in it is."""
        results = tmp_path / "results"
        results.mkdir(mode=0o755)
        results.chmod(0o755)
        (results / name).touch()
        results_folder(results)
        assert rights(results) == (0o700 if closed else 0o755)

    def test_of_an_older_version(self, tmp_path: Path) -> None:
        """A folder that was made open is closed with all that it holds; links are left alone, and other rights stay."""
        folder = tmp_path / "submissions"
        (folder / "s1").mkdir(parents=True)
        file, target = folder / "s1" / "feedback.md", tmp_path / "target"
        for made in (file, target):
            made.touch()
            made.chmod(0o654)
        (folder / "link").symlink_to(target)
        for path in (folder, folder / "s1"):
            path.chmod(0o755)
        close_tree(folder)
        assert [rights(path) for path in (folder, folder / "s1", file)] == [0o700, 0o700, 0o600]
        assert rights(target) == 0o654
        assert not is_open_to_others(folder / "link")

    def test_of_a_closed_folder_nothing_is_touched(self, tmp_path: Path) -> None:
        """Nobody can reach what is in it."""
        (tmp_path / "closed").mkdir(mode=0o700)
        (tmp_path / "closed/x").touch()
        (tmp_path / "closed/x").chmod(0o644)
        close_tree(tmp_path / "closed")
        close_tree(tmp_path / "nowhere")
        assert rights(tmp_path / "closed/x") == 0o644

    def test_private_file(self, tmp_path: Path) -> None:
        """It is made empty and closed; one that is there keeps its content."""
        file = tmp_path / "gradebook.sqlite"
        private_file(file)
        assert (file.read_bytes(), rights(file)) == (b"", 0o600)
        file.write_bytes(b"content")
        file.chmod(0o644)
        private_file(file)
        assert (file.read_bytes(), rights(file)) == (b"content", 0o600)


class TestHasFeedback:
    @pytest.mark.parametrize("spoilt", [None, "feedback.html", "feedback.md", "results.json"])
    @pytest.mark.parametrize("how", ["empty", "gone"])
    def test_is_all_there(self, spoilt: str | None, how: str, tmp_path: Path) -> None:
        """An empty file is none: an interrupted run may have left it."""
        write_feedback(one("s1", LOVELACE), tmp_path)
        if spoilt is not None:
            file = feedback_folder(tmp_path, "s1") / spoilt
            file.unlink()
            if how == "empty":
                file.touch()
        assert has_feedback(tmp_path, "s1") == (spoilt is None)

    def test_staff_page(self, tmp_path: Path) -> None:
        """The page for staff has what students do not read."""
        write_feedback(one("s17", LOVELACE), tmp_path)
        write_staff_page(graded(), tmp_path)
        page = (feedback_folder(tmp_path, "s17") / "staff.html").read_text(encoding="utf-8")
        assert "one process was left behind" in page

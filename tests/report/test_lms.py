"""What Canvas and Moodle are given to import: their columns, and no line that could delete a mark."""

import csv
from pathlib import Path

import msgspec
import pytest

from softmark.records.result import Submitter
from softmark.report.gradebook import Grade, grades_of, write_gradebook
from softmark.report.lms import CanvasColumn, unknown_to_moodle, write_canvas, write_moodle
from tests.support.classroom import HOPPER, LOVELACE, MONDAY, TUESDAY, better, class_of_five, grader_error, one, renamed


@pytest.fixture
def grades(tmp_path: Path) -> tuple[Grade, ...]:
    return write_gradebook(class_of_five(), tmp_path)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


class TestCanvas:
    def test_has_the_columns_of_canvas(self, grades: tuple[Grade, ...], tmp_path: Path) -> None:
        """Five columns say who it is, the sixth is headed by the assignment's title and number."""
        path = tmp_path / "canvas.csv"
        write_canvas(grades, CanvasColumn("Attention scores", 98765, ids_of_canvas=True), path)
        assert rows(path) == [
            ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention scores (98765)"],
            ["Points Possible", "", "", "", "", "10"],
            ["Lovelace, Ada", "1001", "", "ada@example.org", "", "3"],
            ["Hopper, Grace", "1002", "", "grace@example.org", "", "1"],
            ["Noether, Emmy", "1003", "", "emmy@example.org", "", "0"],
        ]

    def test_points_and_marks_that_are_not_whole(self, tmp_path: Path) -> None:
        """The second line has what the homework is worth, and each student's line what that student has."""
        path = tmp_path / "canvas.csv"
        ada, grace = (one("s1", LOVELACE), one("s2", HOPPER, result=better()))
        grades = [
            msgspec.structs.replace(grade, max_score=12.5, mark=mark)
            for graded, mark in ((ada, 2.25), (grace, 13.0))
            for grade in grades_of(graded)
        ]
        write_canvas(grades, CanvasColumn("Scores", 7), path)
        assert [row[-1] for row in rows(path)] == ["Scores (7)", "12.5", "2.25", "13"]

    def test_ids_from_elsewhere_are_the_institutions(self, grades: tuple[Grade, ...], tmp_path: Path) -> None:
        """A number that is not Canvas's own is never taken for one: it could be another student's."""
        path = tmp_path / "canvas.csv"
        write_canvas(grades, CanvasColumn("Attention scores"), path)
        heading, _, ada, *_ = rows(path)
        assert heading[-1] == "Attention scores"
        assert ada[1:3] == ["", "1001"]

    def test_no_mark_is_no_line(self, grades: tuple[Grade, ...], tmp_path: Path) -> None:
        """Canvas takes an empty cell for "delete": where the grader failed, an earlier mark is left alone."""
        path = tmp_path / "canvas.csv"
        write_canvas(grades, CanvasColumn("Attention scores"), path)
        assert not [row for row in rows(path)[2:] if row[2] in ("1004", "1005") or row[-1] == ""]

    def test_begins_with_the_heading_itself(self, grades: tuple[Grade, ...], tmp_path: Path) -> None:
        """Nothing invisible comes before the first quote: Ruby would call the file malformed."""
        path = tmp_path / "canvas.csv"
        write_canvas(grades, CanvasColumn("Attention scores"), path)
        assert path.read_bytes().startswith(b'"Student",')

    def test_without_a_name(self, tmp_path: Path) -> None:
        """Canvas wants something in its first column: a student whose name is not known is called by the id."""
        path = tmp_path / "canvas.csv"
        write_canvas(grades_of(one("s1", Submitter(id="1001"))), CanvasColumn("Attention scores"), path)
        assert rows(path)[2][:3] == ["1001", "", "1001"]

    def test_without_submissions(self, tmp_path: Path) -> None:
        """Nobody is a file of headings."""
        path = tmp_path / "canvas.csv"
        write_canvas((), CanvasColumn("Attention scores"), path)
        assert len(rows(path)) == 1


class TestMoodle:
    def test_knows_a_student_by_number_or_email(self) -> None:
        """Who has neither is named, because Moodle would pass over the mark in silence."""
        strangers = [Submitter(id=id, name="Lovelace, Ada") for id in ("ada", "12a", "²", "١٢")]
        known = [Submitter(id="1001"), Submitter(id="ada", email="ada@example.org")]
        graded = [grade for who in (*strangers, *known) for grade in grades_of(one("s1", who))]
        assert [grade.student for grade in unknown_to_moodle(graded)] == strangers
        unmarked = [grade for who in strangers for grade in grades_of(one("s1", who, result=grader_error()))]
        assert unknown_to_moodle(unmarked) == []

    def test_has_the_columns_of_the_worksheet(self, grades: tuple[Grade, ...], tmp_path: Path) -> None:
        """Moodle finds its columns by these names, and students by "Participant" and their number."""
        path = tmp_path / "moodle.csv"
        write_moodle(grades, path)
        heading, ada, grace, emmy = rows(path)
        assert heading == [
            "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
            "Last modified (submission)", "Last modified (grade)",
        ]  # fmt: skip
        assert ada == [
            "Participant 1001", "Lovelace, Ada", "ada@example.org", "Submitted for grading",
            "3", "10", "Yes", MONDAY, "",
        ]  # fmt: skip
        assert [row[4] for row in (ada, grace, emmy)] == ["3", "1", "0"]
        assert [row[7] for row in (grace, emmy)] == [TUESDAY, ""]

    def test_other_ids_are_left_to_the_email_address(self, tmp_path: Path) -> None:
        """An id that is no number of Moodle's is not passed off as one."""
        grades = write_gradebook([one("ada")], tmp_path)
        write_moodle(grades, tmp_path / "moodle.csv")
        assert rows(tmp_path / "moodle.csv")[1][0] == ""


def test_names_are_no_formulas(tmp_path: Path) -> None:
    """A student who is called like a formula is only called so."""
    grades = write_gradebook([renamed(one("s1", LOVELACE), "=1+1")], tmp_path)
    write_canvas(grades, CanvasColumn("@title"), tmp_path / "canvas.csv")
    write_moodle(grades, tmp_path / "moodle.csv")
    heading, _, ada = rows(tmp_path / "canvas.csv")
    assert (heading[-1], ada[0]) == ("'@title", "'=1+1")
    assert rows(tmp_path / "moodle.csv")[1][1] == "'=1+1"

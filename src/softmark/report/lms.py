"""Writes marks as files that Canvas and Moodle import.

A student whose submission could not be graded gets no line, because an empty cell would make Canvas delete the existing
mark. `gradebook.without_mark` names these students.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from softmark.report.gradebook import Grade, csv_line, write_csv

CANVAS_STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_COLUMNS = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
)


@dataclass(frozen=True)
class CanvasColumn:
    """The assignment's column in Canvas's gradebook, and the kind of ids that the students have.

    Canvas finds an assignment by the number in its heading, and makes a new one if there is no number. It finds a
    student by `ID`, its own number, which a download of submissions from Canvas has in its file names. Ids from
    elsewhere are those of the institution (`SIS User ID`).
    """

    title: str
    assignment_id: int | None = None
    ids_of_canvas: bool = False

    @property
    def heading(self) -> str:
        """Return the heading as Canvas's own export has it: "Attention scores (98765)"."""
        return self.title if self.assignment_id is None else f"{self.title} ({self.assignment_id})"


def write_canvas(grades: Sequence[Grade], column: CanvasColumn, path: Path) -> None:
    """Replace the file by one for Canvas: Grades, Import."""
    write_csv(path, canvas_lines(grades, column), for_people=False)


def write_moodle(grades: Iterable[Grade], path: Path) -> None:
    """Replace the file by one for Moodle: as the assignment's grading worksheet, or as a CSV import of grades.

    The worksheet knows students by the number that Moodle puts into the names of downloaded folders; an import of
    grades knows them by their email address. The time of the last grade is left empty. So Moodle overwrites a grade
    that it has already only if the person who uploads the file asks for that.
    """
    write_csv(path, moodle_lines(grades), for_people=False)


def canvas_lines(grades: Sequence[Grade], column: CanvasColumn) -> Iterator[bytes]:
    """Return the lines of the file for Canvas; the second says what the assignment is worth."""
    yield csv_line((*CANVAS_STUDENT, column.heading))
    if grades:
        yield csv_line(("Points Possible", None, None, None, None, grades[0].max_score))
    for grade in grades:
        student = grade.student
        ids = (student.id, None) if column.ids_of_canvas else (None, student.id)
        if grade.mark is not None:
            yield csv_line((student.name or student.id, *ids, student.email, None, grade.mark))


def moodle_lines(grades: Iterable[Grade]) -> Iterator[bytes]:
    """Return the lines of the file for Moodle, in the columns of its own worksheet."""
    yield csv_line(MOODLE_COLUMNS)
    for grade in grades:
        student = grade.student
        if grade.mark is not None:
            yield csv_line(
                (
                    f"Participant {student.id}" if _has_number(grade) else None,
                    student.name,
                    student.email,
                    "Submitted for grading",
                    grade.mark,
                    grade.max_score,
                    "Yes",
                    grade.submitted_at.isoformat() if grade.submitted_at else None,
                    None,
                )
            )


def unknown_to_moodle(grades: Iterable[Grade]) -> list[Grade]:
    """Return the grades for which Moodle can find no student: neither its number nor an email address is known."""
    return [grade for grade in grades if grade.mark is not None and not _has_number(grade) and not grade.student.email]


def _has_number(grade: Grade) -> bool:
    return grade.student.id.isascii() and grade.student.id.isdecimal()

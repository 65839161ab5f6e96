"""The gradebook of a class as two files: `grades.csv`, a line for each student, and `tests.csv`, one for each test.

One pass over the class writes both, in the order of the students' ids, whatever order the submissions come in. Lines of
tests are too many to be held: they wait in a temporary file until it is known which of them count, and in what order.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from softmark.records.errors import UsageError
from softmark.records.result import Graded, Outcome, PartResult, TestResult
from softmark.report.csv_cells import Cell, csv_line, write_csv
from softmark.report.grades import Grade, class_grades, grades_of

GRADES, TESTS = "grades.csv", "tests.csv"
BEFORE_PARTS = ("id", "name", "email", "status")
POINTS = ("total", "deduction", "adjustment", "mark", "of")
AFTER_PARTS = (*POINTS, "lateness", "submitted_at", "submission", "file", "notes")
TEST_COLUMNS = ("id", "name", "submission", "part", "test", "title", "score", "of", "outcome", "mistakes")


def write_gradebook(graded: Iterable[Graded], folder: Path) -> tuple[Grade, ...]:
    """Writes both files into the folder; the grades that are in them, for whoever exports them elsewhere."""
    with tempfile.TemporaryFile() as file:
        waiting = _WaitingLines(file)
        grades = class_grades(_noted(graded, waiting))
        write_csv(folder / GRADES, grade_lines(grades), for_people=True)
        write_csv(folder / TESTS, _test_lines(grades, waiting), for_people=True)
    return grades


def grade_lines(grades: tuple[Grade, ...]) -> Iterator[bytes]:
    """The lines of `grades.csv`. Who has no mark has no points either: an empty cell is not a 0."""
    parts = grades[0].parts if grades else ()
    yield csv_line((*BEFORE_PARTS, *(part_heading(part) for part in parts), *AFTER_PARTS))
    for grade in grades:
        if _worth(grade.parts) != _worth(parts):
            raise UsageError(_different(grades[0], grade))
        yield csv_line(_cells(grade))


def part_heading(part: PartResult) -> str:
    """A part as the heading of its column: "1 attend (of 2)"."""
    return f"{part.number} {part.function} (of {part.points:g})"


class _WaitingLines:
    """Lines of each student's submission, on disk."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[tuple[str, str], tuple[int, int]] = {}

    def put(self, grade: Grade, lines: Iterable[bytes]) -> None:
        start = self._file.tell()
        self._file.writelines(lines)
        self._places[grade.submission, grade.student.id] = start, self._file.tell() - start

    def get(self, grade: Grade) -> bytes:
        start, size = self._places[grade.submission, grade.student.id]
        self._file.seek(start)
        return self._file.read(size)


def _noted(graded: Iterable[Graded], waiting: _WaitingLines) -> Iterator[Grade]:
    for one in graded:
        for grade in grades_of(one):
            waiting.put(grade, (csv_line(_cells_of_test(grade, test)) for test in one.result.tests))
            yield grade


def _test_lines(grades: Iterable[Grade], waiting: _WaitingLines) -> Iterator[bytes]:
    yield csv_line(TEST_COLUMNS)
    for grade in grades:
        yield waiting.get(grade)


def _cells(grade: Grade) -> tuple[Cell, ...]:
    has_mark = grade.mark is not None
    return (
        grade.student.id,
        grade.student.name,
        grade.student.email,
        str(grade.status).replace("_", " "),
        *(part.earned if has_mark else None for part in grade.parts),
        grade.total if has_mark else None,
        grade.deduction if has_mark else None,
        grade.adjustment if has_mark else None,
        grade.mark,
        grade.max_score,
        grade.lateness,
        grade.submitted_at or "",
        grade.submission,
        grade.origin,
        "; ".join(grade.notes),
    )


def _cells_of_test(grade: Grade, test: TestResult) -> tuple[Cell, ...]:
    judged = test.outcome in (Outcome.PASSED, Outcome.FAILED)
    return (
        grade.student.id,
        grade.student.name,
        grade.submission,
        test.part,
        test.number,
        test.title,
        test.score if judged else None,
        test.max_score,
        str(test.outcome).replace("_", " "),
        ", ".join(sorted({cause.name for verdict in test.verdicts for cause in verdict.causes})),
    )


def _worth(parts: Iterable[PartResult]) -> tuple[tuple[str, str, float], ...]:
    return tuple((part.number, part.function, part.points) for part in parts)


def _different(one: Grade, other: Grade) -> str:
    return (
        f"{one.submission} and {other.submission} were graded with different parts or points, which is no one "
        "gradebook; grade again with --fresh"
    )

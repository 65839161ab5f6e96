"""Writes the gradebook of a class: `grades.csv`, a line for each student, and `tests.csv`, a line for each test.

One pass over the class writes both, in the order of the students' ids, whatever order the submissions come in. The
lines of tests are too many for memory. They wait in a temporary file until it is known which of them count.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from softmark.feedback.escape import cell, one_line
from softmark.feedback.safe_files import replacement
from softmark.records.errors import UsageError
from softmark.records.points import total
from softmark.records.record import Record
from softmark.records.result import Graded, Outcome, PartResult, Status, Submitter, TestResult

GRADES, TESTS = "grades.csv", "tests.csv"
BEFORE_PARTS = ("id", "name", "email", "status")
POINTS = ("total", "deduction", "adjustment", "mark", "of")
AFTER_PARTS = (*POINTS, "lateness", "submitted_at", "submission", "file", "notes")
TEST_COLUMNS = ("id", "name", "submission", "part", "test", "title", "score", "of", "outcome", "mistakes")


def write_gradebook(graded: Iterable[Graded], folder: Path) -> tuple[Grade, ...]:
    """Write both files into the folder. Return the grades that are in them, for further exports."""
    with tempfile.TemporaryFile() as file:
        waiting = _WaitingLines(file)
        grades = class_grades(_noted(graded, waiting))
        write_csv(folder / GRADES, grade_lines(grades), for_people=True)
        write_csv(folder / TESTS, _test_lines(grades, waiting), for_people=True)
    return grades


def grade_lines(grades: tuple[Grade, ...]) -> Iterator[bytes]:
    """Return the lines of `grades.csv`. A student without a mark has no points either: an empty cell is not a 0."""
    parts = grades[0].parts if grades else ()
    yield csv_line((*BEFORE_PARTS, *(part_heading(part) for part in parts), *AFTER_PARTS))
    for grade in grades:
        if _worth(grade.parts) != _worth(parts):
            raise UsageError(_different(grades[0], grade))
        yield csv_line(_cells(grade))


def part_heading(part: PartResult) -> str:
    """Return a part as the heading of its column: "1 attend (of 2)"."""
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


def _cells(grade: Grade) -> tuple[CsvValue, ...]:
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
        grade.submitted_at.isoformat() if grade.submitted_at else "",
        grade.submission,
        grade.origin,
        "; ".join(grade.notes),
    )


def _cells_of_test(grade: Grade, test: TestResult) -> tuple[CsvValue, ...]:
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


class Grade(Record, frozen=True):
    """The grade of one student."""

    student: Submitter
    submission: str
    """The id of the submission it was earned with, which is also the name of the folder with the feedback."""
    origin: str
    status: Status
    parts: tuple[PartResult, ...]
    max_score: float
    total: float
    mark: float | None
    """The mark; None if the grader failed."""
    lateness: str = ""
    deduction: float = 0.0
    """Points that lateness took off, at most those that were earned."""
    adjustment: float = 0.0
    """Points that the staff added, or took off."""
    submitted_at: datetime | None = None
    notes: tuple[str, ...] = ()
    gone: bool = False
    """True if it was earned with a submission that is not handed in any more."""


def grades_of(graded: Graded) -> tuple[Grade, ...]:
    """Return the grade of every student who handed this in; of a submission that names nobody, one by its own name."""
    result = graded.result
    late = result.lateness
    students = graded.submission.students or (Submitter(id=graded.submission.id),)
    return tuple(
        Grade(
            student=student if student.id else msgspec.structs.replace(student, id=graded.submission.id),
            submission=graded.submission.id,
            origin=graded.submission.origin,
            status=result.status,
            parts=result.parts,
            max_score=result.max_score,
            total=result.total,
            mark=None if result.status is Status.GRADER_ERROR else result.mark,
            lateness=late.line if late else "",
            deduction=total((result.total, -result.unadjusted)),
            adjustment=result.adjustment.points if result.adjustment else 0.0,
            submitted_at=graded.submission.submitted_at,
            notes=tuple(note for note in _notes(graded, student) if note),
            gone=graded.gone,
        )
        for student in students
    )


def class_grades(grades: Iterable[Grade]) -> tuple[Grade, ...]:
    """Return one grade for each student, sorted by the student's id."""
    by_student: dict[str, list[Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.student.id, []).append(grade)
    return tuple(_latest(by_student[student]) for student in sorted(by_student))


def without_mark(grades: Iterable[Grade]) -> tuple[Grade, ...]:
    """Return the grades of students at whose submissions the grader failed."""
    return tuple(grade for grade in grades if grade.mark is None)


def _latest(grades: Sequence[Grade]) -> Grade:
    *others, latest = sorted(grades, key=lambda grade: (not grade.gone, _instant(grade.submitted_at), grade.submission))
    replaced = [grade for grade in others if grade.gone != latest.gone]
    rivals = [grade for grade in others if grade.gone == latest.gone]
    notes = list(latest.notes)
    if rivals:
        how = "the latest counts" if latest.submitted_at else "none has a time, so the last by name counts"
        notes.append(f"also found in {_where(rivals)}: {how}")
    if replaced:
        notes.append(f"found before in {_where(replaced)}: what is handed in now counts")
    return msgspec.structs.replace(latest, notes=tuple(notes))


def _where(grades: Iterable[Grade]) -> str:
    return ", ".join(grade.origin or grade.submission for grade in grades)


def _instant(time: datetime | None) -> datetime:
    if time is None:
        return datetime.min.replace(tzinfo=UTC)
    return time if time.utcoffset() is not None else time.replace(tzinfo=UTC)


def _notes(graded: Graded, student: Submitter) -> Iterable[str]:
    result = graded.result
    yield result.reason
    others = [other.name or other.id for other in graded.submission.students if other != student]
    if others:
        yield f"handed in together with {', '.join(others)}"
    if earlier := len(graded.submission.earlier):
        yield f"{earlier} earlier {'attempt does' if earlier == 1 else 'attempts do'} not count"
    if result.lateness:
        yield result.lateness.staff_note
    if result.adjustment:
        yield result.adjustment.line
        yield result.adjustment.staff_note(result.total)
    yield from result.notes
    yield from result.faults


CsvValue = str | float | None


def csv_line(cells: Iterable[CsvValue]) -> bytes:
    """Return one line of a file; None is an empty cell."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(_written(cell) for cell in cells)
    return line.getvalue().encode("utf-8")


def write_csv(path: Path, lines: Iterable[bytes], *, for_people: bool) -> None:
    """Replace the file by these lines, one after the other.

    A file for people begins with the mark by which Excel knows UTF-8 (in Python: encoding="utf-8-sig"). A file for
    another program has no such mark, because Canvas is written in Ruby, which stumbles over it.
    """
    with replacement(path) as file:
        if for_people:
            file.write(codecs.BOM_UTF8)
        file.writelines(lines)


def _written(value: CsvValue) -> str | float:
    if value is None:
        return ""
    if isinstance(value, str):
        return cell(one_line(value))
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number for a spreadsheet")
    return int(value) if value == int(value) else value

"""A class as its grades: one for each student, light enough to hold ten thousand of them.

A submission of a group is the grade of each of its members. A student found in several submissions has the grade of
the latest that is still handed in, or of the latest if none is; the others are named beside it. Where the grader failed
there is no mark, which is not the same as 0.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from softmark.records.points import total
from softmark.records.record import Record
from softmark.records.result import Graded, PartResult, Status, Submitter


class Grade(Record, frozen=True):
    """What one student got."""

    student: Submitter
    submission: str
    """The id of the submission it was earned with, which is also the name of the folder with the feedback."""
    origin: str
    status: Status
    parts: tuple[PartResult, ...]
    max_score: float
    total: float
    mark: float | None
    """None if the grader failed."""
    lateness: str = ""
    deduction: float = 0.0
    """What lateness took off, of what was there."""
    adjustment: float = 0.0
    """What the staff added, or took off."""
    submitted_at: str | None = None
    notes: tuple[str, ...] = ()
    gone: bool = False
    """Whether it was earned with what is not handed in any more."""


def grades_of(graded: Graded) -> tuple[Grade, ...]:
    """The grade of every student who handed this in; of a submission that names nobody, one by its own name."""
    result = graded.result
    late = result.lateness
    students = graded.students or (Submitter(id=graded.id),)
    return tuple(
        Grade(
            student=student if student.id else msgspec.structs.replace(student, id=graded.id),
            submission=graded.id,
            origin=graded.origin,
            status=result.status,
            parts=result.parts,
            max_score=result.max_score,
            total=result.total,
            mark=None if result.status is Status.GRADER_ERROR else result.mark,
            lateness=late.line if late else "",
            deduction=total((result.total, -result.unadjusted)),
            adjustment=result.adjustment.points if result.adjustment else 0.0,
            submitted_at=graded.submitted_at,
            notes=tuple(note for note in _notes(graded, student) if note),
            gone=graded.gone,
        )
        for student in students
    )


def class_grades(grades: Iterable[Grade]) -> tuple[Grade, ...]:
    """One grade for each student, sorted by the student's id, whatever order they come in."""
    by_student: dict[str, list[Grade]] = {}
    for grade in grades:
        by_student.setdefault(grade.student.id, []).append(grade)
    return tuple(_latest(by_student[student]) for student in sorted(by_student))


def without_mark(grades: Iterable[Grade]) -> tuple[Grade, ...]:
    """Those that the grader owes a mark."""
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


def _instant(time: str | None) -> datetime:
    if time is None:
        return datetime.min.replace(tzinfo=UTC)
    instant = datetime.fromisoformat(time)
    return instant if instant.utcoffset() is not None else instant.replace(tzinfo=UTC)


def _notes(graded: Graded, student: Submitter) -> Iterable[str]:
    result = graded.result
    yield result.reason
    others = [other.name or other.id for other in graded.students if other != student]
    if others:
        yield f"handed in together with {', '.join(others)}"
    if graded.earlier:
        yield f"{len(graded.earlier)} earlier {'attempt does' if len(graded.earlier) == 1 else 'attempts do'} not count"
    if result.lateness:
        yield result.lateness.staff_note
    if result.adjustment:
        yield result.adjustment.line
        yield result.adjustment.staff_note(result.total)
    yield from result.notes
    yield from result.faults

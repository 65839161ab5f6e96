"""A verdict as a result keeps it: the same facts, as plain data that JSON can hold.

A process that only reads results must not need torch, which the verdict room imports; so it is not imported here.
"""

import math
from typing import TYPE_CHECKING

from softmark.records.record import Record

if TYPE_CHECKING:
    from softmark.records.verdict import CodeLine, Verdict
    from softmark.records.verdict import Picture as DrawnPicture

OF_THE_WORKER = "the student's process says: "
"""Before the words of a worker in `VerdictData.staff`."""

Rows = tuple[tuple[float | None, ...], ...]


class FrameData(Record, frozen=True):
    """A line of the student's own code."""

    file: str
    line: int
    function: str
    text: str


class CauseData(Record, frozen=True):
    """A named mistake that reproduces the student's answer."""

    name: str
    says: str
    hint: str = ""


class Picture(Record, frozen=True):
    """A small matrix, expected and got, for drawing. A value that is not finite is None."""

    expected: Rows
    got: Rows
    caption: str = ""


class VerdictData(Record, frozen=True):
    """Why a case, or one subtest of it, failed.

    `fact`, `causes` and `frames` are safe for the student; `where` and `picture` hold hidden numbers and are
    shown as the test's visibility allows; `staff` is for staff.
    """

    category: str
    fact: str
    where: str = ""
    staff: str = ""
    causes: tuple[CauseData, ...] = ()
    frames: tuple[FrameData, ...] = ()
    picture: Picture | None = None
    subtest: str = ""


def recorded(verdict: "Verdict", subtest: str = "") -> VerdictData:
    """The verdict as data; `subtest` says which subtest of its case it is about."""
    return VerdictData(
        category=str(verdict.category),
        fact=verdict.fact,
        where=verdict.where,
        staff=verdict.staff,
        causes=tuple(
            CauseData(name=" + ".join(cause.mistakes), says=cause.says, hint=cause.hint) for cause in verdict.causes
        ),
        frames=recorded_frames(verdict.frames),
        picture=None if verdict.picture is None else _picture(verdict.picture),
        subtest=subtest,
    )


def recorded_frames(frames: "tuple[CodeLine, ...]") -> tuple[FrameData, ...]:
    """The student's own lines as data."""
    return tuple(
        FrameData(file=frame.file, line=frame.line, function=frame.function, text=frame.text) for frame in frames
    )


def _picture(drawn: "DrawnPicture") -> Picture:
    caption = f"at [{', '.join(map(str, drawn.slice))}, :, :]" if drawn.slice else ""
    return Picture(expected=_rows(drawn.expected), got=_rows(drawn.got), caption=caption)


def _rows(matrix: tuple[tuple[float, ...], ...]) -> Rows:
    return tuple(tuple(float(x) if math.isfinite(x) else None for x in row) for row in matrix)

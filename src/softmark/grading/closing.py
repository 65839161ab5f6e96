"""Completes the result of a submission when its last test has run: notes, listings, prints and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from softmark.grading.listings import listings_of
from softmark.grading.session import NotLoadable, StudentSession
from softmark.grading.student import own_frames
from softmark.intake.model import COUNTED
from softmark.records.result import Excerpt, Result, not_gradable
from softmark.sandbox.failures import StudentFailure


def not_loadable(result: Result, refusal: NotLoadable, session: StudentSession) -> Result:
    """Return the result of a submission that could not be loaded, with the reason and the student's own lines."""
    failure = refusal.failure
    own = own_frames(failure.raised.frames, session) if failure.raised is not None else ()
    return not_gradable(result, why_not_loaded(session.handed.main, failure), own)


def why_not_loaded(file: str, failure: StudentFailure) -> str:
    """Return the sentence about a submission that could not be loaded."""
    detail = f" ({failure.detail})" if failure.detail else ""
    return f"{file} could not be loaded: {failure.fact}{detail}"


def closed(result: Result, session: StudentSession, assumed: Iterable[str], seconds: float) -> Result:
    """Return the finished result, with notes, listings, prints and times of the whole submission."""
    out, err = session.printed()
    return msgspec.structs.replace(
        result,
        notes=(*result.notes, *_notes(result, session)),
        staff_notes=(*result.staff_notes, *_staff_notes(session, assumed)),
        listings=listings_of(result, session.handed, session.homework),
        printed=Excerpt(stdout=out, stderr=err),
        seconds=seconds,
        cpu_seconds=session.cpu_seconds,
    )


def _notes(result: Result, session: StudentSession) -> tuple[str, ...]:
    """Return the notes on a notebook's cells, and a note on their numbers if any cell is named."""
    notes = session.cells.notes
    verdicts = [verdict for test in result.tests for verdict in test.verdicts]
    places = [frame.file for frame in (*result.reason_frames, *(f for verdict in verdicts for f in verdict.frames))]
    named = notes or not set(session.handed.cells).isdisjoint(places)
    own = (*((COUNTED,) if session.handed.cells else ()), *notes) if named else ()
    return (*own, session.handed.note) if session.handed.note else own


def _staff_notes(session: StudentSession, assumed: Iterable[str]) -> Iterator[str]:
    yield from session.wrong.unfit
    for name, file, line in session.mentions:
        place = f"in {file}, line {line}" if session.handed.cells else f"on line {line}"
        yield f"mentions {name} {place} (a mention is no verdict: uses are caught when they run)"
    if session.left_behind:
        yield f"left {session.left_behind} processes behind, which were killed"
    for part in sorted(assumed):
        yield f"part {part} was not run: later parts are judged as if it were wrong"

"""Grades one file: from its path to its Result."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from softmark.batch.grader import EngineFailed, Grader
from softmark.grading.messages import Job, Setup
from softmark.grading.result import Result, Status, Submission, refused
from softmark.intake.source import Refusal, check, read

Sink = Callable[[Result], None]


def grade_one(path: Path, setup: Setup, sink: Sink, meanwhile: Callable[[], object] = lambda: None) -> Result:
    """The final Result; `sink` is given every result on the way to it, the one of second zero first.

    `meanwhile` is called once the engine is on its way: it needs most of a second before it can be asked anything.
    """
    submission = Submission(id=path.stem, name=path.stem, file=path.name)
    try:
        source = read(path)
        check(source)
    except Refusal as refusal:
        source, why = b"", str(refusal)
    else:
        why = ""
        submission = msgspec.structs.replace(submission, sha256=hashlib.sha256(source).hexdigest())
    with Grader(setup) as grader:
        meanwhile()
        result = msgspec.structs.replace(grader.ready(), submission=submission)
        sink(result)
        if why:
            result = refused(result, why)
            sink(result)
            return result
        try:
            for so_far in grader.grade(Job(submission, result.file, {result.file: source})):
                result = so_far
                sink(result)
        except EngineFailed as failure:
            notes = (*result.staff_notes, str(failure))
            result = msgspec.structs.replace(result, status=Status.GRADER_ERROR, staff_notes=notes)
            sink(result)
        return result

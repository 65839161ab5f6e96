"""An engine's input can travel: a spec and a job as bytes, and a course by its digest and its files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import Course, GradingSpec, files_of
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Submission
from tests.support.classes import FILE, NAME, STRONGEST, WRONG, write_tiny_course


def test_grades_elsewhere_what_was_sent(tmp_path: Path) -> None:
    """An engine that has the files of a course in another folder gives the same marks, and reports the same digests."""
    homework = load_homework(NAME, write_tiny_course(tmp_path / "here"))
    job = Job(Submission(id="ada"), SubmittedFiles(FILE, {FILE: WRONG.encode()}))
    sent = msgspec.msgpack.encode((GradingSpec.of(homework, STRONGEST), files_of(homework), job))

    spec, files, job = msgspec.msgpack.decode(sent, type=tuple[GradingSpec, dict[str, bytes], Job])
    there = tmp_path / "there"
    for name, content in files.items():
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_bytes(content)
    assert Course.of(load_homework(NAME, there)).sha256 == spec.course.sha256
    spec = msgspec.structs.replace(spec, course=msgspec.structs.replace(spec.course, path=str(there)))
    with LocalEngine(spec) as engine:
        pending = engine.pending()
        assert engine.submit(job).result().total == 2.0
    with LocalEngine(GradingSpec.of(homework, STRONGEST)) as engine:
        known = engine.provenance()
        assert engine.pids == ()
        assert engine.pending().provenance == pending.provenance == known


def test_digest_is_of_all_that_grading_needs(tmp_path: Path) -> None:
    """A course whose reference has changed is another one."""
    root = write_tiny_course(tmp_path)
    before = Course.of(load_homework(NAME, root))
    (root / "reference" / FILE).write_text(WRONG)
    assert Course.of(load_homework(NAME, root)).sha256 != before.sha256

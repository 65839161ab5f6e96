"""A hidden test that knows more than its check puts the failure in words of its own, and students read them."""

from __future__ import annotations

from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Submission
from tests.conftest import ROOT, STRONGEST


def test_an_index_beyond_the_table_is_told_as_an_offset_that_is_not_clipped() -> None:
    homework = load_homework("positional_encoding", ROOT)
    right = homework.reference.read_text()
    wrong = right.replace("table.shape[-1] // 2", "(table.shape[-1] + 1) // 2")
    assert wrong != right
    with LocalEngine(GradingSpec.of(homework, STRONGEST)) as engine:
        job = Job(Submission(id="beyond"), SubmittedFiles(homework.file, {homework.file: wrong.encode()}), parts=("6",))
        result = engine.submit(job).result()
    facts = [verdict.fact for test in result.tests for verdict in test.verdicts if test.part == "6"]
    assert any("are offsets clipped to -L … L" in fact for fact in facts)
    assert not any("does not fit" in fact for fact in facts)

"""Feedback says of wrong gradients whether the values are wrong, too, and are to be mended first."""

from __future__ import annotations

import pytest

from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Submission
from softmark.records.verdict import Code
from tests.conftest import ROOT, STRONGEST

WRAPPED = """

right = masked_softmax


def masked_softmax(S, mask):
    return {factor} * right(S, mask).detach() + 0 * S
"""


@pytest.mark.parametrize(("factor", "said"), [("1", False), ("(2 if S.dim() == 4 else 1)", True)])
def test_gradients_follow_from_values_only_where_these_are_wrong(factor: str, said: bool) -> None:
    homework = load_homework("attention_scores", ROOT)
    source = homework.reference.read_text() + WRAPPED.format(factor=factor)
    with LocalEngine(GradingSpec.of(homework, STRONGEST)) as engine:
        files = SubmittedFiles(homework.file, {homework.file: source.encode()})
        result = engine.submit(Job(Submission(id="detached"), files, parts=("5",))).result()
    gradients = [verdict for test in result.tests for verdict in test.verdicts if verdict.code == Code.GRADIENT]
    assert gradients
    assert all(("the values are wrong, too" in verdict.fact) is said for verdict in gradients)

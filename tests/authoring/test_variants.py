"""How `verify` and `mutate` have their variants graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from softmark.authoring import variants
from softmark.authoring.variants import Variant
from softmark.course.homework import load_homework
from softmark.records.result import Outcome
from tests.support.course import grade, references_of, write_course
from tests.support.sandboxes import sandbox

HIDDEN = "".join(
    f"@number('1.{n}')\n@weight(2)\ndef test_{n}(student):\n    'Test {n}.'\n    agree(student.one, {n}.0, {n}.0)\n\n"
    for n in (1, 2, 3)
)
WRONG_FROM_TWO = "def one(x):\n    return x if x < 2 else -x\n"


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("conditional", ["test_2"]), ("mutant", ["test_2"]), ("mistake", ["test_2", "test_3"])],
)
def test_one_wrong_answer_is_enough_where_nothing_else_is_asked(kind: str, wrong: list[str], tmp_path: Path) -> None:
    """One that is wrong under a condition is found out by its first wrong answer; of a mistake all is judged."""
    root = write_course(tmp_path, HIDDEN, points=[6])
    (root / "reference" / "tiny.py").write_text("def one(x):\n    return x\n")
    (root / "graders" / "tiny" / "mistakes.py").write_text("")
    job = variants._job(load_homework("tiny", root), Variant(kind, "wrong from two", WRONG_FROM_TWO))
    with sandbox() as place, references_of(root):
        [result] = grade(root, place, job)
    assert [test.name for test in result.tests if test.outcome is Outcome.PASSED] == ["test_1"]
    assert [test.name for test in result.tests for verdict in test.verdicts if verdict.code == "value"] == wrong

"""docs/gradebook.md says what the program does."""

import re
from pathlib import Path

import pytest

from softmark.course.deadlines import LateTable
from softmark.course.homework import load_homework
from softmark.report.gradebook import AFTER_PARTS, BEFORE_PARTS, TEST_COLUMNS
from tests.course.test_homework import GOOD

PAGE = (Path(__file__).parents[2] / "docs" / "gradebook.md").read_text(encoding="utf-8")


def test_example_of_a_policy_is_valid(tmp_path: Path) -> None:
    """The table that is shown can be copied, and shows every key there is."""
    example = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert example
    (tmp_path / "reference").mkdir()
    folder = tmp_path / "graders" / "attention_scores"
    folder.mkdir(parents=True)
    (folder / "homework.toml").write_text(GOOD + example[1], encoding="utf-8")
    late = load_homework("attention_scores", tmp_path).late
    assert late
    assert late.closed_after_days == 5
    assert set(re.findall(r"^(\w+) =", example[1], re.MULTILINE)) == set(LateTable.__struct_fields__)


@pytest.mark.parametrize("column", [*BEFORE_PARTS, *AFTER_PARTS, *TEST_COLUMNS])
def test_every_column_is_explained(column: str) -> None:
    """No heading in the files is missing from the page."""
    assert f"`{column}`" in PAGE

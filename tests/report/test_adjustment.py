"""What the staff decided by hand, wherever a mark is told."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import as_dict, check, encoded
from softmark.records.points import total
from softmark.records.result import Adjustment, Result
from softmark.report.gradebook import write_gradebook
from softmark.report.regrade import Difference, compare
from tests.feedback.test_html import read
from tests.feedback.test_markdown import rendered
from tests.feedback.test_terminal import lines, printed
from tests.support.classroom import LOVELACE, one
from tests.support.results import LATE, LATE_LINE, graded, handed_in

LINE = "+1.5 points by the course's staff: Explained in person."


def adjusted(result: Result, points: float = 1.5, total: float = 3.0) -> Result:
    adjustment = Adjustment(points=points, why="Explained in person.", made="2026-03-05T12:00:00+00:00", total=total)
    return msgspec.structs.replace(result, adjustment=adjustment)


class TestMark:
    def test_is_what_tests_and_time_make_of_it_and_then_the_staff(self) -> None:
        """Points for who has lost everything by lateness are points."""
        assert [adjusted(result).mark for result in (graded(), handed_in(LATE), handed_in(10 * LATE))] == [
            4.5,
            2.5,
            1.5,
        ]

    def test_is_never_less_than_nothing(self) -> None:
        assert adjusted(graded(), -5).mark == 0

    @given(st.integers(-200_000, 200_000).map(lambda steps: steps / 10_000), st.booleans())
    def test_is_that_of_the_platforms_file(self, points: float, late: bool) -> None:
        """The file's own check agrees for whatever is added or taken off."""
        result = adjusted(handed_in(LATE) if late else graded(), points)
        data = encoded(result)
        check(data, result)
        assert json.loads(data)["score"] == max(0.0, total((1.0 if late else 3.0, points)))


class TestFeedback:
    def test_says_so_with_the_reason(self) -> None:
        """In every form, beside what lateness took off."""
        result = adjusted(handed_in(LATE))
        told = feedback_for(result, Audience.STUDENT)
        assert f"3 points earned. {LATE_LINE} {LINE}" in " ".join(read(as_html(told)).text.split())
        assert f"<p>3 points earned. {LATE_LINE} {LINE}</p>" in rendered(as_markdown(told))
        text = lines(printed(result))
        start = text.index("      total                         3 / 10") + 1
        assert text[start : start + 3] == [f"  │ {LATE_LINE}", f"  │ {LINE}", "  │ mark: 2.5 of 10"]

    @pytest.mark.parametrize(
        ("points", "line"),
        [(1, "+1 point by"), (-1, "−1 point by"), (-0.25, "−0.25 points by")],
        ids=["one", "one less", "a quarter"],
    )
    def test_in_good_english(self, points: float, line: str) -> None:
        told = feedback_for(adjusted(graded(), points), Audience.STUDENT)
        assert told.changes[0].startswith(f"{line} the course's staff: ")


class TestPlatform:
    @pytest.mark.parametrize(("total", "said"), [(3.0, False), (2.0, True)])
    def test_staff_read_that_the_tests_give_another_total_now(self, total: float, said: bool) -> None:
        """The decision was made with another total in mind. Students read nothing of this."""
        result = adjusted(graded(), total=total)
        notes = as_dict(result, for_staff=True)["extra_data"]["staff_notes"]
        assert ("adjusted when the tests gave 2; now they give 3: does it still hold?" in notes) is said
        assert "does it still hold" not in encoded(result).decode()


class TestGradebook:
    def test_has_a_column_and_a_note(self, tmp_path: Path) -> None:
        """Total, deduction, adjustment and mark stand side by side, also where nothing can be taken any more."""
        results = (adjusted(handed_in(LATE)), adjusted(graded(), -5))
        write_gradebook((one(f"s{n}", result=result) for n, result in enumerate(results)), tmp_path)
        with (tmp_path / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = ("total", "deduction", "adjustment", "mark")
        assert [[row[column] for column in columns] for row in rows] == [
            ["3", "2", "1.5", "2.5"],
            ["3", "0", "-5", "0"],
        ]
        assert LINE in rows[0]["notes"]

    def test_asks_again_when_the_tests_give_something_else(self, tmp_path: Path) -> None:
        """What was made good by hand may have been made good by better tests since."""
        write_gradebook([one("s1", result=adjusted(graded(), total=2.0))], tmp_path)
        said = "adjusted when the tests gave 2; now they give 3: does it still hold?"
        assert said in (tmp_path / "grades.csv").read_text("utf-8-sig")

    def test_is_a_difference_of_its_own(self) -> None:
        """A regrade tells it from what the tests give."""
        (change,) = compare([one("s1", LOVELACE)], [one("s1", LOVELACE, result=adjusted(graded()))]).changed
        assert change.differences == (Difference(what="staff", old=0.0, new=1.5),)
        assert (change.old, change.new) == (3, 4.5)

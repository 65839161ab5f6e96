"""submission_metadata.json: what grading needs is read, and whatever else is in it never stops one."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.intake.gradescope import Assignment, EarlierAttempt, Metadata, read_metadata
from softmark.records.result import Submitter

CANNOT_BE_READ = "nothing is known about the submission: submission_metadata.json cannot be read: "
PACIFIC = timezone(timedelta(hours=-7))
DOCUMENTED = {
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {
        "due_date": "2018-07-31T23:00:00.000000-07:00",
        "group_size": 4,
        "group_submission": True,
        "id": 25828,
        "course_id": 1234,
        "late_due_date": "2018-08-01T23:00:00.000000-07:00",
        "release_date": "2018-07-02T00:00:00.000000-07:00",
        "title": "Attention",
        "total_points": "20.0",
    },
    "submission_method": "upload",
    "users": [
        {"email": "one@example.com", "id": 1234, "name": "Student One"},
        {"email": "two@example.com", "id": 1235, "name": "Student Two"},
    ],
    "previous_submissions": [
        {"submission_time": "2017-04-06T14:24:48.087023-07:00", "score": 0.0, "autograder_error": True},
        {
            "submission_time": "2017-04-06T14:34:48.087023-07:00",
            "score": 12.5,
            "autograder_error": False,
            "results": {"score": 12.5, "tests": []},
        },
    ],
}


def read(tmp_path: Path, content: Any) -> Metadata:
    file = tmp_path / "submission_metadata.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_metadata(file)


class TestDocumented:
    def test_what_matters_is_read(self, tmp_path: Path) -> None:
        """The documentation's own example, with numbers for ids and total_points as text."""
        assert read(tmp_path, DOCUMENTED) == Metadata(
            id="123456",
            created_at=datetime(2018, 7, 1, 14, 22, 32, tzinfo=PACIFIC),
            users=(
                Submitter("one@example.com", "Student One", "one@example.com"),
                Submitter("two@example.com", "Student Two", "two@example.com"),
            ),
            assignment=Assignment(
                due_at=datetime(2018, 7, 31, 23, tzinfo=PACIFIC),
                late_due_at=datetime(2018, 8, 1, 23, tzinfo=PACIFIC),
                total_points=20.0,
            ),
            earlier=(
                EarlierAttempt(datetime(2017, 4, 6, 14, 24, 48, tzinfo=PACIFIC), 0.0, autograder_error=True),
                EarlierAttempt(datetime(2017, 4, 6, 14, 34, 48, tzinfo=PACIFIC), 12.5),
            ),
        )

    def test_unknown_fields_are_ignored(self, tmp_path: Path) -> None:
        """The platform may add to the format whenever it likes."""
        more = {**DOCUMENTED, "new": {"deep": [1]}, "users": [{**DOCUMENTED["users"][0], "sid": 7}]}  # type: ignore[index]
        assert read(tmp_path, more).staff_notes == ()

    def test_score_of_the_latest_from_its_results(self, tmp_path: Path) -> None:
        """An attempt without a score has that of its results."""
        found = read(tmp_path, {"previous_submissions": [{"results": {"score": "7.5"}}]})
        assert found.earlier == (EarlierAttempt(score=7.5),)


class TestOdd:
    """What is not as documented is told to staff and otherwise as if it were not there."""

    @pytest.mark.parametrize(
        ("content", "note"),
        [
            ({"created_at": 1530480152}, "created_at is"),
            ({"created_at": "yesterday"}, 'created_at is "yesterday", not a time'),
            ({"created_at": ["2018"]}, "created_at is"),
            ({"assignment": []}, "assignment is [], not an object"),
            ({"assignment": {"due_date": {}}}, "assignment.due_date is {}, not text"),
            ({"assignment": {"total_points": "many"}}, 'assignment.total_points is "many", not a number'),
            ({"assignment": {"total_points": True}}, "assignment.total_points is true"),
            ({"previous_submissions": [{"autograder_error": "no"}]}, "previous_submissions[0].autograder_error is"),
            ({"users": {"name": "One"}}, "users is"),
            ({"users": [None, 3]}, "users[1] is 3, not an object"),
            ({"previous_submissions": "none"}, "previous_submissions is"),
            ({"previous_submissions": [{"score": [1]}]}, "previous_submissions[0].score is [1], not a number"),
            ('{"previous_submissions": [{"score": NaN}]}', "previous_submissions[0].score is NaN"),
            ('{"previous_submissions": [{"score": 1e999}]}', "previous_submissions[0].score is Infinity"),
            ([1, 2], "the whole is [1, 2], not an object"),
            ("{", CANNOT_BE_READ),
            ("", CANNOT_BE_READ),
            ("[" * 100_000, CANNOT_BE_READ),
        ],
    )
    def test_is_told_and_ignored(self, tmp_path: Path, content: Any, note: str) -> None:
        found = read(tmp_path, content)
        assert any(note in said for said in found.staff_notes), found.staff_notes
        assert found.created_at is None
        assert found.assignment == Assignment()
        assert all(one.score is None for one in found.earlier)

    def test_missing_file(self, tmp_path: Path) -> None:
        """Without the file nothing is known, which staff are told."""
        (note,) = read_metadata(tmp_path / "submission_metadata.json").staff_notes
        assert "no such file" in note

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters()),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["id", "created_at", "assignment", "users", "previous_submissions", "score", "name"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
        )
    )
    def test_nothing_stops_it(self, tmp_path_factory: pytest.TempPathFactory, content: Any) -> None:
        """Whatever JSON the file holds, there is an answer."""
        assert isinstance(read(tmp_path_factory.mktemp("odd"), content), Metadata)

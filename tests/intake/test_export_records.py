"""submission_metadata.yml: who handed in each folder of Gradescope's export, and when."""

from __future__ import annotations

import pytest

from softmark.intake.gradescope import ExportRecord, read_export

ADA = {"name": "Ada", "email": "ada@example.org", "sid": "17"}
ONE = """---
submission_1:
  :submitters:
  - :name: Ada
    :sid: '17'
    :email: ada@example.org
  - :name: Ben
  :created_at: 2026-03-02 12:00:00.5 Z
  :score: 3.0
  :results:
    :tests:
    - :name: not a student
      :created_at: never
  :history:
  - :id: 5
    :created_at: 2026-03-01 12:00:00 Z
    :score: 1.0
  - :id: 6
submission_2:
  :submitters:
  - :name: Eve
"""


def read(text: str) -> dict[str, ExportRecord]:
    return read_export(text.encode().splitlines(keepends=True))


def test_of_two_folders() -> None:
    """Each has its students, its time and its earlier attempts; results are passed over."""
    assert read(ONE) == {
        "submission_1": ExportRecord(
            [ADA, {"name": "Ben"}],
            "2026-03-02 12:00:00.5 Z",
            [{"id": "5", "created_at": "2026-03-01 12:00:00 Z"}, {"id": "6"}],
        ),
        "submission_2": ExportRecord([{"name": "Eve"}]),
    }


@pytest.mark.parametrize(
    ("created", "found"),
    [
        ("  :created_at: 2026-03-02 12:00:00 Z\n", "2026-03-02 12:00:00 Z"),
        ("  created_at: '2026-03-02 12:00:00 Z'\r\n", "2026-03-02 12:00:00 Z"),
        (
            "  :created_at: !ruby/object:ActiveSupport::TimeWithZone\n    utc: 2026-03-02 12:00:00 Z\n    zone: x\n",
            "2026-03-02 12:00:00 Z",
        ),
        ("  :created_at: &1 2026-03-02 12:00:00 Z\n    utc: 2026-03-09 12:00:00 Z\n", "&1 2026-03-02 12:00:00 Z"),
        ("  :created_at: 2026-03-02 12:00:00 Z\n    time: 2026-03-09\n", "2026-03-02 12:00:00 Z"),
        ("  :created_at:\n", ""),
        ("  :created_at: null\n", ""),
        ("  :created_at: ~\n", ""),
        ("    :created_at: 2026-03-02 12:00:00 Z\n", ""),
    ],
)
def test_forms_of_a_time(created: str, found: str) -> None:
    """A plain time, one in quotes, and Ruby's own object, of which the time in UTC counts."""
    assert read(f"submission_1:\n{created}")["submission_1"].created_at == found


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Ada", "Ada"),
        ("'O''Hara'", "O'Hara"),
        ('"M\\u00fcller"', "Müller"),
        ('"\\x41\\U0001F600"', "A😀"),
        ('"a\\"b\\\\c\\/d\\ne\\tf"', 'a"b\\c/d e f'),
        ('"\\q"', "q"),
        ('"\\UFFFFFFFF"', "\U0010ffff"),
        ("'", "'"),
        ('"a', '"a'),
        ("a: b", "a: b"),
    ],
)
def test_forms_of_a_name(written: str, name: str) -> None:
    """Plain, and in either kind of quotes with their own escapes."""
    records = read(f"submission_1:\n  :submitters:\n  - :name: {written}\n")
    assert records["submission_1"].submitters == [{"name": name}]


def test_lines_of_no_form_are_passed_over() -> None:
    """Whatever else the file holds, and in whatever encoding."""
    lines = [b"\xff\xfe\n", b"submission_1:\n", b"  - nothing\n", b"  :submitters:\n", b"    :name: Ada\n", b"?\n"]
    assert read_export(lines) == {"submission_1": ExportRecord([{"name": "Ada"}])}

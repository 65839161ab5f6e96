"""Student text is shown, and does nothing else."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.feedback.escape import cell, cut, log_safe, message, one_line, plain
from tests.support.results import PAYLOADS


class TestPlain:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("\x1b[2J", "\\x1b[2J"),
            ("FAILED\rPASSED", "FAILED\\rPASSED"),
            ("\x9b31m", "\\x9b31m"),
            ("a\u202eb", "a\\u202eb"),
            ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
            ("\U000e0041", "\\U000e0041"),
            ("a\u2028b", "a\\u2028b"),
            ("a\x00b\x7f", "a\\0b\\x7f"),
            ("a\ud800", "a\\ud800"),
            ("one\r\ntwo", "one\ntwo"),
            ("a\tb\nc", "a\tb\nc"),
            ("S = Q Kᵀ / √d_k, größe, 数, é", "S = Q Kᵀ / √d_k, größe, 数, é"),
        ],
        ids=ascii,
    )
    def test_shows_what_is_invisible(self, text: str, shown: str) -> None:
        """Control, bidi and zero-width characters are written out; formulas and languages stay."""
        assert plain(text) == shown

    @given(st.text(st.characters()))
    def test_leaves_nothing_that_acts(self, text: str) -> None:
        """Whatever goes in, only visible characters, newlines and tabs come out, and all of it is valid UTF-8."""
        shown = plain(text)
        shown.encode("utf-8")
        unseen = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        assert not [c for c in shown if unicodedata.category(c) in unseen and c not in "\n\t"]

    @given(st.text(st.characters()))
    def test_is_stable(self, text: str) -> None:
        """Escaping what is escaped already changes nothing."""
        assert plain(plain(text)) == plain(text)

    def test_stops_stacked_marks(self) -> None:
        """Accents piled up to cover the lines above are written out after the third."""
        assert plain("a" + "\u0301" * 5) == "a\u0301\u0301\u0301\\u0301\\u0301"

    def test_one_line(self) -> None:
        """A name is one line, whatever it contains."""
        assert one_line(" a\n b\t\r\nc ") == "a b c"


class TestMessage:
    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("No such file: '/tmp/softmark-x1/scratch/data.csv'", "No such file: 'data.csv'"),
            ("in file:///home/ada/work/scores.py", "in scores.py"),
            ("C:\\Users\\ada\\scores.py is missing", "scores.py is missing"),
            ("<object at 0x7f00deadbeef>", "<object at 0x…>"),
            (
                "divide by n/2, and/or 1/2/3; softmax(QKᵀ)/√d/2",
                "divide by n/2, and/or 1/2/3; softmax(QKᵀ)/√d/2",
            ),
            ("see https://pytorch.org/docs/stable", "see https://pytorch.org/docs/stable"),
        ],
    )
    def test_tells_nothing_about_the_machine(self, text: str, shown: str) -> None:
        """Paths become file names and addresses go; fractions and links are not paths."""
        assert message(text) == shown


class TestLogSafe:
    @pytest.mark.parametrize("text", ["::error::x", "a\n  ::add-mask::b", "##[group]x", "a ##[error]b"])
    def test_is_no_command(self, text: str) -> None:
        """A line that a CI system would obey is broken visibly."""
        safe = log_safe(text)
        assert "\\" in safe
        assert not any(line.strip().startswith("::") or "##[" in line for line in safe.splitlines())

    def test_leaves_operator_names(self) -> None:
        """aten::matmul is no command."""
        assert log_safe("forbidden: aten::matmul") == "forbidden: aten::matmul"


class TestCell:
    @pytest.mark.parametrize(
        "text",
        [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            " =1",
            "a\n=1",
            "a,=1",
            "a;@x",
            "＝1",
            "|x",
            "\n\n-2",
        ],
        ids=ascii,
    )
    def test_is_no_formula(self, text: str) -> None:
        """A cell that a spreadsheet would evaluate gets an apostrophe, also after a newline or comma."""
        file = io.StringIO()
        csv.writer(file, quoting=csv.QUOTE_ALL).writerow([cell(text)])
        (row,) = csv.reader(io.StringIO(file.getvalue()))
        pieces = row[0].replace(",", "\n").replace(";", "\n").split("\n")
        assert not [piece for piece in pieces if piece.strip()[:1] in tuple("=+-@|＝") and piece.strip()]

    def test_leaves_ordinary_text(self) -> None:
        """Names and sentences stay as they are."""
        assert cell("Ada Lovelace, 10 of 20; a-b = c") == "Ada Lovelace, 10 of 20; a-b = c"


class TestCut:
    @given(st.text(), st.integers(0, 60))
    def test_never_exceeds_the_limit(self, text: str, most: int) -> None:
        """Bytes are counted, characters are never halved, and what is cut says so."""
        short = cut(text, most)
        assert len(short.encode()) <= max(most, 0)
        assert short == text or short == "" or short.endswith(" … (cut here)")

    @pytest.mark.parametrize(
        ("text", "most", "short"),
        [
            ("x" * 40, 40, "x" * 40),
            ("x" * 41, 40, "x" * 25 + " … (cut here)"),
            ("ü" * 20, 40, "ü" * 20),
            ("ü" * 21, 40, "ü" * 12 + " … (cut here)"),
            ("x" * 20 + " " * 30, 40, "x" * 20 + " … (cut here)"),
        ],
    )
    def test_keeps_all_that_fits(self, text: str, most: int, short: str) -> None:
        """A text that just fits stays whole; of another one the end is a mark, with one space before it."""
        assert cut(text, most) == short


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_every_payload_is_printable(payload: str) -> None:
    """Nothing in the collection of hostile texts survives as a control character."""
    assert all(c.isprintable() or c in "\n\t" for c in plain(payload))

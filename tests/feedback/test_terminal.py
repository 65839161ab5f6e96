"""The terminal table: readable without colour, on a narrow terminal, in plain ASCII, and never obeying student text."""

import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from softmark.feedback.feedback import Audience
from softmark.feedback.terminal import show, show_checked
from softmark.records.result import Result
from softmark.records.verdict import Category, Code, Picture, Verdict
from tests.support.results import (
    LATE,
    LATE_LINE,
    PAYLOADS,
    WRONG_SCALE,
    failed,
    graded,
    handed_in,
    not_gradable,
    passed,
    second_zero,
    with_cases,
    with_student_text,
)


def printed(result: Result, width: int = 100, audience: Audience = Audience.STAFF, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n", write_through=True)
    show(result, Console(file=file, width=width, color_system=None, force_terminal=False), audience)
    return raw.getvalue().decode(encoding)


def coloured(result: Result) -> str:
    file = io.StringIO()
    show(result, Console(file=file, width=100, force_terminal=True, color_system="truecolor"), Audience.STAFF)
    return file.getvalue()


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


class TestShow:
    def test_graded(self) -> None:
        """A title, a line per part with its points and the one thing to know, and the failures in words."""
        assert lines(printed(graded(), audience=Audience.STUDENT)) == [
            "  From dot products to attention  ada_lovelace",
            "      part                          points",
            "  ────────────────────────────────────────────────────────────────────────────────────────────────",
            "  ✓   1  Queries, keys and values   2 / 2",
            "  ◐   2  The score matrix           1 / 5    Your scores are √d_k times too large.",
            "  ✗   3  Masks                      0 / 3    Look at your mask again.",
            "  ────────────────────────────────────────────────────────────────────────────────────────────────",
            "      total                         3 / 10",
            "  ◐ 2.1  The score matrix S = Q Kᵀ / √d_k.  1 of 3",
            "  │ 2 of 3 cases: all 35 numbers are wrong",
            "  │ worst at [2, 3]: got 5.123456, expected 1.7",
            "  │ Most likely: Your scores are √d_k times too large.",
            "  │ Hint: Divide by the square root of the key's width.",
            "  │ attention_scores.py:41  return Q @ K.mT",
            "  │               expected         got (* is wrong)",
            "  │           1          2           1.7*         2",
            "  │         0.5         -1   not finite*      -1.7*",
            "  │ The same in: 2.2 (0 of 2)",
            "  ✗ 3.2  A padding mask.  0 of 2",
            "  │ Look at your mask again.",
            "  │ The file was named Scores.PY; it was taken as attention_scores.py.",
            "  │ 1 test is not shown here.",
        ]

    def test_points_stand_below_each_other(self) -> None:
        """A total with more digits than any part has moves the parts, and not itself."""
        parts = (2.0, 4.25, 3.5)
        result = second_zero()
        earned = tuple(msgspec.structs.replace(p, earned=e) for p, e in zip(result.parts, parts, strict=True))
        text = lines(printed(msgspec.structs.replace(result, parts=earned, total=19.75)))
        assert {line.index(" / ") for line in text if " / " in line} == {text[-1].index(" / ")}

    def test_not_gradable(self) -> None:
        """A file that cannot be loaded has one clear reason, above the table."""
        text = lines(printed(not_gradable()))
        assert text[1:3] == [
            "  │ attention_scores.py could not be loaded: '(' was never closed",
            "  │ attention_scores.py:12  softmax(Q @ K.T",
        ]
        assert text[-1] == "      total                         0 / 10"

    def test_late(self) -> None:
        """Under the total stands what lateness costs, and the mark that is left."""
        text = lines(printed(handed_in(LATE)))
        total = text.index("      total                         3 / 10")
        assert text[total + 1 : total + 3] == [f"  │ {LATE_LINE}", "  │ mark: 1 of 10"]

    def test_second_zero(self) -> None:
        """Before anything ran the table is complete and says that nothing ran."""
        text = printed(second_zero())
        assert text.count("not run yet") == 3
        assert "0 / 10" in text

    @pytest.mark.parametrize("width", [20, 34, 46, 63, 64, 80, 200])
    def test_fits_the_terminal(self, width: int) -> None:
        """No line is wider than the terminal, and nothing that matters is lost on a narrow one."""
        text = printed(graded(), width=width)
        assert max(cell_len(line) for line in text.splitlines()) <= width
        words = " ".join(text.replace("│", " ").split())
        if width >= 34:
            assert "Your scores are √d_k times too large." in words
            assert "3 / 10" in words

    def test_plain_ascii(self) -> None:
        """Where the terminal knows only ASCII, signs become letters and formulas escapes; nothing fails."""
        for width in (20, 46, 64, 70, 100):
            printed(graded(), width=width, encoding="ascii")
        text = printed(graded(), encoding="ascii")
        assert "\n  ok | 1  Queries, keys and values | 2 / 2" in text
        assert "\n  x  | 3  Masks" in text
        assert "\n  | Most likely: Your scores are \\u221ad_k times too large." in text

    def test_colour_only_repeats(self) -> None:
        """With colour the same text is there, sign for sign."""
        from_colour = Console(file=io.StringIO(), width=100, record=True, force_terminal=True)
        show(graded(), from_colour, Audience.STAFF)
        assert lines(from_colour.export_text()) == lines(printed(graded()))

    def test_draws_small_matrices_only(self) -> None:
        """A large matrix is left to the page for staff, and that is said."""
        row = tuple(float(i) for i in range(12))
        wide = Picture(expected=(row,) * 12, got=(row,) * 12)
        verdict = WRONG_SCALE.__class__(category=Category.VALUE, fact="wrong", picture=wide)
        assert "(12 by 12 numbers, too large to be drawn here)" in printed(
            with_cases(second_zero(), 1, failed("a", verdict))
        )

    @pytest.mark.parametrize(
        ("rows", "columns", "width", "drawn"),
        [
            *((8, 3, 100, "beside"), (9, 3, 100, ""), (1, 4, 96, "beside"), (1, 4, 95, "beside")),
            *((2, 5, 68, "beside"), (2, 5, 67, "below"), (2, 5, 38, "below"), (2, 5, 37, ""), (1, 12, 79, "")),
        ],
    )
    def test_draws_what_fits(self, rows: int, columns: int, width: int, drawn: str) -> None:
        """At most eight rows: both matrices beside each other, or one below the other, within the width."""
        matrix = tuple(tuple(1234.5678 + i for i in range(columns)) for _ in range(rows))
        verdict = Verdict(category=Category.VALUE, fact="wrong", picture=Picture(expected=matrix, got=matrix))
        text = printed(with_cases(second_zero(), 1, failed("a", verdict)), width)
        heading = [line for line in lines(text) if "got (* is wrong)" in line]
        assert [("beside" if "expected" in line else "below") for line in heading] == ([drawn] if drawn else [])
        words = " ".join(text.replace("│", " ").split())
        assert (f"({rows} by {columns} numbers, too large to be drawn here)" in words) == (not drawn)
        assert max(cell_len(line) for line in text.splitlines()) <= width

    def test_matrices_below_each_other(self) -> None:
        """The heading of the second one stands between them, and wrong numbers have a star."""
        picture = Picture(expected=((1.25,) * 5, (2.5,) * 5), got=((1.25,) * 5, (2.5, 3.5, 2.5, 2.5, 2.5)))
        verdict = Verdict(category=Category.VALUE, fact="wrong", picture=picture)
        text = lines(printed(with_cases(second_zero(), 1, failed("a", verdict)), 64))
        start = next(i for i, line in enumerate(text) if line.endswith("expected"))
        drawn = [line.split()[1:] for line in text[start + 1 : start + 6]]
        assert drawn == [
            ["1.25"] * 5,
            ["2.5"] * 5,
            ["got", "(*", "is", "wrong)"],
            ["1.25"] * 5,
            ["2.5", "3.5*", "2.5", "2.5", "2.5"],
        ]

    def test_matrices_of_different_shapes(self) -> None:
        """Each number stands below the others of its column, and a row that only one of the two has is there."""
        picture = Picture(expected=((1.0, 2.0),), got=((1.0, 2.5), (12345.6, 0.00012345)))
        verdict = Verdict(category=Category.VALUE, fact="wrong", picture=picture)
        text = lines(printed(with_cases(second_zero(), 1, failed("a", verdict))))
        start = next(i for i, line in enumerate(text) if "got (* is wrong)" in line)
        expected, below = text[start + 1 : start + 3]
        assert expected == "  │           1          2            1        2.5*"
        assert below.split()[1:] == ["1.235e+04*", "0.0001234*"]
        assert below.index("*") == expected.index("1  ", 20) + 1


class TestChecked:
    """What a student reads after `softmark check`."""

    def test_counts_tests_and_not_points(self) -> None:
        """Each part has a sign, the number of its tests that are right, and the one thing to know."""
        text = lines(checked(graded()))
        assert text == [
            "  From dot products to attention  ada_lovelace",
            "      part                          tests",
            "  ────────────────────────────────────────────────────────────────────────────────────────────────",
            "  ✓   1  Queries, keys and values   2 of 2",
            "  ◐   2  The score matrix           1 of 5   see 2.1",
            "  ✗   3  Masks                      0 of 3   see 3.2",
            "  ◐ 2.1  The score matrix S = Q Kᵀ / √d_k.",
            "  │ 2 of 3 cases: all 35 numbers are wrong",
            "  │ Most likely: Your scores are √d_k times too large.",
            "  │ Hint: Divide by the square root of the key's width.",
            "  │ attention_scores.py:41  return Q @ K.mT",
            "  │               expected         got (* is wrong)",
            "  │           1          2           1.7*         2",
            "  │         0.5         -1   not finite*      -1.7*",
            "  │ The same in: 2.2",
            "  ✗ 3.2  A padding mask.",
            "  │ Look at your mask again.",
            "  │ The file was named Scores.PY; it was taken as attention_scores.py.",
            "  │ 1 test is not shown here.",
            "  │ Printed while the file was loaded: printed by the student",
            "  public tests: 3 of 10; hidden tests are run later",
        ]

    def test_what_is_not_written_is_not_done_yet(self) -> None:
        """A part of which nothing is written says that, and no section repeats it; one that waits says for what."""
        result = second_zero()
        for index, code, fact in (
            (0, Code.NOT_WRITTEN, "project is not done yet"),
            (1, Code.WAITS, "waits for part 1"),
        ):
            verdict = Verdict(Category.ERROR, fact, code=code)
            test = result.tests[index]
            cases = (msgspec.structs.replace(test.cases[0], verdicts=(verdict,)), *test.cases[1:])
            result = result.with_test(msgspec.structs.replace(test, cases=cases))
        text = lines(checked(result))
        assert [" ".join(line.split()) for line in text[3:6]] == [
            "· 1 Queries, keys and values 0 of 2 not done yet",
            "· 2 The score matrix 0 of 5 waits for part 1",
            "· 3 Masks 0 of 3 not run yet",
        ]
        assert not [line for line in text if line.startswith("  │ waits")]

    def test_a_wide_matrix_is_stacked(self) -> None:
        """Expected above got, on a terminal of 80 columns, and no number in a sentence besides."""
        row = tuple(i + 0.125 for i in range(8))
        verdict = Verdict(
            category=Category.VALUE,
            fact="1 of 8 values is wrong",
            where="worst at index [0, 7]: got 0.5, expected 7.125",
            picture=Picture(expected=(row,), got=((*row[:7], 0.5),)),
        )
        cases = (failed("a", verdict), passed("b"), passed("c"))
        shown = lines(checked(with_cases(second_zero(), 1, *cases), 80))
        assert [line.split() for line in shown if "6.125" in line or "(*" in line] == [
            ["│", *(f"{number:.4g}" for number in row)],
            ["│", "got", "(*", "is", "wrong)"],
            ["│", *(f"{number:.4g}" for number in row[:7]), "0.5*"],
        ]
        assert max(map(len, shown)) <= 80
        assert not [line for line in shown if "worst at" in line]

    def test_numbers_that_look_alike_are_told(self) -> None:
        """Four digits would show a wrong number as the right one, so the sentence about it stays."""
        where = "worst at index [0, 0]: got 1.00001, expected 1.0"
        picture = Picture(expected=((1.0, 2.0),), got=((1.00001, 2.0),))
        verdict = Verdict(category=Category.VALUE, fact="wrong", where=where, picture=picture)
        cases = (failed("a", verdict), passed("b"), passed("c"))
        assert f"  │ {where}" in lines(checked(with_cases(second_zero(), 1, *cases)))

    def test_of_a_large_matrix_the_wrong_part_is_shown(self) -> None:
        """There is no page to look it up in, so the rows and columns around the first wrong number are drawn."""
        row = tuple(float(i) for i in range(30))
        got = (*(row,) * 10, (*row[:25], -1.0, *row[26:]), row)
        verdict = Verdict(category=Category.VALUE, fact="wrong", picture=Picture(expected=(row,) * 12, got=got))
        cases = (failed("a", verdict), passed("b"), passed("c"))
        text = lines(checked(with_cases(second_zero(), 1, *cases), 80))
        assert [line for line in text if "-1*" in line]
        assert "  │ rows 4 to 11 and columns 12 to 29 of a 12 by 30 matrix" in text
        assert max(map(len, text)) <= 80


def checked(result: Result, width: int = 100) -> str:
    file = io.StringIO()
    show_checked(result, Console(file=file, width=width, color_system=None, force_terminal=False))
    return file.getvalue()


class TestRemark:
    def test_is_wrapped_and_not_cut(self) -> None:
        """A diagnosis that is longer than its column stands in the table as a whole."""
        words = [f"word{number}" for number in range(20)]
        table, _, _ = printed(with_student_text(" ".join(words)), 80).partition("total")
        assert all(word in table for word in words)


class TestHostileText:
    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_controls_nothing(self, payload: str) -> None:
        """No control character of a student's reaches the terminal."""
        assert all(c.isprintable() or c == "\n" for c in printed(with_student_text(payload)))

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_sends_no_escape_but_colours(self, payload: str) -> None:
        """With colour on, the only escapes are the colours we chose ourselves: no links, no titles."""
        text = coloured(with_student_text(payload))
        assert "\x1b]" not in text
        assert set(text.split("\x1b[")[1:]) == {piece for piece in text.split("\x1b[")[1:] if "m" in piece[:20]}

    def test_is_never_markup(self) -> None:
        """Square brackets are square brackets."""
        text = printed(with_student_text("[bold red]x[/bold red] [/] [link=a]"), width=200)
        assert "[bold red]x[/bold red] [/] [link=a]" in text

    @pytest.mark.parametrize("width", [30, 60, 100])
    def test_is_no_ci_command(self, width: int) -> None:
        """No line of the output begins with `::`, however it is wrapped, and `##[` never appears."""
        for padding in (0, *range(width - 8, width)):
            text = printed(with_student_text("x" * padding + "::error::forged\n::add-mask::a ##[group]b"), width)
            assert not [line for line in text.splitlines() if line.strip().startswith("::") or "##[" in line]

"""How a class went, on a terminal: the table, the bands of a large class, and the warning about one same reason."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import timedelta

import msgspec
import pytest
from rich.console import Console

from softmark.intake.model import COUNTED
from softmark.records.result import Adjustment, CaseResult, Graded, Outcome, Result, Status
from softmark.records.verdict import Category, Verdict
from softmark.report.class_view import MOST_NAMED, ClassSummary, SameReason, show_class
from tests.support.classroom import HOPPER, LOVELACE, SHANNON, TURING, class_of_five, one
from tests.support.results import (
    LATE_LINE,
    SPECS,
    failed,
    graded,
    handed_in,
    not_gradable,
    passed,
    second_zero,
    with_cases,
)


def printed(submissions: Sequence[Graded], encoding: str = "utf-8") -> list[str]:
    """Return the lines of the table of a class."""
    summary = ClassSummary()
    for submission in submissions:
        summary.add(submission)
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding, "backslashreplace", newline="\n", write_through=True)
    show_class(summary, Console(file=file, width=150, color_system=None, force_terminal=False))
    return [" ".join(line.split()) for line in raw.getvalue().decode(encoding).splitlines()]


def marked(mark: float) -> Result:
    """Return a result of 10 points with this mark."""
    result = with_cases(second_zero(), 0, passed())
    return msgspec.structs.replace(result, adjustment=Adjustment(mark - result.total, "By hand.", "", result.total))


ADJUSTED = "Lovelace, Ada 7.5 of 10 adjusted +5.5 points by the course's staff: By hand."


class TestSmallClass:
    def test_a_line_for_each(self) -> None:
        """Who, which mark, and what there is to know beside it."""
        *lines, mean = printed(class_of_five())
        assert lines == [
            "Lovelace, Ada 3 of 10 The file was named Scores.PY; it was taken as attention_scores.py.",
            f"Hopper, Grace 1 of 10 late {LATE_LINE}",
            "Noether, Emmy 0 of 10 not gradable attention_scores.py could not be loaded: '(' was never closed",
            "Turing, Alan, Shannon, Claude – grader error one process was left behind",
        ]
        assert mean == "mean 1.3 of 10, 3 submissions"

    def test_one(self) -> None:
        """The mean of one is in the singular; a submission that names nobody has its own name."""
        assert printed([one("ada", result=second_zero())]) == ["ada 0 of 10", "mean 0.0 of 10, 1 submission"]

    def test_nobody(self) -> None:
        """Without a mark there is no mean; without a known fault, the file has more."""
        (line,) = printed([one("s4", TURING, SHANNON, result=faulty("it broke"))])
        assert line == "Turing, Alan, Shannon, Claude – grader error one process was left behind; 2.2: it broke"
        (line,) = printed(
            [one("s4", HOPPER, result=msgspec.structs.replace(second_zero(), status=Status.GRADER_ERROR))]
        )
        assert line == "Hopper, Grace – grader error see results.json"

    def test_adjusted(self) -> None:
        """A decision of the staff is told; one that only counts what else was handed in is not."""
        assert printed([one("s1", LOVELACE, result=marked(7.5))])[0] == ADJUSTED
        counted = msgspec.structs.replace(second_zero(), notes=(COUNTED, "Something else."))
        assert printed([one("s1", LOVELACE, result=counted)])[0] == "Lovelace, Ada 0 of 10 Something else."

    def test_late_without_a_price(self) -> None:
        """Who is in time has no note on lateness."""
        on_time = handed_in(timedelta(hours=-1), second_zero())
        assert printed([one("s1", LOVELACE, result=on_time)])[0] == "Lovelace, Ada 0 of 10"


def faulty(why: str) -> Result:
    fault = Verdict(Category.GRADER, "The grader failed.", staff=why)
    case = CaseResult(id="", outcome=Outcome.GRADER_ERROR, verdicts=(fault,))
    result = with_cases(graded(), 2, case)
    assert result.status is Status.GRADER_ERROR
    return result


class TestLargeClass:
    MARKS = (*[0.0] * 20, *[0.99] * 4, *[1.0] * 8, 5.0, 9.99, 10.0, 10.0, *[3.0] * 10)

    def test_bands(self) -> None:
        """A bar for each tenth of the points; full marks on top, and the longest bar is that of most submissions."""
        lines = printed([one(f"s{n}", result=marked(mark)) for n, mark in enumerate(self.MARKS)])
        bands = [line.split() for line in lines[:11]]
        assert [(low, int(count), len("".join(bar))) for low, count, *bar in bands] == [
            ("10", 2, 3),
            ("9–", 1, 2),
            ("8–", 0, 0),
            ("7–", 0, 0),
            ("6–", 0, 0),
            ("5–", 1, 2),
            ("4–", 0, 0),
            ("3–", 10, 17),
            ("2–", 0, 0),
            ("1–", 8, 13),
            ("0–", 24, 40),
        ]
        mean = sum(self.MARKS) / len(self.MARKS)
        assert lines[11:] == [f"mean {mean:.1f} of 10, {len(self.MARKS)} submissions"]

    def test_more_than_full_marks(self) -> None:
        """Marks beyond the points are in the top band, which says so."""
        marks = (*self.MARKS, 12.0)
        lines = printed([one(f"s{n}", result=marked(mark)) for n, mark in enumerate(marks)])
        assert lines[0].startswith("10– 3 ")

    def test_ascii(self) -> None:
        """Where the terminal has no bars, the numbers are enough."""
        lines = printed([one(f"s{n}", result=marked(mark)) for n, mark in enumerate(self.MARKS)], "ascii")
        assert not any("\\u2588" in line for line in lines)
        assert lines[10] == "0\\u2013 24"

    @pytest.mark.parametrize(("number", "more"), [(1, 0), (MOST_NAMED, 0), (MOST_NAMED + 1, 1), (MOST_NAMED + 7, 7)])
    def test_who_was_not_graded(self, number: int, more: int) -> None:
        """Of a large class, only those are named that need a look, and of many the first."""
        right = [one(f"s{n}", result=marked(5)) for n in range(MOST_NAMED)]
        broken = [one(f"t{n:03}", result=not_gradable()) for n in range(number)]
        lines = printed([*right, *broken])
        start = lines.index("not graded:") + 1
        named = [line.split()[0] for line in lines[start:] if line.startswith("t")]
        assert named == [f"t{n:03}" for n in range(min(number, MOST_NAMED))]
        assert ([line for line in lines if "more: see grades.csv" in line]) == (
            [f"… and {more} more: see grades.csv"] if more else []
        )

    @pytest.mark.parametrize(("number", "named"), [(MOST_NAMED, True), (MOST_NAMED + 1, False)])
    def test_is_one_of_more_than_forty(self, number: int, named: bool) -> None:
        """Forty are named one by one; of more there are bands."""
        lines = printed([one(f"s{n}", result=marked(5)) for n in range(number)])
        assert any(line.startswith("s0 5 of 10 ") for line in lines) == named
        assert any("█" in line for line in lines) != named


def wrong(fact: str) -> Result:
    """Return a result in which every case of every test failed with this fact."""
    result = second_zero()
    for index, spec in enumerate(SPECS):
        result = with_cases(result, index, *(failed(case, Verdict(Category.ERROR, fact)) for case in spec.cases))
    return result


def counted(*results: Result) -> SameReason:
    same = SameReason()
    for result in results:
        same.add(result)
    return same


class TestSameReason:
    def test_is_told_with_an_example(self) -> None:
        """Names, numbers and file names do not make two reasons different; the first one is quoted."""
        reasons = ["`project` is not defined in hw.py", "`scores` is not defined in other.ipynb", "scores failed"]
        same = counted(*(wrong(f"{fact}; more {n}") for n, fact in enumerate(reasons[:2])), wrong(f"{reasons[0]}; x"))
        assert same.warning == f"3 of 3 submissions failed for one same reason: {reasons[0]}; more 0"
        assert same.most_failed

    @pytest.mark.parametrize(
        ("same", "others", "warned"), [(3, 2, True), (3, 3, False), (2, 0, False), (4, 3, True), (0, 3, False)]
    )
    def test_needs_more_than_half_and_three(self, same: int, others: int, warned: bool) -> None:
        """In a small class two alike are chance, and half of a class is not most of it."""
        found = counted(*[wrong("no file")] * same, *[graded()] * others)
        assert bool(found.warning) == warned
        assert found.most_failed == (same > others)
        assert (found.submissions, found.failed) == (same + others, same)

    def test_of_files_that_cannot_be_graded(self) -> None:
        """The reason of the file counts."""
        reason = "attention_scores.py could not be loaded: '(' was never closed"
        assert counted(*[not_gradable()] * 3).warning == f"3 of 3 submissions failed for one same reason: {reason}"

    def test_several_reasons_are_none(self) -> None:
        """A submission that failed in several ways, or in no way, says nothing about the class."""
        mixed = with_cases(wrong("no file"), 0, failed("", Verdict(Category.ERROR, "raised ValueError")))
        half = with_cases(wrong("no file"), 0, CaseResult(id=""))
        for result in (mixed, half, with_cases(wrong("no file"), 0, passed())):
            assert counted(*[result] * 3).warning == ""

    def test_the_graders_failure_counts_for_nothing(self) -> None:
        """Nor against most of the class."""
        found = counted(*[wrong("no file")] * 3, *[faulty("it broke")] * 9)
        assert (found.submissions, found.failed) == (3, 3)
        assert found.warning

    def test_of_functions_with_methods(self) -> None:
        """A class's methods are names, too."""
        one_way, other = wrong("mask.forward raised ValueError"), wrong("project raised ValueError")
        assert counted(one_way, one_way, other).warning.startswith("3 of 3")

    def test_who_is_gone_does_not_count(self) -> None:
        """What is not handed in any more has no part in the warning, and stays in the table."""
        summary = ClassSummary()
        for gone in (False, False, True):
            summary.add(one("s1", HOPPER, result=wrong("no file"), gone=gone))
        assert (summary.same.submissions, len(summary.rows)) == (2, 3)

"""The functions that a page shows beside an explanation: the student's own lines, cut out of the text."""

from __future__ import annotations

import pytest

from softmark.grading.listings import LONGEST_LINE, MOST_LINES, listings_of
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result
from softmark.records.verdict import Category, Code, CodeLine, Listing, Verdict
from tests.support.results import HOMEWORK, failed, second_zero, with_cases

FILE = "attention_scores.py"
SCORES = """\
import torch


@torch.no_grad()
def scores(Q, K):
    def inner(x):
        return x[9]

    # a comment
    S = torch.matmul(
        Q, K,
    )

    return inner(S)


class Late:
    def __init__(self):
        self.x = 1

    def forward(self, x):
        return x.y


def other():
    return 1
"""


def listings(source: str, *verdicts: Verdict) -> tuple[Listing, ...]:
    """The listings of a result whose part 2 (scores) fails with these verdicts."""
    result: Result = with_cases(second_zero(), 2, failed("", *verdicts))
    return listings_of(result, SubmittedFiles(FILE, {FILE: source.encode()}), HOMEWORK)


def raised_at(*lines: int) -> Verdict:
    frames = tuple(CodeLine(FILE, line, "", "") for line in lines)
    return Verdict(Category.ERROR, "raised ValueError", frames=frames, exception="ValueError")


WRONG = Verdict(Category.VALUE, "all 3 values are wrong")


class TestLines:
    def test_of_a_wrong_value(self) -> None:
        """The function of the part, as it was handed in, without a mark."""
        (listing,) = listings(SCORES, WRONG)
        assert (listing.numbers, listing.marked) == (tuple(range(5, 15)), ())
        assert listing.lines[0] == "def scores(Q, K):"
        assert listing.lines[-1] == "    return inner(S)"

    def test_of_an_exception(self) -> None:
        """The innermost `def` around the innermost line, with the line marked."""
        (listing,) = listings(SCORES, raised_at(14, 7))
        assert (listing.numbers, listing.marked) == ((6, 7), (7,))

    def test_of_an_exception_in_a_function_that_is_called(self) -> None:
        """The line of the part's own function is marked: the other function may be right."""
        (listing,) = listings(SCORES, raised_at(14, 26))
        assert listing.marked == (14,)

    def test_of_a_method(self) -> None:
        """A class is not shown whole."""
        (listing,) = listings(SCORES, raised_at(22))
        assert listing.lines == ("    def forward(self, x):", "        return x.y")

    def test_exceptions_in_one_function_are_one_listing(self) -> None:
        """With all lines marked."""
        (listing,) = listings(SCORES, raised_at(10), raised_at(14))
        assert listing.marked == (10, 14)

    @pytest.mark.parametrize("line", [0, 1, 27, 9999])
    def test_of_a_line_in_no_function(self, line: int) -> None:
        """A worker may name any line."""
        assert listings(SCORES, raised_at(line)) == ()

    @pytest.mark.parametrize("code", [Code.NOT_DEFINED, Code.NOT_WRITTEN, Code.WRONG_ARGUMENTS])
    def test_of_what_no_line_explains(self, code: Code) -> None:
        """A function that is not written needs no listing."""
        assert listings(SCORES, Verdict(Category.ERROR, "not there", code=code)) == ()

    def test_of_a_function_that_is_defined_twice(self) -> None:
        """Nobody knows which one is meant."""
        assert listings("def scores(Q):\n    pass\n\n\ndef scores(K):\n    pass\n", WRONG) == ()


class TestLongFunctions:
    BODY = "".join(f"    x = {n}{' ' * 500}#{'y' * 500}\n" for n in range(500))

    def test_without_a_line_show_their_beginning(self) -> None:
        """As many lines as a page has room for, each cut."""
        (listing,) = listings(f"def scores(Q, K):\n{self.BODY}", WRONG)
        assert listing.numbers == tuple(range(1, MOST_LINES + 1))
        assert max(map(len, listing.lines)) <= LONGEST_LINE

    def test_with_a_line_show_what_is_around_it(self) -> None:
        """The head of the function, and the lines before and after."""
        (listing,) = listings(f"def scores(Q, K):\n{self.BODY}", raised_at(300))
        assert listing.numbers[0] == 1
        assert 300 in listing.numbers
        assert len(listing.numbers) <= MOST_LINES
        assert (0, "") in listing.rows()

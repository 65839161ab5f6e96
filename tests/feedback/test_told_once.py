"""One cause in several parts is told once, and the others point to it; each listing is shown once."""

import json

import msgspec
import pytest

from softmark.course.pending import finished_test, pending
from softmark.feedback.documents import as_html, as_lines
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import encoded
from softmark.records.result import Provenance, Result, Submission
from softmark.records.verdict import Category, Cause, CodeLine, Listing, Verdict
from tests.support.results import HOMEWORK, failed, spec

LINE = CodeLine("hw.py", 3, "", "return Q @ K")
NAMED = Verdict(Category.VALUE, "all 35 values are wrong", causes=(Cause("no_scale", "Not scaled."),))
RAISED = Verdict(Category.ERROR, "scores: raised ValueError", exception="ValueError", frames=(LINE,))
OTHER = Verdict(Category.VALUE, "one value is wrong", causes=(Cause("no_mask", "Not masked."),))
PLAIN = Verdict(Category.VALUE, "all 35 values are wrong")


def result_of(*verdicts: Verdict, first: str = "visible", second: str = "visible", **hide: str) -> Result:
    """Return a result in which test 1.1 fails with the first verdict, and test 2.1 with each of the others."""
    one = spec("1.1", "One", 2, visibility=first, **hide)
    two = spec("2.1", "Two", 2, visibility=second)
    result = pending(HOMEWORK, (one, two), Submission(id="s1"), Provenance())
    return result.with_test(
        finished_test(one, {"": failed("", verdicts[0])}), finished_test(two, {"": failed("", *verdicts[1:])})
    )


def told(result: Result, audience: Audience = Audience.STUDENT) -> str:
    """Return what is said of test 2.1."""
    return as_lines(feedback_for(result, audience).sections[-1].blocks)


class TestOneCauseInSeveralParts:
    @pytest.mark.parametrize(("verdict", "what"), [(NAMED, "mistake"), (RAISED, "exception")])
    def test_the_second_part_points_to_the_first(self, verdict: Verdict, what: str) -> None:
        """On the page and on Gradescope the cause is told where it comes first."""
        result = result_of(verdict, verdict, verdict)
        said = f"The same {what} as in 1.1, of part 1: mend that first."
        assert told(result) == said
        assert json.loads(encoded(result))["tests"][1]["output"] == said

    def test_staff_read_everything(self) -> None:
        """What students are spared may matter to staff."""
        assert "raised ValueError" in told(result_of(RAISED, RAISED), Audience.STAFF)

    @pytest.mark.parametrize(
        ("first", "others"),
        [
            (PLAIN, (PLAIN,)),  # the same words for two causes
            (NAMED, (NAMED, PLAIN)),
            (NAMED, (NAMED, OTHER)),
            (NAMED, (RAISED, NAMED)),
            (NAMED, (RAISED,)),
            (RAISED, (msgspec.structs.replace(RAISED, exception="KeyError"),)),
            (RAISED, (msgspec.structs.replace(RAISED, frames=(msgspec.structs.replace(LINE, line=4),)),)),
        ],
    )
    def test_another_cause_is_told(self, first: Verdict, others: tuple[Verdict, ...]) -> None:
        """Nobody is sent to another part for something that is not told there."""
        assert "The same" not in told(result_of(first, *others))

    @pytest.mark.parametrize(
        ("first", "second", "points"),
        [
            ("visible", "after_published", True),
            ("after_due_date", "after_published", True),
            ("after_published", "visible", False),
            ("hidden", "visible", False),
        ],
    )
    def test_nobody_is_sent_to_what_is_not_shown(self, first: str, second: str, points: bool) -> None:
        """The other test is published no later."""
        assert ("The same" in told(result_of(NAMED, NAMED, first=first, second=second))) is points

    def test_nobody_is_sent_to_a_test_that_hides_its_errors(self) -> None:
        """Such a test tells no cause."""
        assert "The same" not in told(result_of(NAMED, NAMED, hide_errors="Think."))


class TestListings:
    """The student's function beside the explanation."""

    def listed(self, *verdicts: Verdict, text: str = "return Q @ K") -> Result:
        listing = Listing("1", "hw.py", (1, 3), ("def scores(Q, K):", f"    {text}"), (3,))
        return msgspec.structs.replace(result_of(*verdicts), listings=(listing,))

    def test_the_line_is_marked(self) -> None:
        """The function's lines with their numbers, a sign where lines are left out, and the line once."""
        page = as_html(feedback_for(self.listed(RAISED, PLAIN), Audience.STUDENT))
        body = page[page.index("<body>") :]
        assert 'class="line marked"><span class="number">3 ✗</span><span class="text">    return Q @ K<' in body
        assert "⋮" in body
        assert body.count("return Q @ K") == 1

    def test_is_shown_with_its_part_alone(self) -> None:
        """Each function is shown once, in the part in which it failed."""
        sections = feedback_for(self.listed(RAISED, PLAIN), Audience.STUDENT).sections
        assert [len(section.listings) for section in sections] == [1, 0]

    def test_is_shown_in_one_test_of_its_part(self) -> None:
        """A function that fails in two ways stands beside the first of them only."""
        tests = spec("1.1", "One", 1), spec("1.2", "Other", 1)
        result = pending(HOMEWORK, tests, Submission(id="s1"), Provenance())
        verdicts = RAISED, msgspec.structs.replace(RAISED, exception="KeyError")
        finished = (finished_test(one, {"": failed("", said)}) for one, said in zip(tests, verdicts, strict=True))
        listings = self.listed(RAISED, PLAIN).listings
        result = msgspec.structs.replace(result.with_test(*finished), listings=listings)
        sections = feedback_for(result, Audience.STUDENT).sections
        assert [len(section.listings) for section in sections] == [1, 0]

    @pytest.mark.parametrize("text", ["</span></div><script>alert(1)</script>", "x = 1\x1b[31m", "\u202eevil", "&lt;"])
    def test_is_text(self, text: str) -> None:
        """A line is never markup, and nothing in it is invisible."""
        page = as_html(feedback_for(self.listed(RAISED, text=text), Audience.STUDENT))
        assert "<script" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page

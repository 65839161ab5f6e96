"""Which failures of public tests are put down to an earlier part."""

from __future__ import annotations

import msgspec
import pytest

from softmark.check.earlier_parts import EarlierParts
from softmark.course.homework import Part
from softmark.intake.model import SubmittedFiles
from softmark.records.result import CaseResult, Outcome, TestResult
from softmark.records.verdict import Category, Cause, Code, CodeLine, Picture, Verdict

HW = "hw.py"
SOURCE = (
    b"def one(x):\n    return x\n\nclass Three:\n    def forward(self, x):\n        return two(one(x))\n\nhelp = 0\n"
)
PARTS = (Part("1", "one", ""), Part("2", "two", ""), Part("3", "Three.forward, extra", ""), Part("4", "four", ""))
BUILDS_ON = {"1": set[str](), "2": {"1"}, "3": {"1", "2", "4"}, "4": {"1", "2"}}
EARLIER = EarlierParts(PARTS, BUILDS_ON, SubmittedFiles(HW, {HW: SOURCE}))
VALUE = Verdict(
    Category.VALUE,
    "all numbers are wrong",
    where="at [0]",
    causes=(Cause("slip", "You slipped."),),
    picture=Picture(((1.0,),), ((2.0,),)),
)
ONE_FOLLOWS = "may follow from part 1 (one): mend that first"


def line(number: int) -> CodeLine:
    return CodeLine(HW, number, "", "a line")


def a_test(part: str, *verdicts: Verdict, outcome: Outcome = Outcome.FAILED) -> TestResult:
    cases = (CaseResult(id="a", outcome=outcome, verdicts=verdicts), CaseResult(id="b", outcome=Outcome.PASSED))
    return TestResult(part, part, part, "", 1.0, "visible", (), None, False, cases, outcome=outcome)


def told(verdict: Verdict, *failing: str, part: str = "3") -> Verdict:
    """Return what is said of a failure of a part, if these parts fail, too."""
    test = a_test(part, verdict)
    explained = EARLIER.explained(test, [a_test(number, VALUE) for number in failing] + [test])
    assert msgspec.structs.replace(explained, cases=test.cases) == test
    assert explained.cases[1] == test.cases[1]
    (said,) = explained.cases[0].verdicts
    return said


class TestOrigin:
    @pytest.mark.parametrize(
        ("part", "failing", "said"),
        [
            ("3", ["1"], ONE_FOLLOWS),
            ("3", ["2"], "may follow from part 2 (two): mend that first"),
            ("3", ["1", "2"], ONE_FOLLOWS),
            ("4", ["1", "3"], ONE_FOLLOWS),
            ("3", ["4"], None),
            ("2", ["4", "3"], None),
            ("1", ["2", "3"], None),
            ("3", [], None),
        ],
        ids=["first", "second", "one behind the other", "not built on", "later", "later ones", "nothing", "none fails"],
    )
    def test_is_the_earliest_failing_part_that_it_builds_on(
        self, part: str, failing: list[str], said: str | None
    ) -> None:
        """A wrong answer may follow from an earlier part that fails, if the part builds on it, directly or not."""
        found = told(VALUE, *failing, part=part)
        assert found == (VALUE if said is None else Verdict(Category.VALUE, said, code=Code.FOLLOWS))

    def test_may_be_several(self) -> None:
        """Parts that do not build on each other are named together."""
        parts = (*PARTS[:2], Part("3", "three", ""), Part("4", "four", ""))
        earlier = EarlierParts(
            parts, {"1": (), "2": (), "3": (), "4": ("1", "2", "3")}, SubmittedFiles(HW, {HW: SOURCE})
        )
        failed = [a_test(number, VALUE) for number in "1234"]
        (two, three) = (earlier.explained(failed[3], [*failed[:n], failed[3]]) for n in (2, 3))
        assert two.verdicts[0].fact == "may follow from parts 1 (one) and 2 (two): mend those first"
        assert three.verdicts[0].fact == "may follow from parts 1 (one), 2 (two) and 3 (three): mend those first"

    @pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.NOT_RUN, Outcome.GRADER_ERROR])
    def test_must_have_failed(self, outcome: Outcome) -> None:
        """A part that passed, was not run, or whose test is broken explains nothing; nor is such a test explained."""
        failed, other = a_test("3", VALUE), a_test("1", VALUE, outcome=outcome)
        assert EARLIER.explained(failed, [other, failed]) == failed
        assert not EARLIER.fails("1", [other, failed])
        waiting = a_test("3", VALUE, outcome=outcome)
        assert EARLIER.explained(waiting, [a_test("1", VALUE), waiting]) == waiting

    def test_parts_to_run_first(self) -> None:
        """They are those before it that it builds on, in their order."""
        assert [EARLIER.built_on_by(part.number) for part in PARTS] == [[], ["1"], ["1", "2"], ["1", "2"]]


class TestFacts:
    """What stays of a failure that may follow from part 1."""

    def test_exception(self) -> None:
        """An exception and its line stay, without a name and a picture."""
        raised = msgspec.structs.replace(VALUE, category=Category.ERROR, fact="raised ValueError", frames=(line(2),))
        said = told(raised, "1")
        assert said == msgspec.structs.replace(
            raised, fact=f"raised ValueError; it {ONE_FOLLOWS}", causes=(), picture=None
        )

    def test_the_same_is_said_once(self) -> None:
        """Two wrong answers of one case have nothing more to tell apart."""
        test = a_test("3", VALUE, msgspec.structs.replace(VALUE, fact="one number is wrong"))
        assert len(EARLIER.explained(test, [a_test("1", VALUE), test]).verdicts) == 1

    @pytest.mark.parametrize("code", [Code.NOT_DEFINED, Code.WRONG_ARGUMENTS, Code.NOT_WRITTEN])
    @pytest.mark.parametrize("function", ["Three", "Three.forward", "extra", "one", "help", ""])
    def test_function_of_its_own(self, code: Code, function: str) -> None:
        """No earlier part can be why a function of the part itself is missing, or takes other arguments."""
        failure = Verdict(Category.ERROR, "as it is", code=code, function=function)
        stays = code != Code.NOT_WRITTEN and function.partition(".")[0] in ("Three", "extra")
        assert (told(failure, "1") == failure) == stays

    @pytest.mark.parametrize(
        ("lines", "stays"),
        [
            ((6,), True),
            ((6, 2), False),
            ((6, 1), False),
            ((2, 6), True),
            ((2, 4), True),
            ((2,), False),
            ((), False),
        ],
    )
    def test_shortcut(self, lines: tuple[int, ...], stays: bool) -> None:
        """A shortcut is the part's own if the innermost function that the homework asks for is one of the part."""
        failure = Verdict(Category.FORBIDDEN, "uses a shortcut", frames=tuple(map(line, lines)))
        assert (told(failure, "1") == failure) == stays

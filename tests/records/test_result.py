"""The Result: valid from second zero, added up exactly, and the same after a round trip through JSON."""

import json
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.course.homework import Homework, Part
from softmark.course.pending import finished_test, pending
from softmark.course.testspecs import Column, TestSpec
from softmark.records.result import (
    CaseResult,
    Excerpt,
    LeaderboardEntry,
    Outcome,
    Provenance,
    Result,
    Status,
    Submission,
    Submitter,
    decode,
    encode,
)
from softmark.records.verdict import Category, Cause, CodeLine, Picture, Verdict

HOMEWORK = Homework(
    name="scores",
    root=Path("/course"),
    title="Scores",
    file="scores.py",
    points=Fraction(5),
    parts=(
        Part("1", "scores", "The score matrix", points=Fraction(3)),
        Part("2", "mask", "Masks", points=Fraction(2)),
    ),
    forbidden=(),
    limits={},
)


def spec(name: str, part: str, weight: Fraction, cases: tuple[str, ...], **changes: Any) -> TestSpec:
    values: dict[str, Any] = {
        "name": name,
        "nodeid": f"t.py::{name}",
        "number": f"{part}.1",
        "part": part,
        "title": name,
        "weight": weight,
        "visibility": "visible",
        "tags": ("shapes",),
        "hide_errors": None,
        "leaderboard": None,
        "all_or_nothing": False,
        "cases": cases,
        "file": "t.py",
        "line": 3,
    }
    return TestSpec(**{**values, **changes})


SPECS = (
    spec("test_scores", "1", Fraction(3), ("one", "five", "nine")),
    spec("test_mask", "2", Fraction(2), ("",), leaderboard=Column("speed", "asc")),
)


def second_zero() -> Result:
    return pending(HOMEWORK, SPECS, Submission(id="s1", name="Ada", file="scores.py", sha256="ab"))


def case(name: str, share: Fraction, outcome: Outcome = Outcome.PASSED) -> CaseResult:
    return CaseResult(id=name, outcome=outcome, share=str(share))


class TestPending:
    def test_lists_every_test_with_nothing_earned(self) -> None:
        """The first result has all tests and maxima, not run, at 0."""
        result = second_zero()
        assert [test.name for test in result.tests] == ["test_scores", "test_mask"]
        assert [test.max_score for test in result.tests] == [3.0, 2.0]
        assert {test.outcome for test in result.tests} == {Outcome.NOT_RUN}
        assert {test.score for test in result.tests} == {0.0}
        assert [part.points for part in result.parts] == [3.0, 2.0]
        assert (result.total, result.max_score, result.finished) == (0.0, 5.0, False)

    def test_is_valid_json(self) -> None:
        """It can be written before anything else has happened."""
        assert decode(encode(second_zero())) == second_zero()


class TestFinishedTest:
    def test_scores_by_its_cases(self) -> None:
        """Each case earns its own share of the weight, and two of three cases earn two thirds."""
        cases = {
            "one": case("one", Fraction(1)),
            "five": case("five", Fraction(0), Outcome.FAILED),
            "nine": case("nine", Fraction(1)),
        }
        test = finished_test(SPECS[0], cases)
        assert test.score == 2.0
        assert [result.score for result in test.cases] == [1.0, 0.0, 1.0]
        assert test.outcome is Outcome.FAILED

    def test_keeps_the_declared_order_of_cases(self) -> None:
        """Cases are listed as declared, in whatever order they finished."""
        cases = {name: case(name, Fraction(1)) for name in ("nine", "one", "five")}
        assert [result.id for result in finished_test(SPECS[0], cases).cases] == ["one", "five", "nine"]

    def test_a_missing_case_is_not_run(self) -> None:
        """A test whose third case was never reached is not finished, and keeps what it earned."""
        cases = {name: case(name, Fraction(1)) for name in ("one", "five")}
        test = finished_test(SPECS[0], cases)
        assert (test.outcome, test.score) == (Outcome.NOT_RUN, 2.0)

    def test_partial_share_is_no_pass(self) -> None:
        """A case that ran through but earned half has not passed."""
        test = finished_test(SPECS[1], {"": case("", Fraction(1, 2))})
        assert (test.outcome, test.score) == (Outcome.FAILED, 1.0)

    def test_fills_the_leaderboard(self) -> None:
        """A value goes into the test's own column; no value, no entry."""
        cases = {"": case("", Fraction(1))}
        entry = LeaderboardEntry(name="speed", value=3.5, order="asc")
        assert finished_test(SPECS[1], cases, 3.5).leaderboard == entry
        assert finished_test(SPECS[1], cases).leaderboard is None


class TestWithTest:
    def test_adds_up_parts_and_total(self) -> None:
        """Each finished test moves its part and the total, and nothing else."""
        result = second_zero().with_test(finished_test(SPECS[1], {"": case("", Fraction(1))}, 3.0))
        assert [part.earned for part in result.parts] == [0.0, 2.0]
        assert result.total == 2.0
        assert result.leaderboard == (LeaderboardEntry(name="speed", value=3.0, order="asc"),)
        assert not result.finished

    def test_a_grader_fault_is_the_results_fault(self) -> None:
        """When the grader failed in one test, the whole result is not the student's mark."""
        faulty = finished_test(SPECS[1], {"": case("", Fraction(0), Outcome.GRADER_ERROR)})
        result = second_zero().with_test(faulty)
        assert result.status is Status.GRADER_ERROR
        repaired = result.with_test(finished_test(SPECS[0], {}))
        assert repaired.status is Status.GRADER_ERROR

    def test_faults_are_for_staff(self) -> None:
        """The words for staff go before those for students; the same fault of several tests is said once."""
        told, untold = (Verdict(category=Category.GRADER, fact="not yours", staff=staff) for staff in ("it broke", ""))
        of_student = Verdict(category=Category.VALUE, fact="wrong", staff="seed 7")
        cases = {
            SPECS[0]: {"one": (told,), "five": (untold, of_student)},
            SPECS[1]: {"": (told,)},
        }
        tests = [
            finished_test(
                spec,
                {
                    name: CaseResult(id=name, outcome=Outcome.GRADER_ERROR, share="0", verdicts=verdicts)
                    for name, verdicts in of_test.items()
                },
            )
            for spec, of_test in cases.items()
        ]
        result = msgspec.structs.replace(second_zero().with_test(*tests), staff_notes=("the engine ended",))
        assert result.faults == ("the engine ended", "1.1, 2.1: it broke", "1.1: not yours")

    def test_refuses_a_test_that_is_not_listed(self) -> None:
        """The list of tests is fixed before any student code runs."""
        stranger = finished_test(spec("test_new", "1", Fraction(1), ("",)), {})
        with pytest.raises(KeyError, match="test_new"):
            second_zero().with_test(stranger)


texts = st.text(st.characters(), max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
cells = st.none() | numbers
frames = st.builds(CodeLine, file=texts, line=st.integers(0, 10**6), function=texts, text=texts)
causes = st.builds(Cause, name=texts, says=texts, hint=texts)
rows = st.lists(st.lists(cells, max_size=3).map(tuple), max_size=3).map(tuple)
verdicts = st.builds(
    Verdict,
    category=st.sampled_from(Category),
    fact=texts,
    where=texts,
    staff=texts,
    causes=st.lists(causes, max_size=2).map(tuple),
    frames=st.lists(frames, max_size=2).map(tuple),
    picture=st.none() | st.builds(Picture, expected=rows, got=rows, caption=texts),
    subtest=texts,
)
cases = st.builds(
    CaseResult,
    id=st.sampled_from(["one", "five", "nine"]),
    outcome=st.sampled_from(Outcome),
    share=st.fractions(0, 1, max_denominator=7).map(str),
    verdicts=st.lists(verdicts, max_size=2).map(tuple),
    carried=st.lists(texts, max_size=2).map(tuple),
    unfollowed=st.lists(texts, max_size=2).map(tuple),
    given=st.lists(texts, max_size=2).map(tuple),
    same_slip_as=st.lists(texts, max_size=2).map(tuple),
    seconds=numbers,
)


class TestJson:
    @given(st.lists(cases, max_size=3), texts, texts, texts, numbers)
    def test_round_trip_loses_nothing(
        self, some: list[CaseResult], reason: str, note: str, printed: str, seconds: float
    ) -> None:
        """Whatever a result holds, lone surrogates a student printed included, comes back as it was."""
        test = finished_test(SPECS[0], {result.id: result for result in some})
        result = msgspec.structs.replace(
            second_zero().with_test(test),
            reason=reason,
            notes=(note,),
            printed=Excerpt(stdout=printed),
            seconds=seconds,
            provenance=Provenance(isolation="full", torch="2.13.0"),
        )
        data = encode(result)
        assert decode(data) == result
        assert encode(decode(data)) == data
        json.loads(data, parse_constant=pytest.fail)

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
    def test_refuses_what_json_cannot_say(self, number: float) -> None:
        """A number that strict JSON has no word for is refused when it arises, not when it is written."""
        with pytest.raises(ValueError, match=r"CaseResult\.seconds must be finite"):
            CaseResult(id="", seconds=number)
        with pytest.raises(ValueError, match=r"Picture\.got must be finite"):
            Picture(expected=(), got=((1.0, number),))

    def test_replaces_lone_surrogates(self) -> None:
        """Half of a surrogate pair becomes a question mark instead of losing the whole result."""
        assert Verdict(category=Category.ERROR, fact="a\ud800b").fact == "a?b"
        assert CaseResult(id="", carried=("\udfff",)).carried == ("?",)

    @pytest.mark.parametrize(
        "change",
        [{"colour": "red"}, {"total": "20"}, {"status": "passed"}, {"tests": None}, {"total": None}],
        ids=str,
    )
    def test_is_strict(self, change: dict[str, Any]) -> None:
        """A file with an unknown key or a wrong type is no result."""
        data = json.loads(encode(second_zero())) | change
        with pytest.raises(msgspec.ValidationError):
            decode(json.dumps(data))

    def test_what_older_journals_know_of_a_submission_is_read(self) -> None:
        """Journals kept who handed in, and when, as texts before it was part of a Submission."""
        known = (
            b'{"students":[{"id":"1001","name":"Ada","email":"ada@example.org"}],"origin":"class/ada",'
            b'"submitted_at":"2026-03-02T12:00:00+01:00","due_at":null,"late":false,"earlier":["class/ada/1"]}'
        )
        assert msgspec.json.decode(known, type=Submission) == Submission(
            students=(Submitter("1001", "Ada", "ada@example.org"),),
            origin="class/ada",
            submitted_at=datetime(2026, 3, 2, 12, tzinfo=timezone(timedelta(hours=1))),
            late=False,
            earlier=("class/ada/1",),
        )

    def test_is_frozen(self) -> None:
        """Nobody changes a result behind another's back."""
        with pytest.raises(AttributeError):
            second_zero().total = 20.0  # type: ignore[misc]

"""Whose fault a failure is, and what a test earns: hidden tests of every kind through the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import LeaderboardEntry, Outcome, Result, Status
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, named, write_course
from tests.support.sandboxes import sandbox

HIDDEN = '''
TEN = ["agree", "assert", "wrong"]


@number("1.1")
@weight(1)
@visibility("after_published")
@tags("shapes", "numbers")
@hide_errors("Look again.")
def test_all_decorators(student):
    """All that can be declared.

    More, for the instructor.
    """
    agree(student.one, lambda x: x + 1, 1.0)


@number("1.2")
@weight(1)
@pytest.mark.parametrize("x", [1.0, 2.0, 3.0, 4.0])
def test_cases(student, x):
    """Four cases."""
    agree(student.one, lambda x: x + 1, x)


@number("1.3")
@weight(1)
@pytest.mark.all_or_nothing
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_all_or_nothing(student, x):
    """All or nothing."""
    agree(student.one, lambda x: x + 1, x)


@number("1.4")
@weight(1)
def test_subtests(student, subtests):
    """Subtests."""
    for x in (1.0, 2.0, 3.0, 4.0):
        with subtests.test("of four", x=x):
            agree(student.one, lambda x: x + 1, x)


@number("1.5")
@weight(1)
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_cases_of_subtests(student, subtests, x):
    """Subtests of cases."""
    for plus in (0.0, 10.0):
        with subtests.test(plus=plus):
            agree(student.one, lambda x: x + 1, x + plus)


@number("1.6")
@partial_credit(4)
def test_partial(student, set_score=None):
    """Partial credit."""
    set_score(student.one(2.0))


@number("1.7")
@partial_credit(1)
def test_partial_without_default(student, set_score):
    """Partial credit that is set before a failure."""
    set_score(0.5)
    assert student.one(1.0) == 7.0, "it is not seven"


@number("1.8")
@leaderboard("speed", "asc")
def test_leaderboard(student, set_leaderboard_value=None):
    """Leaderboard."""
    set_leaderboard_value(student.one(2.0))


@number("1.9")
@weight(1)
def test_assert(student):
    """A plain assert."""
    assert student.one(1.0) == 2.0
    assert student.one(2.0) == 3.0, "it is not three"


@number("1.12")
@weight(0)
@visibility("after_published")
def test_secret_assert(student):
    """A plain assert that not everybody sees."""
    assert student.one(2.0) == 3.0, "nor here"


@pytest.fixture
def prepared(student):
    return student.one(2.0)


@number("1.10")
@weight(1)
def test_fixture(prepared):
    """A fixture that calls the student."""
    assert prepared == 3.0


@number("1.11")
@weight(1)
def test_caught(student):
    """A test that tries something first."""
    try:
        student.absent(1.0)
    except Failed:
        pass
    assert student.one(1.0) == 2.0
'''
RIGHT = "def one(x):\n    return x + 1\n"
HALF_RIGHT = "def one(x):\n    return x + 1 if x < 2 else x - 1\n"
RAISES = "def one(x):\n    raise ValueError(f'secret {x}')\n"


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def results(place: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, ...]:
    """A right, a half right, and a wrong submission, graded by one engine."""
    root = write_course(tmp_path_factory.mktemp("course"), HIDDEN, points=[13])
    return tuple(grade(root, place, RIGHT, HALF_RIGHT, RAISES))


@pytest.fixture
def right(results: tuple[Result, ...]) -> Result:
    return results[0]


@pytest.fixture
def half_right(results: tuple[Result, ...]) -> Result:
    return results[1]


@pytest.fixture
def wrong(results: tuple[Result, ...]) -> Result:
    return results[2]


class TestDecorators:
    """gradescope-utils' seven decorators, through the engine."""

    def test_are_all_in_the_result(self, right: Result) -> None:
        """Number, weight, visibility, tags, hidden errors and title arrive as they were declared."""
        test = named(right, "test_all_decorators")
        assert (test.number, test.part, test.title, test.max_score, test.visibility, test.tags, test.hide_errors) == (
            "1.1", "1", "All that can be declared.", 1.0, "after_published", ("shapes", "numbers"), "Look again.",
        )  # fmt: skip

    def test_are_listed_in_the_order_of_their_numbers(self, wrong: Result) -> None:
        """1.9 comes before 1.10, whatever fails."""
        assert [test.number for test in wrong.tests] == [f"1.{n}" for n in range(1, 13)]

    def test_the_leaderboard_is_filled(self, right: Result, half_right: Result, wrong: Result) -> None:
        """What a test sets is in its column, and nothing of an earlier submission is."""
        assert right.leaderboard == (LeaderboardEntry(name="speed", value=3.0, order="asc"),)
        assert half_right.leaderboard == (LeaderboardEntry(name="speed", value=1.0, order="asc"),)
        assert wrong.leaderboard == ()


class TestMarks:
    """What a test earns."""

    def test_right_is_all_that_can_be_had(self, right: Result) -> None:
        """Every test passes, but for those that set a lower score themselves."""
        scores = {test.name: test.score for test in right.tests if test.score != test.max_score}
        assert scores == {"test_partial": 3.0, "test_partial_without_default": 0.5}
        assert right.total == 11.5

    @pytest.mark.parametrize(
        ("name", "score"),
        [
            ("test_all_decorators", 1.0),
            ("test_cases", 0.25),
            ("test_all_or_nothing", 0.0),
            ("test_subtests", 0.25),
            ("test_cases_of_subtests", 0.25),
            ("test_partial", 1.0),
            ("test_partial_without_default", 0.5),
            ("test_assert", 0.0),
            ("test_fixture", 0.0),
            ("test_caught", 1.0),
        ],
    )
    def test_half_right_is_shared(self, name: str, score: float, half_right: Result) -> None:
        """Cases share a test's weight equally, subtests share a case's, and a score that was set overrides."""
        assert named(half_right, name).score == score

    def test_wrong_is_nothing(self, wrong: Result) -> None:
        """A function that always raises earns nothing, but for a score that was set before it was called."""
        assert {test.name: test.score for test in wrong.tests if test.score} == {"test_partial_without_default": 0.5}
        assert wrong.status is Status.GRADED

    def test_the_total_is_the_sum(self, results: tuple[Result, ...]) -> None:
        """Tests, parts and total agree."""
        for result in results:
            assert result.total == sum(test.score for test in result.tests) == sum(p.earned for p in result.parts)


class TestFailures:
    """What a student is told, and where."""

    def test_name_the_subtest(self, half_right: Result) -> None:
        """A failing subtest is named as the test names it."""
        (case,) = named(half_right, "test_subtests").cases
        assert [verdict.subtest for verdict in case.verdicts] == [f"[of four] (x={x})" for x in (2.0, 3.0, 4.0)]

    def test_an_assert_with_words(self, half_right: Result) -> None:
        """A plain assert in a test is the student's failure; its words come first where numbers may be shown."""
        (verdict,) = named(half_right, "test_assert").verdicts
        assert (verdict.category, verdict.fact) == ("value", "it is not three")
        (verdict,) = named(half_right, "test_secret_assert").verdicts
        assert (verdict.category, verdict.fact) == ("value", "a check of this test does not hold")
        assert verdict.where.splitlines()[0] == "nor here"

    def test_in_a_fixture_are_the_tests_own(self, wrong: Result) -> None:
        """A fixture that calls the student's function fails as the test would."""
        test = named(wrong, "test_fixture")
        assert test.outcome is Outcome.FAILED
        assert [verdict.fact for verdict in test.verdicts] == ["one: raised ValueError"]

    def test_say_nothing_that_the_student_wrote(self, wrong: Result) -> None:
        """What an exception says is no fact."""
        facts = {verdict.fact for test in wrong.tests for verdict in test.verdicts}
        assert facts == {"one: raised ValueError"}


FAULTS = {
    "raises": ("raise KeyError('k')", "the hidden test or the reference raised KeyError: 'k' (", "test_hidden.py:"),
    "reference": (
        "agree(student.one, lambda x: x / 0, 1.0)",
        "the hidden test or the reference raised ZeroDivisionError: float division by zero (",
        "test_hidden.py:",
    ),
    "skips": ("pytest.skip('later')", "the hidden test skipped itself (later)", "must run"),
    "xfails": ("pytest.xfail('later')", "the hidden test skipped itself (later)", "must run"),
    "sends a set": ("student.one({1})", "the hidden test passes a value that cannot be sent: ", "a set"),
    "sets NaN": ("set_score(float('nan'))", "called set_score(nan): it must be a finite number", "test_hidden.py:"),
    "sets too much": ("set_score(2.5)", "called set_score(2.5), above 2", "test_hidden.py:"),
    "sets less than nothing": ("set_score(-1)", "called set_score(-1): it must not be negative", ""),
    "sets a text": ("set_score('2')", "called set_score('2'): it must be a number", ""),
    "imports": ("import nowhere", "raised ModuleNotFoundError: No module named 'nowhere'", ""),
}
FAULTY = '''
@number("1")
@partial_credit(2)
def test_faulty(student, set_score=None):
    """Faulty."""
    {fault}


@number("2")
@weight(2)
def test_sound(student):
    """Sound."""
    assert student.one(1.0) == 2.0
'''


class TestGraderErrors:
    """What is wrong with a test is not the student's zero."""

    @pytest.mark.parametrize(("fault", "says", "place_named"), FAULTS.values(), ids=FAULTS)
    def test_are_told_as_such(self, fault: str, says: str, place_named: str, place: Sandbox, tmp_path: Path) -> None:
        """That test alone is in error, staff read why, the others are graded, and the result says so."""
        root = write_course(tmp_path, FAULTY.format(fault=fault), points=[2, 2])
        (result,) = grade(root, place, RIGHT)
        faulty, sound = result.tests
        assert (faulty.outcome, faulty.score) == (Outcome.GRADER_ERROR, 0.0)
        assert (sound.outcome, sound.score) == (Outcome.PASSED, 2.0)
        (verdict,) = faulty.verdicts
        assert verdict.fact == "this test could not be judged because of an error of the grader, not of yours"
        assert says in verdict.staff
        assert place_named in verdict.staff
        assert result.status is Status.GRADER_ERROR

    @pytest.mark.parametrize("where", ["setup", "teardown"])
    def test_in_a_fixture(self, where: str, place: Sandbox, tmp_path: Path) -> None:
        """A fixture that breaks is the grader's error, before the test or after it."""
        body = {"setup": "    1 / 0\n    yield", "teardown": "    yield\n    1 / 0"}[where]
        hidden = (
            f"@pytest.fixture\ndef broken():\n{body}\n\n\n"
            '@number("1")\n@weight(2)\ndef test_x(student, broken):\n    """X."""\n'
        )
        (result,) = grade(write_course(tmp_path, hidden, points=[2]), place, RIGHT)
        assert result.tests[0].outcome is Outcome.GRADER_ERROR
        assert "ZeroDivisionError" in result.tests[0].verdicts[0].staff

    def test_in_a_subtest(self, place: Sandbox, tmp_path: Path) -> None:
        """One subtest that breaks, among others that do not, makes the test an error."""
        hidden = (
            '@number("1")\n@weight(2)\ndef test_x(student, subtests):\n    """X."""\n'
            "    with subtests.test():\n        assert student.one(1.0) == 2.0\n"
            "    with subtests.test():\n        1 / 0\n"
        )
        (result,) = grade(write_course(tmp_path, hidden, points=[2]), place, RIGHT)
        assert result.tests[0].outcome is Outcome.GRADER_ERROR

    @pytest.mark.parametrize(("weight", "score"), [("0.3", "0.1 + 0.2"), ("0.7", "0.8 - 0.1"), ("0.1", "1.1 - 1")])
    def test_is_no_sum_of_floats(self, weight: str, score: str, place: Sandbox, tmp_path: Path) -> None:
        """0.1 + 0.2 is a bit more than 0.3: that is full marks, and no fault of the test's."""
        hidden = (
            f'@number("1")\n@partial_credit({weight})\ndef test_x(student, set_score=None):\n    """X."""\n'
            f"    set_score({score})\n"
        )
        (result,) = grade(write_course(tmp_path, hidden, points=[float(weight)]), place, RIGHT)
        assert result.status is Status.GRADED
        assert result.tests[0].score == float(weight)

    @pytest.mark.parametrize("value", ["float('inf')", "[1]", "'x' * 1000"])
    def test_of_the_leaderboard(self, value: str, place: Sandbox, tmp_path: Path) -> None:
        """A value that no leaderboard can show is the grader's error."""
        hidden = (
            '@number("1")\n@weight(2)\n@leaderboard("speed")\n'
            f'def test_x(student, set_leaderboard_value=None):\n    """X."""\n    set_leaderboard_value({value})\n'
        )
        (result,) = grade(write_course(tmp_path, hidden, points=[2]), place, RIGHT)
        assert result.tests[0].outcome is Outcome.GRADER_ERROR
        assert "set_leaderboard_value" in result.tests[0].verdicts[0].staff
        assert result.leaderboard == ()

"""results.json: exactly the documented format, strict, complete, and within the platform's limits."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.course.digest import software_of
from softmark.feedback.results_json import (
    MOST_BYTES_OF_FILE,
    MOST_BYTES_OF_MESSAGE,
    InvalidResults,
    as_dict,
    check,
    encoded,
    write_results,
)
from softmark.records.result import Adjustment, CaseResult, Outcome, Result, Status
from softmark.records.verdict import Category, Verdict
from tests.support.results import (
    HIDDEN_NUMBER,
    LATE,
    LATE_LINE,
    PAYLOADS,
    STAFF_SECRET,
    TEST_HIDDEN_BY,
    failed,
    graded,
    handed_in,
    not_gradable,
    passed,
    second_zero,
    with_cases,
    with_student_text,
)

SCHEMA = json.loads(Path(__file__).with_name("results.schema.json").read_text(encoding="utf-8"))


def read(result: Result) -> dict[str, Any]:
    """The file as a strict reader sees it, checked against the schema."""
    data = encoded(result)
    check(data, result)
    content: dict[str, Any] = json.loads(data, parse_constant=pytest.fail)
    jsonschema.validate(content, SCHEMA)
    return content


def entry(result: Result, number: str) -> dict[str, Any]:
    (found,) = [test for test in read(result)["tests"] if test["number"] == number]
    return dict(found)


class TestFormat:
    @pytest.mark.parametrize("result", [second_zero(), graded(), not_gradable()], ids=["zero", "graded", "broken"])
    def test_lists_every_test_once_in_order(self, result: Result) -> None:
        """At every moment all tests are there, in the fixed order, with the fixed maxima."""
        content = read(result)
        assert [test["number"] for test in content["tests"]] == ["1.1", "2.1", "2.2", "3.1", "3.2"]
        assert [test["max_score"] for test in content["tests"]] == [2, 3, 2, 1, 2]
        assert content["score"] == sum(test["score"] for test in content["tests"])

    def test_of_an_entry(self) -> None:
        """One entry has all that the documentation names for it."""
        assert entry(graded(), "2.1") == {
            "number": "2.1",
            "name": "The score matrix S = Q Kᵀ / √d_k.",
            "score": 1.0,
            "max_score": 3.0,
            "status": "failed",
            "output": "2 of 3 cases: all 35 numbers are wrong\n"
            f"worst at [2, 3]: got {HIDDEN_NUMBER}, expected 1.7\n"
            "Most likely: Your scores are √d_k times too large.\n"
            "Hint: Divide by the square root of the key's width.\n"
            "attention_scores.py:41: return Q @ K.mT",
            "output_format": "text",
            "visibility": "visible",
            "tags": ["scale"],
            "extra_data": {
                "part": "2",
                "outcome": "failed",
                "cases": 3,
                "cases_passed": 1,
                "categories": ["value"],
                "causes": ["Your scores are √d_k times too large."],
                "carried": [],
                "given": [],
                "same_slip_as": [],
            },
        }

    def test_of_the_top(self) -> None:
        """Time is a number, output is plain text, and standard output is for instructors."""
        content = read(graded())
        assert content["execution_time"] == 3.25
        assert content["stdout_visibility"] == "hidden"
        assert content["output_format"] == "text"
        assert content["leaderboard"] == [{"name": "operations", "value": 42.0, "order": "asc"}]
        assert content["extra_data"] == {
            "schema": graded().schema,
            "homework": "attention_scores",
            "submission": "s17",
            "status": "graded",
            "finished": True,
            "sha256": "0" * 64,
            "isolation": "full",
            "device": graded().provenance.device,
            **software_of(graded().provenance),
            "tests_sha256": "",
            "reference_sha256": "",
        }
        assert (content["test_output_format"], content["test_name_format"]) == ("text", "text")
        assert "tags" not in content["tests"][0]
        assert content["output"] == (
            "The file was named Scores.PY; it was taken as attention_scores.py.\n"
            "1 test is not shown here.\n"
            "1 of 5 tests is shown when the grades are published."
        )

    @pytest.mark.parametrize("visibility", ["after_due_date", "after_published"])
    def test_says_when_tests_are_shown(self, visibility: str) -> None:
        """Tests that are shown later are counted, so that nobody takes the shown ones for all."""
        when = {"after_due_date": "when the due date has passed", "after_published": "when the grades are published"}
        tests = tuple(msgspec.structs.replace(test, visibility=visibility) for test in graded().tests[:2])
        others = tuple(msgspec.structs.replace(test, visibility="visible") for test in graded().tests[2:])
        content = read(msgspec.structs.replace(graded(), tests=(*tests, *others), notes=()))
        assert content["output"] == f"2 of 5 tests are shown {when[visibility]}."

    def test_of_a_run_that_goes_on(self) -> None:
        """Until the end the top says that tests may be missing, and a test's own line says whether it has run."""
        content = read(with_cases(second_zero(), 0, passed()))
        assert content["output"].splitlines()[-1] == (
            "The grading has not finished: a test that was not run yet has 0 points here."
        )
        assert [test["output"] for test in content["tests"]] == ["Right.", *["Not run yet."] * 4]
        silent = with_cases(graded(), 0, CaseResult(id="", outcome=Outcome.FAILED))
        assert entry(silent, "1.1")["output"] == "Not right."

    def test_of_second_zero(self) -> None:
        """Before anything ran, every test is at 0 and says so."""
        content = read(second_zero())
        assert {test["output"] for test in content["tests"]} == {"Not run yet."}
        assert content["score"] == 0
        assert "has not finished" in content["output"]

    def test_of_a_file_that_cannot_be_loaded(self) -> None:
        """The reason stands once at the top, and each test points to it."""
        content = read(not_gradable())
        assert content["output"].startswith("attention_scores.py could not be loaded: '(' was never closed\n")
        assert {test["output"] for test in content["tests"]} == {"Not run: the reason is at the top."}


class TestLate:
    def test_is_an_entry_that_only_takes(self) -> None:
        """Lateness has a line of its own with no points to give, so that the maxima still add up; the score is less."""
        content = read(handed_in(LATE))
        assert content["score"] == 1
        assert sum(test["max_score"] for test in content["tests"]) == 10
        late = content["tests"][-1]
        assert (late["number"], late["score"], late["max_score"], late["status"]) == ("late", -2, 0, "failed")
        assert late["output"] == LATE_LINE
        assert (late["name"], late["visibility"]) == ("Time of submission", "visible")
        assert late["extra_data"] == {
            "submitted_at": "2026-03-04T02:59:00+00:00",
            "due_at": "2026-03-02T23:59:00+00:00",
            "seconds_late": 27 * 3600,
            "days": 2,
            "excluded": False,
        }

    def test_that_costs_nothing_is_passed(self) -> None:
        """Within the grace period, the entry says so and takes nothing; in time, there is none."""
        late = read(handed_in(timedelta(minutes=30)))["tests"][-1]
        assert (late["number"], late["score"], late["status"]) == ("late", 0, "passed")
        assert read(handed_in(timedelta(0)))["tests"][-1]["number"] == "3.2"

    def test_never_makes_a_negative_score(self) -> None:
        """The score stops at 0; the entry does not tell how little there was to lose, hidden tests included."""
        content = read(handed_in(timedelta(days=7)))
        assert content["score"] == 0
        assert content["tests"][-1]["score"] == -7

    def test_within_grace_is_told(self) -> None:
        """Nothing lost is said, too, and looks like nothing lost."""
        late = read(handed_in(timedelta(minutes=5)))["tests"][-1]
        assert (late["score"], late["status"]) == (0, "passed")
        assert "within the 1 hour of grace: no points taken off" in late["output"]

    def test_in_time_has_no_entry(self) -> None:
        """In time, there is nothing to say."""
        assert len(read(handed_in(timedelta(0)))["tests"]) == 5

    def test_is_there_from_the_first_second(self) -> None:
        """Before anything ran the file is valid, late or not."""
        assert read(handed_in(LATE, second_zero()))["score"] == 0


def adjusted(points: float, result: Result | None = None) -> Result:
    decision = Adjustment(points=points, why="So.", made="2026-03-05T10:00:00+00:00", total=3)
    return msgspec.structs.replace(result or graded(), adjustment=decision)


class TestByHand:
    @pytest.mark.parametrize(
        ("points", "status", "score", "said"),
        [
            (1.5, "passed", 4.5, "+1.5 points by the course's staff: So."),
            (-1, "failed", 2, "−1 point by the course's staff: So."),
        ],
    )
    def test_is_an_entry_like_lateness(self, points: float, status: str, score: float, said: str) -> None:
        """More points look like something won, fewer like something lost; the maxima still add up."""
        content = read(adjusted(points))
        assert content["score"] == score
        assert sum(test["max_score"] for test in content["tests"]) == 10
        entry = content["tests"][-1]
        assert (entry["number"], entry["score"], entry["max_score"]) == ("staff", points, 0)
        assert (entry["status"], entry["output"]) == (status, said)


class TestPolicy:
    def test_hidden_numbers_only_in_visible_tests(self) -> None:
        """What is shown later carries no hidden number, nor does anything carry what is for staff."""
        data = encoded(graded()).decode()
        assert data.count(HIDDEN_NUMBER) == 1
        assert STAFF_SECRET not in data
        assert "left behind" not in data
        assert "printed by the student" not in data

    def test_hide_errors(self) -> None:
        """A test that hides its errors gives the sentence, and no category or cause beside it."""
        hidden = entry(graded(), "3.2")
        assert hidden["output"] == TEST_HIDDEN_BY
        assert hidden["extra_data"].keys() == {"part", "outcome", "cases", "cases_passed"}

    def test_top_gives_no_points_away(self) -> None:
        """What is not shown yet is announced, without its points."""
        top = read(graded())["output"]
        assert "1 of 5 tests is shown when the grades are published." in top
        assert "1 test is not shown here." in top
        assert " points" not in top

    def test_grader_error(self) -> None:
        """The grader's own failure says that it is not the student's."""
        faulty = CaseResult(id="", outcome=Outcome.GRADER_ERROR)
        result = with_cases(graded(), 2, faulty)
        assert result.status is Status.GRADER_ERROR
        assert "not your fault" in read(result)["output"]
        assert "not your fault" in entry(result, "2.2")["output"]

    def test_grader_error_where_nothing_can_be_graded(self) -> None:
        """A test that was not run is not called wrong: its entry points to the reason, as ever."""
        result = msgspec.structs.replace(not_gradable(), status=Status.GRADER_ERROR)
        assert {test["output"] for test in read(result)["tests"]} == {"Not run: the reason is at the top."}

    def test_notes_for_staff_are_their_first_lines(self) -> None:
        """A traceback may hold hidden numbers, and students can read this file where staff publish it."""
        notes = ("it broke\nTraceback: 5.125\n", "\n left behind \n")
        result = msgspec.structs.replace(handed_in(LATE), staff_notes=notes)
        assert "staff_notes" not in as_dict(result)["extra_data"]
        assert as_dict(result, for_staff=True)["extra_data"]["staff_notes"] == ["it broke", "left behind"]


class TestHostileText:
    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_is_only_text(self, payload: str) -> None:
        """Whatever a student gets into a result, the file is valid and its texts are visible characters."""
        content = read(with_student_text(payload))
        texts = [content["output"], *(test["output"] for test in content["tests"])]
        assert all(c.isprintable() or c in "\n\t" for text in texts for c in text)

    @given(st.text(st.characters(), max_size=200))
    def test_is_always_strict_json(self, text: str) -> None:
        """Any text at all, lone surrogates and NUL included, leaves the file valid."""
        read(with_student_text(text))


class TestLimits:
    def test_of_a_message(self) -> None:
        """No message is longer than 2 kB, and what was cut says so."""
        content = read(with_student_text("ü" * 100_000))
        for text in (content["output"], *(test["output"] for test in content["tests"])):
            assert len(text.encode()) <= MOST_BYTES_OF_MESSAGE
        assert "(cut here)" in content["output"]

    def test_of_the_file(self) -> None:
        """With very many tests messages get shorter until the file fits, and no score is touched."""
        result = with_cases(graded(), 1, *(failed(case, *_long()) for case in "abc"))
        tests = tuple(msgspec.structs.replace(result.tests[1], name=f"test_{i}", number=f"2.1.{i}") for i in range(500))
        many = msgspec.structs.replace(result, tests=tests, total=500 * tests[0].score)
        content = read(many)
        assert len(json.dumps(as_dict(many), ensure_ascii=False).encode()) > MOST_BYTES_OF_FILE
        assert len(encoded(many)) <= MOST_BYTES_OF_FILE
        assert [test["score"] for test in content["tests"]] == [test.score for test in tests]
        assert all(test["output"].endswith("(cut here)") for test in content["tests"])

    @pytest.mark.parametrize("number", [1_500, 2_000, 5_000])
    def test_of_the_file_of_thousands_of_tests(self, number: int) -> None:
        """With so many tests that no room is left for messages, the file fits all the same, and has every score."""
        result = handed_in(LATE, with_cases(graded(), 1, *(failed(case, *_long()) for case in "abc")))
        result = adjusted(1, result)
        names = [(f"test_{i}", f"2.1.{i}") for i in range(number)]
        tests = tuple(msgspec.structs.replace(result.tests[1], name=name, number=place) for name, place in names)
        many = msgspec.structs.replace(result, tests=tests, total=number * tests[0].score)
        data = encoded(many, for_staff=True)
        assert len(data) <= MOST_BYTES_OF_FILE
        check(data, many)
        content = json.loads(data)
        assert [entry["number"] for entry in content["tests"][-3:]] == [f"2.1.{number - 1}", "late", "staff"]
        assert [entry["output"] for entry in content["tests"][-2:]] == [
            LATE_LINE,
            "+1 point by the course's staff: So.",
        ]
        jsonschema.validate({**content, "tests": content["tests"][-4:]}, SCHEMA)


def _long() -> tuple[Verdict, ...]:
    return tuple(Verdict(category=Category.VALUE, fact=f"{i} " + "x" * 400, where="y" * 400) for i in range(3))


class TestCheck:
    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ('"score": 1.0', '"score": NaN', "not strict JSON"),
            ('"score": 1.0', '"score": 1.5', "^results.json does not list every test once, with its score$"),
            ('"number": "2.1"', '"number": "1.1"', "does not list every test once"),
            ('"score": 3.0,', '"score": 4.0,', "^the total 4.0 is not the sum of the scores$"),
            ("{", "", "not strict JSON"),
        ],
    )
    def test_refuses_what_the_result_does_not_say(self, old: str, new: str, says: str) -> None:
        """A file that is damaged in any of these ways is not put in place."""
        text = encoded(graded()).decode()
        assert old in text
        with pytest.raises(InvalidResults, match=says):
            check(text.replace(old, new, 1).encode(), graded())

    def test_refuses_a_total_that_is_not_the_sum(self) -> None:
        """A result whose own total is wrong is a fault of the grader, found before anyone reads it."""
        wrong = msgspec.structs.replace(graded(), total=4.0)
        with pytest.raises(InvalidResults, match="not the sum"):
            check(encoded(wrong), wrong)

    def test_refuses_a_mark_without_its_deduction(self) -> None:
        """A late submission cannot be written as if it were in time."""
        late = handed_in(LATE)
        in_time = encoded(graded())
        with pytest.raises(InvalidResults, match="does not list every test once"):
            check(in_time, late)

    def test_refuses_a_score_above_the_maximum(self) -> None:
        """No test can have more than its maximum."""
        result = with_cases(second_zero(), 0, passed())
        above = msgspec.structs.replace(result.tests[0], score=2.5)
        wrong = result.with_test(above)
        with pytest.raises(InvalidResults, match=r"test 1\.1 has the score 2\.5 of 2\.0"):
            check(encoded(wrong), wrong)


class TestWriteResults:
    def test_is_valid_at_every_moment(self, tmp_path: Path) -> None:
        """From the first second to the last, the file at the path is a complete result."""
        path = tmp_path / "results.json"
        for result in (second_zero(), with_cases(second_zero(), 0, passed()), graded()):
            write_results(result, path)
            check(path.read_bytes(), result)

    def test_keeps_what_was_there_if_something_is_wrong(self, tmp_path: Path) -> None:
        """A result that contradicts itself never replaces one that does not."""
        path = tmp_path / "results.json"
        write_results(graded(), path)
        with pytest.raises(InvalidResults):
            write_results(msgspec.structs.replace(graded(), total=9.0), path)
        check(path.read_bytes(), graded())

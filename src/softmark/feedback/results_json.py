"""Writes a Result as Gradescope's results.json, exactly as its documentation describes the format.

Each test function has one entry. Order and maxima of the entries are fixed before the first test. Lateness, and an
adjustment by the staff, are one more entry each, with no points to earn.

An entry holds only what a student may read; staff find the rest in the run's standard output, which only they see.
Texts are declared as plain text, and are shortened as far as the platform's limits demand; scores are never cut.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from softmark.course.digest import software_of
from softmark.feedback.documents import as_lines
from softmark.feedback.escape import cut, message, one_line
from softmark.feedback.feedback import Audience, Feedback, blocks_of_test, feedback_for
from softmark.feedback.safe_files import replace_file
from softmark.feedback.told_once import told_before
from softmark.records.points import total
from softmark.records.result import Outcome, Result, Status, TestResult

MOST_BYTES_OF_MESSAGE = 2_000
MOST_BYTES_OF_NAME = 400
_BYTES_OF_SHORT_NAME = 40
MOST_BYTES_OF_FILE = 800_000
PLAIN_TEXT = "text"
LATE, STAFF = "late", "staff"
_NEEDED = ("number", "score", "max_score", "status", "output", "visibility")
"""The fields that stay in each test's entry, besides a short name, if there are too many tests for more."""


class InvalidResults(Exception):
    """Refuses to write a results.json that is not valid: a fault of the grader."""


def write_results(result: Result, path: Path, *, for_staff: bool = False) -> None:
    """Replace the file at `path` by this result, after the new content has been checked.

    `for_staff` adds what only staff are told, where only they and their scripts will read it.
    """
    replace_file(path, encoded(result, for_staff=for_staff), lambda data: check(data, result))


def encoded(result: Result, *, for_staff: bool = False) -> bytes:
    """Return the content of the file: messages as long as its limit allows; of thousands of tests only the marks."""
    longest = MOST_BYTES_OF_MESSAGE
    data = _dump(as_dict(result, longest, for_staff=for_staff))
    if len(data) > MOST_BYTES_OF_FILE:
        silent = as_dict(result, 0, for_staff=for_staff)
        if len(_dump(silent)) > MOST_BYTES_OF_FILE:
            return _bare(silent)
    while len(data) > MOST_BYTES_OF_FILE:
        longest //= 2
        data = _dump(as_dict(result, longest, for_staff=for_staff))
    return data


def as_dict(result: Result, longest_message: int = MOST_BYTES_OF_MESSAGE, *, for_staff: bool = False) -> dict[str, Any]:
    """Return the file's content as plain values."""
    told = told_before(result)
    staff = {"staff_notes": list(_staff_notes(result, longest_message))} if for_staff else {}
    return {
        "score": result.mark,
        "execution_time": round(result.seconds, 3),
        "output": cut(_top(result), longest_message),
        "output_format": PLAIN_TEXT,
        "test_output_format": PLAIN_TEXT,
        "test_name_format": PLAIN_TEXT,
        "stdout_visibility": "hidden",
        "tests": [
            *(_entry(test, result, longest_message, told.get(test.name)) for test in result.tests),
            *_late(result),
            *_by_hand(result),
        ],
        "leaderboard": [
            {"name": one_line(entry.name), "value": _leaderboard_value(entry.value), "order": entry.order}
            for entry in result.leaderboard
        ],
        "extra_data": {**_provenance(result), **staff},
    }


def check(data: bytes, result: Result) -> None:
    """Read the file as a strict parser does. Raise InvalidResults unless it says what the result says."""
    try:
        content = json.loads(data.decode("utf-8"), parse_constant=_no_such_number)
    except ValueError as error:
        raise InvalidResults(f"results.json is not strict JSON: {error}") from error
    scores = [(entry["number"], entry["score"], entry["max_score"]) for entry in content["tests"]]
    tests = [(one_line(test.number), test.score, test.max_score) for test in result.tests]
    others = [*_late(result), *_by_hand(result)]
    if scores != [*tests, *((entry["number"], entry["score"], entry["max_score"]) for entry in others)]:
        raise InvalidResults("results.json does not list every test once, with its score")
    for number, score, most in tests:
        if not (math.isfinite(most) and 0 <= score <= most):
            raise InvalidResults(f"test {number} has the score {score} of {most}")
    by_hand = [score for number, score, _ in scores if number == STAFF]
    without = total(score for number, score, _ in scores if number != STAFF)
    if content["score"] != max(0.0, total((max(0.0, result.kept, without), *by_hand))):
        raise InvalidResults(f"the total {content['score']} is not the sum of the scores")


def _entry(test: TestResult, result: Result, longest: int, told: TestResult | None) -> dict[str, Any]:
    entry = {
        "number": one_line(test.number),
        "name": cut(one_line(test.title), MOST_BYTES_OF_NAME),
        "score": test.score,
        "max_score": test.max_score,
        "status": "passed" if test.outcome is Outcome.PASSED else "failed",
        "output": cut(_output(test, result, told), longest),
        "output_format": PLAIN_TEXT,
        "visibility": test.visibility,
        "extra_data": _facts(test),
    }
    if test.tags:
        entry["tags"] = [one_line(tag) for tag in test.tags]
    return entry


def _late(result: Result) -> list[dict[str, Any]]:
    """Return lateness as an entry with a negative score and a maximum of 0, so that the sum of all maxima stays.

    The entry has the whole deduction of the policy, even if less was earned. Less would tell the points of hidden
    tests.
    """
    late = result.lateness
    if late is None or not late.line:
        return []
    return [
        {
            "number": LATE,
            "name": "Time of submission",
            "score": -late.deduction if late.deduction else 0.0,
            "max_score": 0.0,
            "status": "failed" if late.deduction else "passed",
            "output": one_line(late.line),
            "output_format": PLAIN_TEXT,
            "visibility": "visible",
            "extra_data": {
                "submitted_at": late.submitted_at,
                "due_at": late.due_at,
                "seconds_late": late.seconds,
                "days": late.days,
                "excluded": late.excluded,
            },
        }
    ]


def _by_hand(result: Result) -> list[dict[str, Any]]:
    """Return the decision of the staff as an entry like that of lateness."""
    adjustment = result.adjustment
    if adjustment is None:
        return []
    return [
        {
            "number": STAFF,
            "name": "By the course's staff",
            "score": adjustment.points,
            "max_score": 0.0,
            "status": "passed" if adjustment.points > 0 else "failed",
            "output": cut(one_line(adjustment.line), MOST_BYTES_OF_MESSAGE),
            "output_format": PLAIN_TEXT,
            "visibility": "visible",
            "extra_data": {"made": adjustment.made, "total": adjustment.total},
        }
    ]


def _output(test: TestResult, result: Result, told: TestResult | None) -> str:
    said = as_lines(blocks_of_test(test, Audience.STUDENT, told))
    if said:
        return said
    if test.outcome is Outcome.PASSED:
        return "Right."
    if result.status is Status.NOT_GRADABLE or result.reason:
        return "Not run: the reason is at the top."
    return "Not run yet." if test.outcome is Outcome.NOT_RUN else "Not right."


def _top(result: Result) -> str:
    """Return the words about the whole submission. They name no points, which would give away tests not shown yet."""
    feedback: Feedback = feedback_for(result, Audience.STUDENT)
    lines = [as_lines(feedback.headline), as_lines(feedback.notes)]
    later = {
        "after_due_date": "when the due date has passed",
        "after_published": "when the grades are published",
    }
    for visibility, when in later.items():
        kept = sum(test.visibility == visibility for test in result.tests)
        if kept:
            lines.append(f"{kept} of {len(result.tests)} tests {'is' if kept == 1 else 'are'} shown {when}.")
    if not result.finished and not result.reason:
        lines.append("The grading has not finished: a test that was not run yet has 0 points here.")
    return "\n".join(line for line in lines if line)


def _facts(test: TestResult) -> dict[str, Any]:
    """Return facts for scripts that read results: no more than a student is told in words."""
    facts: dict[str, Any] = {
        "part": test.part,
        "outcome": str(test.outcome),
        "cases": len(test.cases),
        "cases_passed": sum(case.outcome is Outcome.PASSED for case in test.cases),
    }
    if test.hide_errors is None:
        facts["categories"] = sorted({verdict.category for verdict in test.verdicts})
        facts["causes"] = sorted({cause.says for verdict in test.verdicts for cause in verdict.causes})
        facts["carried"] = [one_line(name) for name in test.carried]
        facts["given"] = [one_line(part) for part in test.given]
        facts["same_slip_as"] = [one_line(part) for part in test.same_slip_as]
    return facts


def _provenance(result: Result) -> dict[str, Any]:
    graded_with = result.provenance
    return {
        "schema": result.schema,
        "homework": result.homework,
        "submission": one_line(result.submission.id),
        "status": str(result.status),
        "finished": result.finished,
        "sha256": result.submission.sha256,
        "isolation": graded_with.isolation,
        "device": graded_with.device,
        **software_of(graded_with),
        "tests_sha256": graded_with.tests_sha256,
        "reference_sha256": graded_with.reference_sha256,
    }


def _staff_notes(result: Result, longest: int) -> Iterator[str]:
    """Yield the first line of each note. A traceback may hold hidden numbers, and is in standard output instead."""
    about_time = result.lateness.staff_note if result.lateness else ""
    by_hand = result.adjustment.staff_note(result.total) if result.adjustment else ""
    for note in (*result.staff_notes, about_time, by_hand):
        if note:
            yield cut(one_line(note.strip().partition("\n")[0]), longest)


def _leaderboard_value(value: float | str) -> float | str:
    return message(value) if isinstance(value, str) else value


def _dump(content: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=1)


def _bare(content: dict[str, Any]) -> bytes:
    """Return the content with as little about each test as the platform needs."""

    def shortened(entry: dict[str, Any]) -> dict[str, Any]:
        if entry["number"] in (LATE, STAFF):
            return entry
        return {**{key: entry[key] for key in _NEEDED}, "name": cut(entry["name"], _BYTES_OF_SHORT_NAME)}

    return msgspec.json.encode({**content, "tests": [shortened(entry) for entry in content["tests"]]})


def _no_such_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of strict JSON")

"""`softmark gradescope`: the platform's folder goes in, results.json comes out, whatever was handed in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from softmark.platforms.gradescope import seconds_of_a_submission
from tests.support.autograder import ROOT, Autograder, valid_results

REFERENCE = (ROOT / "reference/attention_scores.py").read_text()
MIXED = (ROOT / "samples/attention_scores/mixed.py").read_text()
RULES = """
[late]
percent_per_day = 10

[attempts]
at_most = 2
hours = 24
"""


@pytest.fixture(scope="module")
def autograder(tmp_path_factory: pytest.TempPathFactory) -> Autograder:
    """Set up, with a late policy and a limit of attempts."""
    made = Autograder.with_homework(tmp_path_factory.mktemp("autograder"), more=RULES)
    made.prepare()
    return made


def graded(autograder: Autograder, files: dict[str, str | bytes], metadata: Any = None) -> dict[str, Any]:
    """The results of a submission that the grader has no trouble with."""
    autograder.hand_in(files, metadata)
    done = autograder.run()
    assert done.returncode == 0, done.stdout + done.stderr
    return autograder.results()


def submitted(at: str = "2026-03-02T12:00:00-08:00", **more: Any) -> dict[str, Any]:
    return {"id": 7, "created_at": at, "assignment": {"due_date": "2026-03-02T20:00:00.000000+00:00"}, **more}


def earlier(at: str, score: Any, error: bool = False) -> dict[str, Any]:
    return {"submission_time": at, "score": score, "autograder_error": error}


def add_test(autograder: Autograder, number: str, body: str) -> None:
    """One more file of hidden tests, with a test that gives no points."""
    source = "from gradescope_utils.autograder_utils.decorators import number, weight\n\n\n"
    source += f"@number('{number}')\n@weight(0)\ndef test_more(student):\n    'One more.'\n    {body}\n"
    (autograder.root / "source/graders/attention_scores/test_more.py").write_text(source)


class TestSubmission:
    def test_reference_earns_everything(self, autograder: Autograder) -> None:
        """20 of 20, every test once, and nothing said that is not to be said."""
        results = graded(autograder, {"attention_scores.py": REFERENCE}, submitted())
        assert results["score"] == 20
        assert sum(test["max_score"] for test in results["tests"]) == 20
        assert results["extra_data"]["submission"] == "7"

    def test_staff_read_in_standard_output(self, autograder: Autograder) -> None:
        """Notes for staff are in the standard output, which only they see, and in extra_data; nowhere else."""
        autograder.hand_in({"attention_scores.py": "print('to staff')\n" + MIXED})
        done = autograder.run()
        assert "to staff" in done.stdout
        assert "no such file: submission_metadata.json" in done.stdout
        results = autograder.results()
        assert "no such file" in str(results["extra_data"].pop("staff_notes"))
        assert "no such file" not in str(results)

    @pytest.mark.parametrize(
        ("files", "says"),
        [
            ({}, "expected attention_scores.py; found nothing"),
            ({"attention_scores.py": "def scores(:\n"}, "could not be loaded"),
        ],
        ids=["empty folder", "syntax error"],
    )
    def test_what_cannot_be_graded_is_told_why(
        self, autograder: Autograder, files: dict[str, str | bytes], says: str
    ) -> None:
        """A real zero with one reason at the top."""
        results = graded(autograder, files, submitted())
        assert results["score"] == 0
        assert says in results["output"]
        assert results["extra_data"]["status"] == "not_gradable"

    def test_slips_are_forgiven(self, autograder: Autograder) -> None:
        """A file in a folder is found."""
        assert graded(autograder, {"hw/attention_scores (1).py": REFERENCE}, submitted())["score"] == 20

    def test_odd_metadata_costs_nothing(self, autograder: Autograder) -> None:
        """What the platform says may be anything; staff are told."""
        results = graded(autograder, {"attention_scores.py": REFERENCE}, "{")
        assert results["score"] == 20
        assert results["extra_data"]["staff_notes"]


class TestRules:
    def test_late_by_instants(self, autograder: Autograder) -> None:
        """Offsets are taken into account: noon in California is the due date itself, a minute later is late."""
        late = graded(autograder, {"attention_scores.py": REFERENCE}, submitted("2026-03-02T12:01:00-08:00"))
        assert late["score"] == 18
        assert late["tests"][-1]["output"].startswith("Handed in 1 minute late")

    def test_attempts_are_counted(self, autograder: Autograder) -> None:
        """Which attempt it is is told; those at which the autograder failed do not count."""
        before = [earlier("2026-03-02T11:00:00-08:00", 3.0), earlier("2026-03-02T11:30:00-08:00", 0.0, error=True)]
        results = graded(autograder, {"attention_scores.py": REFERENCE}, submitted(previous_submissions=before))
        assert "This is attempt 2 of 2 in 1 day." in results["output"]
        assert results["score"] == 20

    def test_one_too_many_keeps_the_earlier_mark(self, autograder: Autograder) -> None:
        """It is not graded, and says from when on the next one is; what was earned before stands."""
        before = [earlier("2026-03-02T10:00:00-08:00", 5.0), earlier("2026-03-02T11:00:00-08:00", "12.5")]
        results = graded(autograder, {"attention_scores.py": REFERENCE}, submitted(previous_submissions=before))
        assert "limited to 2 in 1 day; the next one counts from 2026-03-03 18:00 UTC on" in results["output"]
        assert "The mark of your earlier attempt stands." in results["output"]
        assert results["score"] == 12.5
        assert {test["score"] for test in results["tests"]} == {0}


class TestBudget:
    """The time that the platform allows for the whole run."""

    def test_a_slow_submission_keeps_its_marks(self, autograder: Autograder) -> None:
        """Code that takes too long is ended before the run is: what was earned counts, and it is no grader's error."""
        slow = f"{REFERENCE}\n\ndef attention(Q, K, V, mask=None):\n    import time\n    time.sleep(3600)\n"
        autograder.hand_in({"attention_scores.py": slow}, submitted())
        done = autograder.run("--timeout", "20")
        assert done.returncode == 0, done.stdout + done.stderr
        results = autograder.results()
        assert results["extra_data"]["status"] == "graded"
        assert results["extra_data"]["finished"]
        earned = {test["number"]: test["score"] for test in results["tests"]}
        assert earned["1.1"] > 0
        assert not any(score for number, score in earned.items() if number.startswith("6."))

    @pytest.mark.parametrize(("whole", "own"), [(540.0, 495.0), (2340.0, 2295.0), (60.0, 30.0)])
    def test_of_a_submission(self, whole: float, own: float) -> None:
        """A submission may take 45 seconds less than the whole run, or half of a short one."""
        assert seconds_of_a_submission(whole) == own


class TestGraderFailure:
    """The grader's own failure is never a student's zero."""

    @pytest.fixture
    def broken(self, tmp_path: Path) -> Autograder:
        """A homework whose reference broke after the image was built."""
        made = Autograder.with_homework(tmp_path)
        made.prepare()
        with (tmp_path / "source/reference/attention_scores.py").open("a") as reference:
            reference.write("\nraise RuntimeError('secret_detail')\n")
        return made

    def test_keeps_an_earlier_mark(self, broken: Autograder) -> None:
        """Exit 3; the student reads that it is not their fault, staff read why, and the latest graded mark stands."""
        before = [earlier("2026-03-01T00:00:00Z", 15.5), earlier("2026-03-01T01:00:00Z", 0, error=True)]
        broken.hand_in({"attention_scores.py": REFERENCE}, submitted(previous_submissions=before))
        done = broken.run()
        assert done.returncode == 3
        assert "secret_detail" in done.stdout
        results = broken.results()
        assert (results["score"], results["extra_data"]["status"]) == (15.5, "grader_error")
        assert "not your fault" in results["output"]
        assert "The mark of your earlier attempt stands." in results["output"]
        assert "secret_detail" not in results["output"]

    def test_without_an_earlier_mark_says_so(self, broken: Autograder) -> None:
        broken.hand_in({"attention_scores.py": REFERENCE})
        assert broken.run().returncode == 3
        results = broken.results()
        assert results["score"] == 0
        assert "not your mark" in results["output"]

    def test_better_of_both_marks_counts(self, tmp_path: Path) -> None:
        """If one test breaks in the grader, what the others gave counts where it is more than the earlier mark."""
        made = Autograder.with_homework(tmp_path)
        add_test(made, "1.9", "raise KeyError('ours')")
        made.prepare()
        before = [earlier("2026-03-01T00:00:00Z", 3.0)]
        made.hand_in({"attention_scores.py": REFERENCE}, submitted(previous_submissions=before))
        assert made.run().returncode == 3
        assert made.results()["score"] == 20

    def test_budget_ends_an_endless_grader(self, tmp_path: Path) -> None:
        """A hidden test that never ends is stopped in time, and what was earned by then is kept."""
        made = Autograder.with_homework(tmp_path)
        add_test(made, "7.9", "while True: pass")
        made.prepare()
        made.hand_in({"attention_scores.py": REFERENCE})
        done = made.run("--timeout", "12")
        assert done.returncode == 3
        results = made.results()
        assert results["score"] == 20
        assert "when the 12 seconds for the whole run were over" in str(results["extra_data"]["staff_notes"])


class TestSecondZero:
    def test_prepared_results_are_complete(self, autograder: Autograder) -> None:
        """What a run begins with lists every test with its maximum, at 0, and says that nothing has run yet."""
        content = valid_results((autograder.root / "source/pending.json").read_bytes())
        assert sum(test["max_score"] for test in content["tests"]) == 20
        assert content["score"] == 0
        assert {test["output"] for test in content["tests"]} == {"Not run yet."}
        assert "has not finished" in content["output"]

    def test_several_homeworks_need_a_name(self, tmp_path: Path) -> None:
        made = Autograder.with_homework(tmp_path)
        (tmp_path / "source/graders/other").mkdir()
        (tmp_path / "source/graders/other/homework.toml").touch()
        done = made.run()
        assert done.returncode == 2
        assert "name one of them with -a" in done.stderr

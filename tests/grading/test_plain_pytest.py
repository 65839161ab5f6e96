"""Plain pytest: an instructor's own way of running hidden tests against one file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from softmark.sandbox.zygote import Zygote
from tests.support.course import references_of, write_course
from tests.support.sandboxes import STRONGEST as LEVEL
from tests.support.sandboxes import zygote

STRONGEST = str(LEVEL)
QUIET = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")  # plugins that cost a second and add nothing here
HIDDEN = '''
@number("1.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_one(student, x):
    """One."""
    agree(student.one, lambda x: x + 1, x)


@number("1.2")
@weight(1)
def test_one_with_subtests(student, subtests):
    """Subtests."""
    for x in (1.0, 2.0):
        with subtests.test(x=x):
            agree(student.one, lambda x: x + 1, x)


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, 3.0)
'''
HALF_RIGHT = "def one(x):\n    return x + 1 if x < 2 else x - 1\n\n\ndef two(x):\n    raise ValueError('so')\n"


pytest_plugins = ["pytester"]


@pytest.fixture
def course(pytester: pytest.Pytester) -> Path:
    """The tiny course, in the current folder, with a half right submission."""
    (pytester.path / "half.py").write_text(HALF_RIGHT)
    return write_course(pytester.path, HIDDEN, points=[2, 2])


@pytest.fixture
def run(course: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pytest.RunResult]:
    """pytest, in this process, on top of the zygote that all tests share."""
    shared = zygote()
    monkeypatch.setattr(Zygote, "spawn", lambda environment: shared)
    return lambda *words: pytester.runpytest_inprocess(*QUIET, "--isolation", STRONGEST, *words)


class TestPlainPytest:
    """`pytest graders/<hw> --submission FILE`."""

    def test_reports_in_pytests_own_words(self, course: Path) -> None:
        """Each case passes or fails, with the fact, the numbers and the student's line; the points are added up."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        command = [Path(sys.executable).with_name("pytest"), "graders/tiny", "--submission", "half.py", "-v"]
        command += [*QUIET, "--isolation", STRONGEST]
        done = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
        outcomes = dict(re.findall(r"::(\S+) (PASSED|FAILED) ", done.stdout))
        assert outcomes == {
            "test_one[1.0]": "PASSED", "test_one[2.0]": "FAILED",
            "test_one_with_subtests": "FAILED", "test_two": "FAILED",
        }  # fmt: skip
        assert "got 1, expected 3" in done.stdout
        assert "two: raised ValueError\nso\n  tiny.py:6  raise ValueError('so')" in done.stdout
        assert f"softmark: 1 of 4 points, isolation {STRONGEST}" in done.stdout
        assert "4 failed, 1 passed, 1 subtests passed" in done.stdout  # a subtest counts, as ever in pytest
        assert done.returncode == 1

    def test_k_chooses(self, run: Callable[..., pytest.RunResult]) -> None:
        """-k runs what it names, and a part that is not named is not missed."""
        done = run("graders/tiny", "--submission", "half.py", "-k", "1.0")
        done.assert_outcomes(passed=1, deselected=3)
        assert "softmark: 0.5 of 4 points" in done.stdout.str()

    @pytest.mark.parametrize("chosen", ["-k", "::"])
    def test_an_earlier_part_that_did_not_run_may_be_wrong(
        self, chosen: str, course: Path, run: Callable[..., pytest.RunResult]
    ) -> None:
        """The reference answers for an earlier part whose tests did not run, and a line says so."""
        (course / "reference/tiny.py").write_text(
            "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return one(x) * 2\n"
        )
        hidden = course / "graders/tiny/test_hidden.py"
        text = hidden.read_text().replace(
            "agree(student.two, lambda x: x * 2, 3.0)",
            'agree(student.two, ref.two, draw("n", n=5))',
        )
        hidden.write_text("from reference import tiny as ref\n" + text)
        (course / "half.py").write_text("def one(x):\n    return x + 2\n\n\ndef two(x):\n    return one(x) * 2\n")
        words = ["graders/tiny", "-k", "test_two"] if chosen == "-k" else ["graders/tiny/test_hidden.py::test_two"]
        with references_of(course):
            done = run(*words, "--submission", "half.py")
        assert "part 1 was not run: later parts are judged as if it were wrong" in done.stdout.str()
        assert done.parseoutcomes()["passed"] == 1

    def test_a_test_can_be_named(self, run: Callable[..., pytest.RunResult]) -> None:
        """One test alone is no broken homework, although its weight is not its part's points."""
        done = run("graders/tiny/test_hidden.py::test_two", "--submission", "half.py")
        done.assert_outcomes(failed=1)
        assert "softmark: 0 of 2 points" in done.stdout.str()

    def test_x_stops(self, run: Callable[..., pytest.RunResult]) -> None:
        """-x ends the run at the first failure."""
        done = run("graders/tiny", "--submission", "half.py", "-x")
        done.assert_outcomes(passed=1, failed=1)

    @pytest.mark.parametrize("source", ["x = = 1\n", "import os\nos._exit(0)\n"], ids=["syntax", "crash"])
    def test_a_file_that_cannot_be_loaded(
        self, source: str, course: Path, run: Callable[..., pytest.RunResult]
    ) -> None:
        """Every test fails, for the one reason."""
        (course / "half.py").write_text(source)
        done = run("graders/tiny", "--submission", "half.py", "-k", "not subtests")
        done.assert_outcomes(failed=3, deselected=1)
        assert done.stdout.str().count("tiny.py could not be loaded: ") >= 3

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["graders/tiny", "--submission", "absent.py"], "ERROR: no such file: absent.py"),
            (["graders/tiny", "--submission", "graders"], "ERROR: graders holds 2 submissions: name one of them"),
            (["graders/tiny", "--submission", "empty.py"], "ERROR: the file is empty"),
            (["graders", "--submission", "half.py"], "ERROR: --submission grades the hidden tests of one homework"),
        ],
        ids=["no file", "several", "empty", "two homeworks"],
    )
    def test_a_wrong_call_is_one_sentence(
        self, words: list[str], says: str, course: Path, run: Callable[..., pytest.RunResult]
    ) -> None:
        """What cannot be done is said, without a traceback and without points."""
        (course / "empty.py").touch()
        (course / "graders" / "other").mkdir()
        (course / "graders" / "other" / "test_other.py").write_text("def test_other(): pass\n")
        done = run(*words)
        printed = done.stdout.str() + done.stderr.str()
        assert says in printed
        assert "Traceback" not in printed
        assert "points" not in printed
        assert done.ret is pytest.ExitCode.USAGE_ERROR

    def test_without_a_submission(self, run: Callable[..., pytest.RunResult]) -> None:
        """Hidden tests that are run without one say what is missing."""
        done = run("graders/tiny", "-k", "test_two")
        done.assert_outcomes(errors=1, deselected=3)
        assert "no submission to grade: name one with --submission FILE" in done.stdout.str()

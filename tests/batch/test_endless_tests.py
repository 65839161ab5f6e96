"""A hidden test that never returns: it is ended and named, it costs nobody a mark, and it holds up nobody else."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent

import pytest

from tests.support.classes import HIDDEN, NOTHING, RIGHT, WRONG, gradings, hand_in, marks, run, signalled
from tests.support.course import FILE, IMPORTS

ENDLESS = {
    "in Python": "while True: pass",
    "in a try": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "in C": "import collections, itertools\ncollections.deque(itertools.repeat(None), 0)",
    "waiting": "import threading\nthreading.Event().wait()",
}
CLASS = {
    "anna": {FILE: RIGHT},
    "ben": {FILE: f"{RIGHT}# ben\n"},
    "cora": {FILE: WRONG},
    "dan": {FILE: NOTHING},
    "emil": {FILE: f"{RIGHT}# emil\n"},
}
SAID = "the hidden test graders/tiny/test_hidden.py::test_two[1.0] did not return within 2 s and was ended"
NEXT_STEP = "correct it, or set test_seconds under [limits] in homework.toml if it needs more"


def hang(course: Path, how: str, when: str = "True", seconds: int = 2) -> None:
    """The second test hangs where `when` holds of the answer; hidden tests may take so many seconds themselves."""
    limit_tests(course, seconds)
    hangs = indent(f"answer = student.two(x)\nif {when}:\n{indent(how, '    ')}\n", "    ")
    write_tests(course, HIDDEN.replace("    agree(student.two", f"{hangs}    agree(student.two"))


def limit_tests(course: Path, seconds: int = 2) -> None:
    config = course / "graders/tiny/homework.toml"
    config.write_text(config.read_text().replace("[limits]\n", f"[limits]\ntest_seconds = {seconds}\n"))


def write_tests(course: Path, tests: str) -> None:
    (course / "graders/tiny/test_hidden.py").write_text(IMPORTS + tests)


class TestClass:
    """A run over a class."""

    @pytest.mark.parametrize("how", ENDLESS.values(), ids=ENDLESS)
    def test_keeps_the_marks_from_before(self, how: str, course: Path, tmp_path: Path) -> None:
        """A test that hangs for everybody ends the run with exit code 3, and the marks are those from before."""
        folder, results = hand_in(tmp_path / "class", CLASS), tmp_path / "results"
        assert run(folder, "-o", results).returncode == 0
        before = marks(results)
        assert before == {"anna": 4.0, "ben": 4.0, "cora": 2.0, "dan": 0.0, "emil": 4.0}
        hang(course, how)
        done = run(folder, "-o", results, "--jobs", "2")
        assert done.returncode == 3, done.stderr
        assert "did not return" in done.stdout
        assert marks(results) == before
        assert set(gradings(results)) == set(CLASS)

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_costs_only_those_for_whom_it_hangs(self, jobs: str, course: Path, tmp_path: Path) -> None:
        """A test that hangs for one answer leaves all others their marks, and that one has none, not a zero."""
        hang(course, ENDLESS["in C"], when="answer == 3 * x")
        done = run(hand_in(tmp_path / "class", CLASS), "-o", tmp_path / "results", "--jobs", jobs)
        assert done.returncode == 3, done.stderr
        assert "2: it did not return, and was not run again" in done.stdout, done.stdout
        assert marks(tmp_path / "results") == {"anna": 4.0, "ben": 4.0, "dan": 0.0, "emil": 4.0}

    def test_import_that_hangs(self, course: Path, tmp_path: Path) -> None:
        """Hidden tests that cannot even be imported end the command, and nothing is written over."""
        limit_tests(course)
        write_tests(course, f"while True: pass\n{HIDDEN}")
        done = run(hand_in(tmp_path / "class", CLASS), "-o", tmp_path / "results")
        assert done.returncode == 3
        assert "softmark: the grader failed: the import of the hidden tests" in done.stderr
        assert NEXT_STEP in done.stderr

    @pytest.mark.parametrize("jobs", ["1", "2"])
    def test_can_be_stopped(self, jobs: str, course: Path, tmp_path: Path) -> None:
        """Ctrl-C ends the run and all its processes, though nothing in a call of C hears it."""
        hang(course, ENDLESS["in C"], seconds=600)
        folder = hand_in(tmp_path / "class", CLASS)
        done = signalled("SIGINT", 4000, "output", folder, "-o", tmp_path / "results", "--jobs", jobs)
        assert done.returncode == 130, done.stderr


class TestOne:
    """A single file."""

    def test_is_told_which_test(self, course: Path, tmp_path: Path) -> None:
        """The test and what to do are named, with what was earned until then."""
        hang(course, ENDLESS["in C"])
        done = run(hand_in(tmp_path, {"anna": CLASS["anna"]}) / "anna" / FILE, "--json")
        assert done.returncode == 3, done.stderr
        result = json.loads(done.stdout)
        assert f"{SAID}; {NEXT_STEP}" in result["staff_notes"]
        assert [(test["number"], test["outcome"], test["score"]) for test in result["tests"]] == [
            ("1", "passed", 2.0),
            ("2", "not_run", 0.0),
        ]

    def test_slow_student_is_not_the_tests_time(self, course: Path, tmp_path: Path) -> None:
        """A test waits for an answer longer than it may take itself, and is not ended for that."""
        limit_tests(course)
        config = course / "graders/tiny/homework.toml"
        config.write_text(config.read_text().replace("cpu_seconds = 0.4", "cpu_seconds = 20"))
        waits = "    import time\n    end = time.monotonic() + 3\n    while time.monotonic() < end: pass\n"
        slow = RIGHT.replace("    return x * 2\n", f"{waits}    return x * 2\n")
        done = run(hand_in(tmp_path, {"anna": {FILE: slow}}) / "anna" / FILE, "--json")
        assert '"total":4.0' in done.stdout

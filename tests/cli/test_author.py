"""The command under trouble: homeworks that are wrong, runs that are watched, cut off, or lose their engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from softmark.batch.one import grade_file
from softmark.cli import main
from softmark.course.homework import COURSE_VARIABLE, load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.processes import EngineProcess
from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission, decode
from softmark.sandbox.procfs import descendants
from tests.support.classes import HIDDEN, RIGHT, STRONGEST
from tests.support.course import FILE, NAME, write_course
from tests.support.processes import Changes, await_ends

SLOW = RIGHT + "\n\ndef two(x):\n    import time\n    time.sleep(100)\n"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny course, which every command here finds."""
    root = write_course(tmp_path / "course", HIDDEN, points=[2, 2], limits="cpu_seconds = 10\n")
    (root / "reference" / f"{NAME}.py").write_text(RIGHT)
    (root / FILE).write_text(RIGHT)
    (root / "slow.py").write_text(SLOW)
    monkeypatch.setenv(COURSE_VARIABLE, str(root))
    monkeypatch.chdir(root)
    return root


@pytest.fixture(autouse=True)
def temporary(scratch_place: Path) -> Path:
    """The directory for temporary files, empty at first."""
    return scratch_place


def softmark(command: str, *words: str) -> list[str]:
    program = str(Path(sys.executable).with_name("softmark"))
    return [program, command, "-a", NAME, "--isolation", STRONGEST, *words]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(softmark(*words), capture_output=True, text=True, check=False)


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """The exit code of the command, run in this process."""
    monkeypatch.setattr(sys, "argv", softmark(*words))
    with pytest.raises(SystemExit) as end:
        main()
    code = end.value.code
    assert isinstance(code, int)
    return code


class TestHomeworkThatIsWrong:
    """What the instructor has to put right."""

    def test_reference_that_raises(self, course: Path) -> None:
        """Exit code 3; that test alone is in error and says why, the others have their marks."""
        (course / "reference" / f"{NAME}.py").write_text(RIGHT.replace("x + 1", "x / 0"))
        done = run("grade", FILE, "--json")
        result = decode(done.stdout)
        assert (done.returncode, result.status, result.total) == (3, Status.GRADER_ERROR, 2.0)
        (verdict,) = result.tests[0].verdicts
        assert "raised ZeroDivisionError: float division by zero (" in verdict.staff
        assert "reference/tiny.py:2" in verdict.staff
        assert done.stderr == ""

    def test_hidden_tests_that_are_wrong(self, course: Path) -> None:
        """Exit code 2 and one sentence with file and line."""
        tests = course / "graders" / NAME / "test_hidden.py"
        tests.write_text(tests.read_text().replace("@weight(2)", '@weight("2")', 1))
        done = run("grade", FILE)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "softmark: graders/tiny/test_hidden.py:11: test_one has a weight that must be a number, not str '2'\n"
        )

    def test_configuration_that_is_wrong(
        self, course: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Exit code 2 and one sentence with file and line, before anything is started."""
        config = course / "graders" / NAME / "homework.toml"
        config.write_text(config.read_text().replace("points = 4", "points = 5"))
        assert typed(monkeypatch, "grade", FILE) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith("softmark: graders/tiny/homework.toml:3: the parts sum to 4 points, but points = 5")


class TestBadUsage:
    """One sentence on stderr, exit code 2, no traceback."""

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["grade", "link.py"], "link.py is a symbolic link: name the file that it points to"),
            (["grade", "\udcff.py"], "no such file: "),
            (["grade", FILE, "--timeout", "0"], "Invalid value for '--timeout'"),
            (["grade", FILE, "--isolation", "most"], "Invalid value for '--isolation'"),
            (["grade"], "Missing argument 'PATH...'"),
            (["grade", "class", "--json"], "--json is for one file"),
            (["grade", "class.zip", "--json"], "--json is for one file"),
            (["grade", "CLASS.ZIP", "--json"], "--json is for one file"),
            (["grade", FILE, FILE, "--json"], "--json is for one file"),
            (["grade", "class", "-o", "class/results"], "results in class/results would be among what is in class"),
            (["grade", "."], "results in results/tiny would be among what is in ."),
            (["grade", "out/submissions", "-o", "out"], "results in out would be among what is in out/submissions"),
        ],
        ids=[
            *("link", "a name that is no text", "timeout", "isolation", "no file", "json of a class"),
            *("json of a zip", "json of a zip in capitals", "json of two files"),
            *("results among it", "results among it by default", "results over it"),
        ],
    )
    def test_is_said_at_once(
        self, words: list[str], says: str, course: Path, monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        """Nothing is started for a command that cannot be carried out."""
        (course / "link.py").symlink_to(FILE)
        (course / "class").mkdir()
        (course / "out" / "submissions").mkdir(parents=True)
        monkeypatch.setattr(EngineProcess, "__init__", None)
        assert typed(monkeypatch, *words) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert says in err
        assert "Traceback" not in err

    def test_results_that_cannot_be_replaced(self, course: Path) -> None:
        """A folder where results.json should be is found before anything is graded."""
        (course / "out/submissions/tiny/results.json").mkdir(parents=True)
        done = run("grade", FILE, "-o", "out")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "results cannot be written to out/submissions/tiny: Is a directory" in done.stderr


@contextmanager
def grading(course: Path, submission: str) -> Iterator[tuple[subprocess.Popen[str], Path, Changes]]:
    """A run in a process group of its own, the file of its results, and what tells of changes to it."""
    folder = course / "out" / "submissions" / submission
    folder.mkdir(parents=True)
    changes = Changes(folder)
    # a shell's background jobs ignore Ctrl-C, and so would everything they start
    command = ["env", "--default-signal=INT", *softmark("grade", f"{submission}.py", "-o", "out")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as process:
        try:
            yield process, folder / "results.json", changes
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def strict(path: Path) -> dict[str, Any]:
    """The file as a strict parser reads it."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} in {path}")

    content: dict[str, Any] = json.loads(path.read_text(), parse_constant=refuse)
    return content


def check_results(path: Path) -> dict[str, Any]:
    """Results that are valid and complete, whatever is still to come."""
    content = strict(path)
    assert [(test["number"], test["max_score"]) for test in content["tests"]] == [("1", 2.0), ("2", 2.0)]
    assert all(0 <= test["score"] <= test["max_score"] for test in content["tests"])
    assert content["score"] == sum(test["score"] for test in content["tests"])
    return content


class TestNames:
    """What a terminal cannot show is written out."""

    def test_of_students_in_another_script(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The run comes to its end."""
        (course / "class").mkdir()
        (course / "class" / "李.py").write_text("")
        monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
        done = run("grade", "class")
        assert (done.returncode, done.stderr) == (0, "")
        assert "\\u674e" in done.stdout


class TestResultsFile:
    """results.json while a submission is graded."""

    def test_is_valid_at_every_change(self, course: Path) -> None:
        """From second zero to the end each version is complete, and none takes back what was earned."""
        with grading(course, "tiny") as (process, path, changes):
            seen = []
            while changes.await_one(process):
                seen.append(check_results(path)["score"])
            assert process.wait() == 0
        assert (seen[0], seen[-1], seen) == (0.0, 4.0, sorted(seen))
        assert 2.0 in seen
        assert sorted(os.listdir(path.parent)) == ["feedback.html", "feedback.md", "results.json", "staff.html"]

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
    def test_outlives_a_run_that_is_cut_off(self, number: signal.Signals, course: Path, temporary: Path) -> None:
        """What was earned before stays, and what was not run says so; no process is left, and after Ctrl-C no file."""
        with grading(course, "slow") as (process, path, changes):
            assert changes.await_one(process)
            while not check_results(path)["score"]:
                assert changes.await_one(process)
            below = [os.pidfd_open(pid) for pid in descendants(process.pid)]
            os.killpg(process.pid, number)
            _, said = process.communicate()
            content = check_results(path)
            await_ends(below)
        assert [test["score"] for test in content["tests"]] == [2.0, 0.0]
        assert content["tests"][1]["output"] == "Not run yet."
        assert "The grading has not finished" in content["output"]
        assert os.listdir(path.parent) == ["results.json"]
        assert process.returncode == (-9 if number is signal.SIGKILL else 130)
        assert number is signal.SIGKILL or not list(temporary.iterdir())
        assert "Traceback" not in said


class TestEngine:
    """The launcher and an engine that does not behave."""

    def test_that_dies_in_the_middle(self, course: Path) -> None:
        """What was earned stays, the result says that the grader failed, and it ends with an error."""
        kept: list[Result] = []
        homework = load_homework(NAME, course)
        engine = LocalEngine(GradingSpec.of(homework, STRONGEST))
        killed: list[int] = []

        def keep(result: Result) -> None:
            kept.append(result)
            if result.total and not killed:
                killed.extend(engine.pids)
                os.kill(killed[0], signal.SIGKILL)

        with engine:
            result = grade_file(course / "slow.py", homework, engine, keep)
        assert (result.status, result.total) == (Status.GRADER_ERROR, 2.0)
        assert result.staff_notes == ("the grading engine ended unexpectedly (exit status -9)",)
        assert kept[-1] == result

    def test_that_is_gone_before_it_is_asked(self, course: Path) -> None:
        """A process that died while it had nothing to do is replaced, and costs no submission anything."""
        with LocalEngine(GradingSpec.of(load_homework(NAME, course), STRONGEST)) as engine:
            pending = engine.pending()
            (pid,) = engine.pids
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            assert (
                engine.submit(Job(pending.submission, SubmittedFiles(FILE, {FILE: RIGHT.encode()}))).result().total
                == 4.0
            )
            assert engine.pids[-1] != pid

    def test_that_is_stopped(self, course: Path) -> None:
        """Every open future raises EngineError, and so does whatever is submitted later."""
        job = Job(Submission(id="slow"), SubmittedFiles(FILE, {FILE: SLOW.encode()}))
        with LocalEngine(GradingSpec.of(load_homework(NAME, course), STRONGEST)) as engine:
            engine.pending()
            futures = [engine.submit(job) for _ in range(3)]
            engine.stop()
            for future in [*futures, engine.submit(job)]:
                with pytest.raises(EngineError):
                    future.result()

    def test_that_never_starts(
        self, course: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """An interpreter that ends at once is told in one sentence, with exit code 3."""
        words = softmark("grade", FILE)
        monkeypatch.setattr(sys, "executable", "/bin/false")
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 3
        assert capfd.readouterr().err == (
            "softmark: the grader failed: the grading engine ended unexpectedly (exit status 1)\n"
        )

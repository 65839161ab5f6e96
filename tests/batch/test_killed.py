"""A class whose run is killed, loses one of its processes, or is stopped: nothing is lost, nothing is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from softmark.sandbox.procfs import descendants
from tests.support.classes import MARKS, MIXED, PATIENCE, grade, gradings, hand_in, left_in, marks, run, signalled
from tests.support.processes import Changes, await_ends

KILLS = 10
LONGEST = 3000  # milliseconds until the kill: a whole run takes about so long
STOPPED = "stopped; what was graded is kept: the same command goes on from here\n"


class TestLauncherThatIsKilled:
    """SIGKILL, again and again, at random moments; the same command goes on each time."""

    @pytest.mark.parametrize("seed", range(3))
    def test_ends_as_if_nothing_had_happened(
        self, seed: int, course: Path, tmp_path: Path, temporary: Path, undisturbed: Path
    ) -> None:
        """Marks and files are those of an undisturbed run, nobody was graded twice, no process and no file is left."""
        moments = random.Random(seed)
        hand_in(tmp_path / "class", MIXED)
        killed, results = 0, [tmp_path / "results0"]
        while killed < KILLS:
            moment = moments.randrange(LONGEST)
            done = signalled("SIGKILL", moment, "start", tmp_path / "class", "-o", results[-1], "--jobs", "2")
            assert done.returncode in (137, 0), done.stderr
            assert done.stderr == ""
            killed += done.returncode == 137
            if done.returncode == 0:
                results.append(tmp_path / f"results{len(results)}")
        assert run(tmp_path / "class", "-o", results[-1]).returncode == 0
        for folder in results:
            assert left_in(folder) == left_in(undisturbed)
            assert gradings(folder) == dict.fromkeys(MIXED, 1)
        assert list(temporary.iterdir()) == []


class TestProcessThatIsKilled:
    """The grader's own processes, which the kernel may kill when memory is short."""

    @pytest.mark.parametrize("victim", ["engine", "judge", "zygote of the engine", "zygote of the judge"])
    def test_costs_nobody_a_mark(
        self, victim: str, course: Path, tmp_path: Path, temporary: Path, undisturbed: Path
    ) -> None:
        """The run goes on by itself, and everybody gets what they deserve; the next run clears what was left."""
        results = tmp_path / "results"
        (results / "submissions").mkdir(parents=True)
        changes = Changes(results / "submissions", folders=True)
        command = grade(hand_in(tmp_path / "class", MIXED), "-o", results, "--jobs", "2")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            for _ in range(2):
                assert changes.await_one(process)
            below = [os.pidfd_open(pid) for pid in descendants(process.pid)]
            os.kill(_processes(process.pid)[victim], signal.SIGKILL)
            _, said = process.communicate(timeout=PATIENCE)
            await_ends(below)
        assert (process.returncode, said) == (0, "")
        assert left_in(results) == left_in(undisturbed)
        assert run(hand_in(tmp_path / "other", {"right0": MIXED["right0"]}), "-o", tmp_path / "next").returncode == 0
        assert list(temporary.iterdir()) == []


def _processes(launcher: int) -> dict[str, int]:
    """The processes of a run of two lanes, by what they are; the kernel lists them in the order of their starts."""
    (engine,) = _children(launcher)
    first, second, judge = _children(engine)[:3]
    return {"engine": engine, "zygote of the engine": first, "zygote of the judge": second, "judge": judge}


def _children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sorted(int(child) for thread in threads for child in (thread / "children").read_text().split())


class TestRunThatIsStopped:
    """Ctrl-C, and what a system sends before it shuts down."""

    @pytest.mark.parametrize("moment", [20, 900])
    @pytest.mark.parametrize(
        ("number", "when", "code"),
        [("SIGINT", "output", 130), ("SIGINT", "group", 130), ("SIGTERM", "output", 143)],
        ids=["interrupted", "Ctrl-C", "terminated"],
    )
    def test_says_how_to_go_on(
        self, number: str, when: str, code: int, moment: int, course: Path, tmp_path: Path, temporary: Path
    ) -> None:
        """Also while the engine is starting: a sentence, a gradebook of what is done, and nothing left running."""
        folder, results = hand_in(tmp_path / "class", _thrice(MIXED)), tmp_path / "results"
        done = signalled(number, moment, when, folder, "-o", results)
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.endswith(STOPPED)
        assert set(marks(results)) == set(gradings(results))
        assert list(temporary.iterdir()) == []

    def test_goes_on(self, course: Path, tmp_path: Path) -> None:
        """What was graded before it was stopped is not graded again."""
        folder, results = hand_in(tmp_path / "class", MIXED), tmp_path / "results"
        (results / "submissions").mkdir(parents=True)
        changes = Changes(results / "submissions", folders=True)
        with subprocess.Popen(grade(folder, "-o", results, "--jobs", "1"), stdout=subprocess.DEVNULL) as process:
            for _ in range(3):
                assert changes.await_one(process)
            process.terminate()
        before = gradings(results)
        assert process.returncode == 143
        assert 2 <= len(before) < len(MIXED)  # the third folder is made before its grading is recorded
        assert run(folder, "-o", results).returncode == 0
        assert marks(results) == MARKS
        assert gradings(results) == dict.fromkeys(MARKS, 1)


def _thrice(of_each: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{student}-{number}": each for student, each in of_each.items() for number in range(3)}

"""Runs the same 30 tests and 40 submissions through five harnesses: `python benchmarks/throughput.py [--json]`.

    gradescope_utils   its JSONTestRunner over a unittest file, one process for each submission: the usual way
    otter              `otter run`, one notebook at a time
    bare               one loop in one process: exec the file, run the tests; no walls, no report: the lower bound
    one_job, two_jobs  `softmark grade FOLDER`, at the strongest isolation level that this user can have

There are two classes. In `distinct` no answer of a student equals another's in every bit, and three in ten are wrong in
a way that no named mistake explains. In `alike` students write each function in one of up to three ways, as many do.

Every test draws the same inputs, calls the student's function and the reference, and compares. The table has the wall
time for one submission, in a run over all of them. A harness that starts anew for every submission imports torch each
time; one that starts once does so once, which is still much for a class of 40. So the last three also have the time of
each *further* submission: the same class is graded once and five times over, and the difference is divided by the
number of additional submissions. The ratios compare these times; `start` is the rest.

Otter is not among softmark's dependencies: `--otter` names the `otter` program of an environment that has otter-grader,
ipykernel and this torch. Without it that column is empty.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import thirty_tests

LEVEL = "full" if os.geteuid() == 0 else "user"
SUBMISSIONS, TIMES = 40, 5
CLASSES = {"distinct": thirty_tests.write_distinct_class, "alike": thirty_tests.write_class}
TO_REACH = {
    "distinct": {"gradescope_utils": 45.0, "otter": 100.0, "bare": 3.0, "two_jobs": 1.75},
    "alike": {"gradescope_utils": 25.0, "otter": 100.0, "bare": 4.0, "two_jobs": 1.7},
}
ENVIRONMENT = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")}


@dataclass
class Measured:
    """The wall seconds of whole runs, by their number of submissions."""

    runs: dict[int, list[float]] = field(default_factory=dict)

    def add(self, submissions: int, seconds: float) -> None:
        self.runs.setdefault(submissions, []).append(seconds)

    def best(self, submissions: int) -> float:
        """Return the shortest of the runs of this size."""
        return min(self.runs[submissions])

    @property
    def each(self) -> float:
        """Return the seconds for a submission, start-up included."""
        few = min(self.runs)
        return self.best(few) / few

    @property
    def further(self) -> float:
        """Return the seconds for each further submission."""
        few, many = min(self.runs), max(self.runs)
        return (self.best(many) - self.best(few)) / (many - few) if many > few else self.each


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--otter", type=Path, help="the otter program to measure, too")
    parser.add_argument("--rounds", type=int, default=5, help="runs of those that start once")
    parser.add_argument("--json", action="store_true", help='print {CLASS: {"seconds": {…}, "ratios": {…}}}')
    parser.add_argument("--only", choices=CLASSES, help="measure this class alone")
    options = parser.parse_args()
    told = {}
    for name in [options.only] if options.only else CLASSES:
        with tempfile.TemporaryDirectory(prefix="throughput-") as place:
            Path(place).chmod(0o711)
            measured = measure(Path(place), CLASSES[name], options.otter, options.rounds)
        seconds, ratios = summary(measured)
        told[name] = {"seconds": seconds, "ratios": ratios}
        if not options.json:
            show(name, measured, ratios)
    if options.json:
        print(json.dumps(told))


def measure(place: Path, write: Callable[..., Path], otter: Path | None, rounds: int) -> dict[str, Measured]:
    """Run all harnesses in turn, round by round, so that a busy machine is busy for all of them."""
    once, often = write(place / "once", SUBMISSIONS), write(place / "often", SUBMISSIONS, TIMES)
    course = thirty_tests.write_course(place / "course")
    bare = thirty_tests.write_bare(place / "bare")
    runs: dict[str, Callable[[Path], Sequence[str]]] = {
        "bare": lambda folder: [sys.executable, str(bare), str(folder)],
        "one_job": lambda folder: _softmark(folder, 1),
        "two_jobs": lambda folder: _softmark(folder, 2),
    }
    measured = {name: Measured() for name in ("gradescope_utils", "otter", *runs)}
    for _ in range(rounds):
        for name, command in runs.items():
            for folder in (once, often):
                measured[name].add(len(list(folder.iterdir())), _timed(command(folder), course))
    measured["gradescope_utils"].add(SUBMISSIONS, _with_gradescope_utils(place / "gradescope", once))
    if otter is not None:
        measured["otter"].add(SUBMISSIONS, _with_otter(place / "otter", otter, once))
    return measured


def _softmark(folder: Path, jobs: int) -> list[str]:
    program = str(Path(sys.executable).with_name("softmark"))
    words = ["grade", str(folder), "-a", thirty_tests.NAME, "--isolation", LEVEL, "--jobs", str(jobs), "--fresh"]
    return [program, *words, "-o", f"{folder}-results-{jobs}"]


def _with_gradescope_utils(place: Path, submissions: Path) -> float:
    """Put the file beside the tests and run them in a process, as run_autograder does."""
    tests = thirty_tests.write_gradescope_tests(place)
    seconds = 0.0
    for file in sorted(submissions.iterdir()):
        shutil.copy(file, place / f"{thirty_tests.NAME}.py")
        seconds += _timed([sys.executable, str(tests)], place)
    return seconds


def _with_otter(place: Path, program: Path, submissions: Path) -> float:
    autograder = thirty_tests.write_otter(place, program)
    seconds = 0.0
    for file in sorted(submissions.iterdir()):
        notebook = thirty_tests.as_notebook(file, place)
        words = [str(program), "run", str(notebook), "-a", str(autograder), "-o", str(place), "--no-logo"]
        seconds += _timed(words, place)
    return seconds


def _timed(command: Sequence[str], place: Path) -> float:
    start = time.monotonic()
    done = subprocess.run(command, cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds


def summary(measured: dict[str, Measured]) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Return the seconds for each further submission, and how many times faster one job is (for `bare`: slower)."""
    seconds = {name: round(one.further, 4) if one.runs else None for name, one in measured.items()}
    one = measured["one_job"].further
    ratios: dict[str, float | None] = {
        "gradescope_utils": measured["gradescope_utils"].further / one,
        "otter": measured["otter"].further / one if measured["otter"].runs else None,
        "bare": one / measured["bare"].further,
        "two_jobs": one / measured["two_jobs"].further,
    }
    return seconds, {name: None if ratio is None else round(ratio, 2) for name, ratio in ratios.items()}


def show(kind: str, measured: dict[str, Measured], ratios: dict[str, float | None]) -> None:
    print(
        f"{SUBMISSIONS} submissions ({kind}), 30 tests, isolation {LEVEL}; milliseconds of wall time for one submission"
    )
    print(f"{'':18} {'in a class of 40':>17} {'each further':>13} {'start, s':>9}")
    for name, one in measured.items():
        if not one.runs:
            print(f"{name:18} {'not measured':>17}")
            continue
        start = (one.each - one.further) * SUBMISSIONS
        print(f"{name:18} {one.each * 1000:17.1f} {one.further * 1000:13.1f} {start:9.2f}")
    for name, ratio in ratios.items():
        bound = f"{'at most' if name == 'bare' else 'at least'} {TO_REACH[kind][name]:g}"
        print(f"ratio {name:18} {'–' if ratio is None else format(ratio, '.2f'):>8}   to reach: {bound}")


if __name__ == "__main__":
    main()

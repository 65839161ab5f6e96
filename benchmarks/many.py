"""Measures if a large class is graded as fast at its end as at its beginning: `python benchmarks/many.py [N] [--json]`.

Grades N generated submissions (class_of.py) of a tiny homework in one run, so that the grader is measured and not the
homework. Memory, open files and processes are the largest that were seen during the first and during the last thousand
submissions (of a smaller class: during a tenth). Memory is private memory of the launcher, and of the largest engine
process. Files and processes are those of the whole run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.class_of import class_of
from softmark.course.homework import COURSE_VARIABLE
from softmark.sandbox.procfs import descendants, private_memory
from tests.support.classes import grade, hand_in, marks, write_tiny_course
from tests.support.processes import Changes


@dataclass(frozen=True)
class Sample:
    """The processes of a run after a number of submissions."""

    done: int
    seconds: float
    launcher_mb: float
    engine_mb: float
    """The largest of the engine and its judges."""
    files: int
    processes: int


def sampled(folder: Path, results: Path, *words: str) -> Iterator[Sample]:
    """Take a sample for every submission that is recorded; raise if the run fails."""
    (results / "submissions").mkdir(parents=True)
    changes = Changes(results / "submissions", folders=True)
    start, done = time.monotonic(), 0
    with subprocess.Popen(grade(folder, "-o", results, *words), stdout=subprocess.DEVNULL) as process:
        while some := changes.await_some(process):
            done += some
            yield _sample(process.pid, done, time.monotonic() - start)
    assert process.returncode == 0, f"the run ended with exit code {process.returncode}"


def _sample(launcher: int, done: int, seconds: float) -> Sample:
    everybody = [launcher, *descendants(launcher)]
    engines = [pid for pid in everybody[1:] if _command(pid) == _command(everybody[1])]
    return Sample(
        done,
        seconds,
        private_memory(launcher) / 1e6,
        max((private_memory(pid) for pid in engines), default=0) / 1e6,
        sum(_open_files(pid) for pid in everybody),
        len(everybody),
    )


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _open_files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("number", nargs="?", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help='print {"first": {…}, "last": {…}}')
    options = parser.parse_args()
    window = min(1000, options.number // 10)
    with tempfile.TemporaryDirectory() as place:
        os.environ[COURSE_VARIABLE] = str(write_tiny_course(Path(place, "course")))
        examples = list(class_of(options.number))
        folder = hand_in(Path(place, "class"), {one.student: one.files for one in examples})
        samples = list(sampled(folder, Path(place, "results")))
        assert marks(Path(place, "results")) == {one.student: one.mark for one in examples}
    first, last = _of(samples, 0, window), _of(samples, options.number - window, options.number)
    if options.json:
        print(json.dumps({"first": first, "last": last}))
        return
    print(f"{'of ' + str(options.number):16} {'first ' + str(window):>12} {'last ' + str(window):>12}")
    for name in first:
        print(f"{name:16} {first[name]:12.1f} {last[name]:12.1f}")
    print(f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def _of(samples: list[Sample], begin: int, end: int) -> dict[str, float]:
    """Return the rate between two submissions, and the largest of every other figure."""
    within = [sample for sample in samples if begin < sample.done <= end]
    rate = (within[-1].done - within[0].done) / (within[-1].seconds - within[0].seconds)
    columns = [name for name in asdict(within[0]) if name not in ("done", "seconds")]
    most = {name: round(max(getattr(sample, name) for sample in within), 1) for name in columns}
    return {"per_second": round(rate, 2), **most}


if __name__ == "__main__":
    main()

"""Measures the time and the memory of one submission from a cold start: `python benchmarks/cold.py [--json]`.

Time is printed as a ratio to that of `python -c "import torch"`, which every grader of torch code must do. Both are run
in turn, by the same interpreter, and the medians are compared, so that a slow or busy machine slows both. Files are in
the page cache, as after a first run. Processor time is printed, too, because wall time also depends on the other work
of the machine.

Memory is the peak of all processes of the command together, in PSS: a page that n processes share counts 1/n for each.
It is sampled in separate runs, because sampling costs time. Only root can read it, because walled processes are hidden
from other users; they get no figure. If processes that do not belong to the command have torch loaded, too, they share
its pages, and the figure is too low: the table says so.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPORT_TORCH = (sys.executable, "-c", "import torch")
LEVEL = "full" if os.geteuid() == 0 else "user"
MOST_RATIO, MOST_MB = 1.5, 450.0
MEMORY_RUNS = 3


@dataclass(frozen=True)
class Run:
    """Time and memory of one run of a command."""

    wall: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("submission", nargs="?", type=Path, default=ROOT / "reference/attention_scores.py")
    parser.add_argument("-a", "--assignment", default="attention_scores")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help='print {"ratio_import_torch": …, "pss_mb": …}')
    options = parser.parse_args()
    grade = _grade(options.submission, options.assignment)
    torch_runs, grade_runs = _alternate(IMPORT_TORCH, grade, options.rounds)
    strangers = _with_torch()
    peak = max(_peak_pss(grade) for _ in range(MEMORY_RUNS)) if os.geteuid() == 0 else None
    ratio = _wall(grade_runs) / _wall(torch_runs)
    if options.json:
        print(json.dumps({"ratio_import_torch": round(ratio, 3), "pss_mb": peak}))
        return
    print(f"{'median of ' + str(options.rounds):28} {'wall s':>8} {'cpu s':>8}")
    for name, runs in (('python -c "import torch"', torch_runs), ("softmark grade", grade_runs)):
        print(f"{name:28} {_wall(runs):8.3f} {_cpu(runs):8.3f}")
    print(f"{'ratio':28} {ratio:8.2f} {_cpu(grade_runs) / _cpu(torch_runs):8.2f}   to reach: {MOST_RATIO} (wall)")
    print(f"{'peak of all processes':28} {peak or '?':>8} MB of PSS   to reach: {MOST_MB:.0f} MB")
    print(f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if strangers:
        print(f"{strangers} other processes have torch loaded and share its pages: measure memory again without them")


def _grade(submission: Path, assignment: str) -> tuple[str, ...]:
    command = Path(sys.executable).with_name("softmark")
    return (str(command), "grade", str(submission), "-a", assignment, "--isolation", LEVEL)


def _alternate(first: Sequence[str], second: Sequence[str], rounds: int) -> tuple[list[Run], list[Run]]:
    """Run both commands in turn, after one run of each that does not count."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(rounds + 1):
        for command, record in zip((first, second), runs, strict=True):
            record.append(_run(command))
    return runs[0][1:], runs[1][1:]


def _run(command: Sequence[str]) -> Run:
    start = time.perf_counter()
    process = _start(command)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    _insist_on_success(command, os.waitstatus_to_exitcode(status))
    return Run(wall, used.ru_utime + used.ru_stime)


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _insist_on_success(command: Sequence[str], status: int) -> None:
    if status != 0:
        sys.exit(f"benchmark: {' '.join(command)} ended with exit status {status}")


def _wall(runs: list[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def _cpu(runs: list[Run]) -> float:
    return statistics.median(run.cpu for run in runs)


def _peak_pss(command: Sequence[str]) -> float:
    """Return the largest PSS, in megabytes, that was seen of the command and its descendants."""
    process = _start(command)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_pss(pid) for pid in _tree(process.pid)))
    _insist_on_success(command, process.returncode)
    return round(peak / 1_000_000, 1)


def _tree(root: int) -> list[int]:
    """Return a process and its descendants; the zygote adopts orphans, so none is missing."""
    found = [root]
    for pid in found:
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found.extend(int(child) for child in children.split())
    return found


def _pss(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    line = next((line for line in rollup.splitlines() if line.startswith("Pss:")), None)
    return int(line.split()[1]) * 1024 if line is not None else 0


def _with_torch() -> int:
    """Count the processes on this machine that have torch's library mapped now."""
    count = 0
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            count += "libtorch_cpu" in maps.read_text()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return count


if __name__ == "__main__":
    main()

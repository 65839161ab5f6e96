"""Measures how long a student waits for `softmark check`: `python benchmarks/check.py [-a HOMEWORK] [--json]`.

    cold      `softmark check` on a right solution, from the start of the program
    again     `softmark check --watch`: from a save of the file until its new result is on the terminal
    notebook  `softmark.check(…)` in a kernel of Jupyter that has checked before: the slowest of the homework's parts

Every figure is a median in seconds on the clock, and a ratio to `python -c "import torch"`, which any check of torch
code must do once. Both are run in turn, so that a slow or busy machine slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from softmark.check.public_tests import read_handout

ROOT = Path(__file__).resolve().parents[1]
SOFTMARK = str(Path(sys.executable).with_name("softmark"))
IMPORT_TORCH = (sys.executable, "-c", "import torch")
END_OF_RESULT = b"public tests: "
MOST_RATIO_COLD, MOST_AGAIN, MOST_NOTEBOOK = 1.4, 0.5, 0.3
Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-a", "--assignment", default="attention_scores")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help='print {"import_torch": …, "cold": …, …} in seconds')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = _solved(options.assignment, Path(place) / options.assignment)
        torch, cold = _cold(folder, options.rounds)
        parts = _notebook(folder, options.rounds)
        again = _again(folder, options.rounds)
    part, notebook = max(parts.items(), key=lambda found: found[1])
    figures = {"import_torch": torch, "cold": cold, "again": again, "notebook": notebook}
    if options.json:
        print(json.dumps({name: round(seconds, 3) for name, seconds in figures.items()}))
        return
    wanted = {
        "cold": f"ratio {MOST_RATIO_COLD}",
        "again": f"{MOST_AGAIN} s",
        "notebook": f"{MOST_NOTEBOOK} s, part {part}",
    }
    print(f"{'median of ' + str(options.rounds):14} {'s':>7} {'ratio':>7}   to reach")
    for name, seconds in figures.items():
        print(f"{name:14} {seconds:7.3f} {seconds / torch:7.2f}   {wanted.get(name, '')}")
    print(f"load of this machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def _solved(homework: str, folder: Path) -> Path:
    """Return a copy of a homework's folder that has the solution in it."""
    shutil.copytree(ROOT / "assignments" / homework, folder)
    shutil.copy(_solution(folder), folder)
    return folder


def _solution(folder: Path) -> Path:
    return ROOT / "reference" / read_handout(folder).file


def _cold(folder: Path, rounds: int) -> tuple[float, float]:
    """Return the time of importing torch and that of the command, after one run of each that does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds + 1):
        for command, taken in zip((IMPORT_TORCH, (SOFTMARK, "check")), times, strict=True):
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            taken.append(time.perf_counter() - start)
    first, second = (statistics.median(taken[1:]) for taken in times)
    return first, second


def _again(folder: Path, rounds: int) -> float:
    """Return the time from a save to its result. The first result comes from a cold start, and does not count."""
    file, times = folder / _solution(folder).name, list[float]()
    ours, terminal = pty.openpty()
    watching = subprocess.Popen((SOFTMARK, "check", "--watch"), cwd=folder, stdout=terminal, stdin=terminal)
    os.close(terminal)
    try:
        _await_result(ours)
        for number in range(rounds + 1):
            text = f"{_solution(folder).read_text()}\n# save {number}\n"
            start = time.perf_counter()
            file.write_text(text)
            _await_result(ours)
            times.append(time.perf_counter() - start)
    finally:
        watching.send_signal(signal.SIGINT)
        watching.wait()
        os.close(ours)
    return statistics.median(times[1:])


def _await_result(terminal: int) -> None:
    shown = b""
    while END_OF_RESULT not in shown:
        shown += os.read(terminal, 65536)
    while not shown.partition(END_OF_RESULT)[2].strip():
        shown += os.read(terminal, 65536)


def _notebook(folder: Path, rounds: int) -> Figures:
    """Return the time of each part in a cell; the first check of the kernel imports, and does not count."""
    parts = [part.number for part in read_handout(folder).parts]
    manager, client = start_new_kernel(cwd=str(folder), kernel_name="python3")
    try:
        for cell in (_solution(folder).read_text(), "import softmark\nsoftmark.check()"):
            client.execute_interactive(cell, output_hook=lambda _: None, timeout=120)
        return {part: statistics.median(_cell(client, part) for _ in range(rounds)) for part in parts}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _cell(client: BlockingKernelClient, part: str) -> float:
    """Return the time of one cell, as its sender sees it. End the program if the part is not right."""
    shown: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        shown.append(message["content"].get("data", {}).get("text/plain", ""))

    start = time.perf_counter()
    client.execute_interactive(f"softmark.check({part!r})", output_hook=hear, timeout=120)
    taken = time.perf_counter() - start
    if "✓" not in "".join(shown):
        sys.exit(f"benchmark: part {part} of the solution does not pass: {''.join(shown)}")
    return taken


if __name__ == "__main__":
    main()

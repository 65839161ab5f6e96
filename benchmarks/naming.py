"""Measures a submission that is wrong everywhere and that no mistake explains: `python benchmarks/naming.py [--json]`.

Grades a class of the attention homework in which every function multiplies its answer by a factor of the student's
own, so that no named mistake explains any answer and no two students answer alike. It prints the wall time of each
further submission: the difference between a class of 12 and a class of 4, divided by 8.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEVEL = "full" if os.geteuid() == 0 else "user"
HOMEWORK = "attention_scores"
FUNCTIONS = (
    "attend",
    "project",
    "scores",
    "softmax_rows",
    "masked_softmax",
    "attention",
    "causal_mask",
    "padding_mask",
)
FEW, MANY = 4, 12
MOST_MS = 250.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help='print {"unnamed_ms": …, "right_ms": …}')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="naming-") as place:
        Path(place).chmod(0o711)
        unnamed, right = (milliseconds(Path(place), wrong, options.rounds) for wrong in (True, False))
    if options.json:
        print(json.dumps({"unnamed_ms": unnamed, "right_ms": right}))
    else:
        print(f"a further submission of {HOMEWORK}, isolation {LEVEL}: right {right:.0f} ms")
        print(f"wrong in every part, without a name: {unnamed:.0f} ms   to reach: at most {MOST_MS:g}")


def milliseconds(place: Path, wrong: bool, rounds: int) -> float:
    """Return the wall time of each further submission, from the quickest of the runs of either size."""
    best = {}
    for size in (FEW, MANY):
        folder = place / f"{'wrong' if wrong else 'right'}-{size}"
        folder.mkdir()
        for number in range(size):
            (folder / f"student_{number}.py").write_text(
                _source(1.01 + number / 1000 if wrong else 1 + number * 2**-51)
            )
        best[size] = min(_run(folder) for _ in range(rounds))
    return round((best[MANY] - best[FEW]) / (MANY - FEW) * 1000, 1)


def _source(factor: float) -> str:
    """Return the reference with every real answer multiplied by a factor; a factor above 1.001 also reverses masks."""
    scaling = f"""

def _scaled(function):
    def call(*args, **kwargs):
        outputs = function(*args, **kwargs)
        return tuple(map(_times, outputs)) if isinstance(outputs, tuple) else _times(outputs)
    return call


def _times(output):
    return output * {factor!r} if output.is_floating_point() else output.flip(-1) if {factor!r} > 1.001 else output


"""
    wrapped = "".join(f"{name} = _scaled({name})\n" for name in FUNCTIONS)
    return (ROOT / "reference" / f"{HOMEWORK}.py").read_text() + scaling + wrapped


def _run(folder: Path) -> float:
    program = str(Path(sys.executable).with_name("softmark"))
    words = [program, "grade", str(folder), "-a", HOMEWORK, "--isolation", LEVEL, "--jobs", "1", "--fresh"]
    start = time.monotonic()
    done = subprocess.run([*words, "-o", f"{folder}-results"], cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"softmark ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds


if __name__ == "__main__":
    main()

"""Grades files that are spoilt in part 1 and right elsewhere: `python benchmarks/spoilt.py [HOMEWORK...] [--json]`.

The function of part 1 raises an exception, gives a wrong shape or type, or does not end, in ten ways each. The rest of
the file is the reference's. Each part is graded by itself, so nothing may be lost outside of part 1. The table has, for
each kind, the number of files that lost marks in part 1, and the most that one lost elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEVEL = "full" if os.geteuid() == 0 else "user"
SECONDS = 1
"""Processor time of a test. The homeworks allow ten times as much, which takes an hour here and shows the same."""
HOMEWORKS = {
    "attention_scores": "attend scores softmax_rows",
    "building_blocks": "linear",
    "byte_pair_encoding": "pieces",
    "cost_model": "rnn_cost",
    "language_model": "windows",
    "lstm_gates": "gate_inputs",
    "multi_head": "split_heads",
    "positional_encoding": "angles",
    "recurrent": "rnn_step",
    "seq2seq": "bilinear_scores",
    "text_features": "tokens",
    "transformer_block": "layer_norm",
    "vision_transformer": "patches",
    "word_vectors": "skip_gram_pairs",
}
"""The functions to spoil: that of part 1. In attention_scores nothing builds on part 1, so parts 3 and 4 as well."""

EXCEPTIONS = (
    "raise ValueError('no')",
    "return right(*args, **kwargs)[10**6]",
    "return undefined_name(*args)",
    "return args[0].no_such_attribute",
    "import torch; return torch.ones(2, 3) @ torch.ones(2, 3)",
    "raise KeyboardInterrupt",
    "raise SystemExit(0)",
    "return spoilt(*args, **kwargs)",
    "import os; os._exit(0)",
    "del kwargs['absent']",
)
SHAPES = (
    "return each(lambda r: r[None])",
    "return each(lambda r: r.flatten())",
    "return each(lambda r: r.sum(-1))",
    "return each(lambda r: r[..., :1])",
    "return each(lambda r: r.unsqueeze(-1))",
    "import torch; return each(lambda r: torch.cat([r, r], dim=-1))",
    "return each(lambda r: r.half())",
    "return each(lambda r: r.tolist())",
    "return None",
    "return each(lambda r: r.mT if r.dim() > 1 else r[:0])",
)
LOOPS = (
    "while True: pass",
    "import torch\n    while True: torch.ones(3).sum()",
    "import itertools\n    for _ in itertools.count(): pass",
    "import time; time.sleep(10**6)",
    "import threading; threading.Event().wait()",
    "return sum(iter(int, 1))",
    "import os; os.read(os.pipe()[0], 1)",
    "while True:\n        try: raise ValueError\n        except BaseException: pass",
    "import re; re.match('(a+)+b', 'a' * 40)",
    "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
)
KINDS = {"exceptions": EXCEPTIONS, "wrong shapes": SHAPES, "endless loops": LOOPS}


def spoilt(source: str, function: str, body: str) -> str:
    """Return the reference's text with another body for one function."""
    renamed = re.sub(rf"^def {function}\(", f"def right_{function}(", source, count=1, flags=re.MULTILINE)
    each = "lambda change: tuple(map(change, r)) if type(r := right(*args, **kwargs)) is tuple else change(r)"
    lines = f"def {function}(*args, **kwargs):\n    right, spoilt = right_{function}, {function}\n    each = {each}\n"
    head, found, tail = renamed.partition(f"def right_{function}(")
    return f"{head}{lines}    {body}\n\n\n{found}{tail}"


def files(homework: str, kind: str) -> dict[str, str]:
    """Return the spoilt files of one kind, by name."""
    source = (ROOT / "reference" / f"{homework}.py").read_text()
    functions = HOMEWORKS[homework].split()
    return {
        f"{function}_{number}": spoilt(source, function, body)
        for function in functions
        for number, body in enumerate(KINDS[kind])
    }


def course(place: Path) -> Path:
    """Return a copy of the course with short limits."""
    for folder in ("graders", "reference"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in place.glob("graders/*/homework.toml"):
        file.write_text(re.sub(r"^cpu_seconds = .*", f"cpu_seconds = {SECONDS}", file.read_text(), flags=re.MULTILINE))
    return place


def lost(homework: str, files: dict[str, str], root: Path, place: Path) -> dict[str, tuple[float, float]]:
    """Return for each spoilt file the points that it lost in the part of its function, and elsewhere."""
    inbox, results = place / "inbox", place / "results"
    inbox.mkdir(parents=True)
    for name, source in files.items():
        (inbox / f"{name}.py").write_text(source)
    program = str(Path(sys.executable).with_name("softmark"))
    words = [program, "grade", str(inbox), "-a", homework, "-o", str(results), "--isolation", LEVEL]
    subprocess.run(words, check=True, cwd=root, capture_output=True, env={**os.environ, "SOFTMARK_COURSE": str(root)})
    config = tomllib.loads((root / "graders" / homework / "homework.toml").read_text())
    part_of = {name: part["number"] for part in config["part"] for name in part["function"].split(", ")}
    found = {}
    for file in sorted(results.glob("submissions/*/results.json")):
        own = next(part for name, part in part_of.items() if file.parent.name.rpartition("_")[0].endswith(name))
        points = [0.0, 0.0]
        for test in json.loads(file.read_text())["tests"]:
            points[test["extra_data"]["part"] != own] += test["max_score"] - test["score"]
        found[file.parent.name] = points[0], points[1]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("homework", nargs="*", default=list(HOMEWORKS))
    parser.add_argument("--json", action="store_true", help="print the points that each file lost")
    options = parser.parse_args()
    table = {}
    with tempfile.TemporaryDirectory(prefix="spoilt-") as place:
        Path(place).chmod(0o711)
        root = course(Path(place) / "course")
        for homework in options.homework:
            for kind in KINDS:
                folder = Path(place) / f"{homework}, {kind}"
                table[folder.name] = lost(homework, files(homework, kind), root, folder)
    if options.json:
        print(json.dumps(table))
        return
    for name, points in table.items():
        own = sum(part > 0 for part, _ in points.values())
        most = max(elsewhere for _, elsewhere in points.values())
        print(f"{name:42} {len(points):3} files, {own:3} lost marks there, at most {most:g} points elsewhere")


if __name__ == "__main__":
    main()

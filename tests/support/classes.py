"""Makes classes of a tiny homework, with the command that grades one and what it leaves behind."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from tests.support.course import FILE, NAME, write_course

STRONGEST = "full" if os.geteuid() == 0 else "user"
PATIENCE = 120  # seconds; a run that takes so long hangs
HIDDEN = '''
from reference import tiny as ref


@number("1")
@weight(2)
def test_one(student):
    """One."""
    agree(student.one, ref.one, 1.0)


@number("2")
@weight(2)
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_two(student, x):
    """Two."""
    agree(student.two, ref.two, x)
'''
RIGHT = "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x * 2\n"
WRONG = RIGHT.replace("x * 2", "x * 3")
NOTHING = "def one(x):\n    raise NotImplementedError\n\n\ndef two(x):\n    raise NotImplementedError\n"
BROKEN = "def one(x:\n"
ENDLESS = RIGHT.replace("return x * 2", "while True:\n        pass")
ENDS_ITSELF = RIGHT.replace("return x * 2", "import os\n    os._exit(0)")
LEAVES_A_PROCESS = f"import os, signal\nif os.fork() == 0:\n    signal.pause()\n{RIGHT}"
LOUD = f"print('x' * 100_000)\n{RIGHT}"
WITH_A_HELPER = "from helper import one\n\n\ndef two(x):\n    return x * 2\n"
HELPER = "def one(x):\n    return x + 1\n"

MIXED: Mapping[str, Mapping[str, str]] = {
    **{f"right{number}": {FILE: f"{RIGHT}# {number}\n"} for number in range(6)},
    "broken": {FILE: BROKEN},
    "empty": {"notes.txt": "sorry"},
    "endless": {FILE: ENDLESS},
    "ends": {FILE: ENDS_ITSELF},
    "helped": {FILE: WITH_A_HELPER, "helper.py": HELPER},
    "leaves": {FILE: LEAVES_A_PROCESS},
    "loud": {FILE: LOUD},
    "nothing": {FILE: NOTHING},
    "wrong": {FILE: WRONG},
}
MARKS = {
    **{f"right{number}": 4.0 for number in range(6)},
    "broken": 0.0,
    "empty": 0.0,
    "endless": 2.0,
    "ends": 2.0,
    "helped": 4.0,
    "leaves": 4.0,
    "loud": 4.0,
    "nothing": 0.0,
    "wrong": 2.0,
}


def write_tiny_course(root: Path) -> Path:
    limits = "cpu_seconds = 0.4\nimport_seconds = 4\nmemory_mb = 300\n"
    write_course(root, HIDDEN, points=[2, 2], limits=limits)
    (root / "reference" / f"{NAME}.py").write_text(RIGHT)
    return root


def hand_in(folder: Path, submissions: Mapping[str, Mapping[str, str]]) -> Path:
    """Make a folder for each student."""
    for student, files in submissions.items():
        for name, text in files.items():
            path = folder / student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def grade(*words: str | Path) -> list[str]:
    """Return the command, as it is typed."""
    program = str(Path(sys.executable).with_name("softmark"))
    return [program, "grade", "-a", NAME, "--isolation", STRONGEST, *map(str, words)]


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(grade(*words), capture_output=True, text=True, check=False, timeout=PATIENCE)


def signalled(signal: str, milliseconds: int, when: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command and send it a signal. Return what the end of the last of its processes tells (reaper.py)."""
    reaper = [sys.executable, str(Path(__file__).with_name("reaper.py")), signal, str(milliseconds), when]
    return subprocess.run([*reaper, *grade(*words)], capture_output=True, text=True, check=False, timeout=PATIENCE)


def left_in(results: Path) -> dict[str, bytes]:
    """Return every file of the results but the journal. Two runs that did the same have the same files."""
    files = {str(file.relative_to(results)): file.read_bytes() for file in results.rglob("*") if file.is_file()}
    assert files.pop("gradebook.sqlite")
    return {name: _timeless(content) if name.endswith(".json") else content for name, content in files.items()}


def _timeless(results: bytes) -> bytes:
    content = json.loads(results)
    assert content.pop("execution_time") >= 0
    return json.dumps(content).encode()


def marks(results: Path) -> dict[str, float]:
    """Return the marks of those who have one, by id."""
    lines = (results / "grades.csv").read_text("utf-8-sig").splitlines()
    head, *rows = ([cell.strip('"') for cell in line.split(",")] for line in lines)
    grades = [dict(zip(head, row, strict=False)) for row in rows]
    return {grade["id"]: float(grade["mark"]) for grade in grades if grade["mark"]}


def gradings(results: Path) -> Counter[str]:
    """Return how often each submission was graded, in all runs together."""
    with closing(sqlite3.connect(results / "gradebook.sqlite")) as db:
        return Counter(name for (name,) in db.execute("SELECT submission FROM gradings"))

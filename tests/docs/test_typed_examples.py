"""The examples of the documentation, typed as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import softmark
from tests.conftest import ROOT, STRONGEST
from tests.support.classes import FILE, NAME, RIGHT, WRONG, hand_in, marks, write_tiny_course

BIN = Path(sys.executable).parent
FILE_OR_CONSOLE = re.compile(
    r"^`(?P<file>\w+/\S+)`\n\n```(?:toml|python|markdown)\n(?P<content>.*?)^```"
    r"|^```console\n(?P<console>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def type_console(text: str, course: Path) -> None:
    """Run the commands of a console block, and find the lines that the document shows in what they print."""
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        words = shlex.split(command, comments=True)
        if words[1] == "grade":
            words += ["--isolation", STRONGEST]
        done = run(words, course, SOFTMARK_COURSE=str(course))
        expected = int(found[1]) if (found := re.search(r"# exit code (\d)", command)) else 0
        assert done.returncode == expected, done.stdout + done.stderr
        printed = " ".join(done.stdout.split())
        for line in shown.splitlines():
            pattern = re.escape(" ".join(line.split())).replace("…", r"\S+")
            assert re.search(pattern, printed), f"{command} does not print {line!r} but:\n{done.stdout}"


class TestTutorial:
    """docs/tutorial.md: a homework from an empty folder to a graded class."""

    def test_can_be_typed(self, tmp_path: Path) -> None:
        """Each file is written and each command typed in the order of the page; what it shows is printed."""
        text = (ROOT / "docs/tutorial.md").read_text()
        steps = list(FILE_OR_CONSOLE.finditer(text))
        assert len(steps) == len(re.findall(r"^```\w+$", text, re.MULTILINE))
        for step in steps:
            if step["console"]:
                type_console(step["console"], tmp_path)
            else:
                file = tmp_path / step["file"]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(step["content"])
        for name in ("grades.csv", "tests.csv", "submissions/bob/feedback.html"):
            assert (tmp_path / "results/activations" / name).is_file()


class TestFromPython:
    """docs/gradebook.md: a class graded by a program."""

    def test_can_be_run(self, tmp_path: Path) -> None:
        """The program of the page grades a class, writes its gradebook and exports it."""
        (program,) = re.findall(
            r"^```python\n(.*?)^```", (ROOT / "docs/gradebook.md").read_text(), re.DOTALL | re.MULTILINE
        )
        course = write_tiny_course(tmp_path)
        hand_in(course / "downloads", {"ada": {FILE: RIGHT}, "ben": {FILE: WRONG}})
        (course / "program.py").write_text(
            program.replace("attention_scores", NAME).replace('"full"', f'"{STRONGEST}"')
        )
        done = run(["python", "program.py"], course, SOFTMARK_COURSE=str(course))
        assert (done.stderr, sorted(done.stdout.splitlines())) == ("", ["ada 4.0", "ben 2.0"])
        assert marks(course / "results" / NAME) == {"ada": 4.0, "ben": 2.0}
        assert '"ada"' in (course / "canvas.csv").read_text()


BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/checks.md").read_text(), re.DOTALL)
TEST = re.compile(r"^((?:@.*\n)*)def test_", re.MULTILINE)
HEAD = "import pytest\nimport torch\n\nfrom reference import multi_head as ref\nfrom softmark import *\n\n\n"

TOML = """
title = "Checks"
file = "multi_head.py"
points = {points}

[[part]]
number = "1"
function = "split_heads, merge_heads, multi_head_attention, MultiHeadAttention"
title = "All of it"
points = {points}
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose hidden tests are those of docs/checks.md."""
    course = tmp_path_factory.mktemp("course")
    (course / "reference").mkdir()
    (course / "graders/multi_head").mkdir(parents=True)
    shutil.copy(ROOT / "reference/multi_head.py", course / "reference")
    points = sum(len(TEST.findall(block)) + block.count("@partial_credit(2)") for block in BLOCKS)
    (course / "graders/multi_head/homework.toml").write_text(TOML.format(points=points))
    numbers = iter(range(1, 100))

    def decorated(found: re.Match[str]) -> str:
        weight = "" if "partial_credit" in found[1] else "@weight(1)\n"
        return f'@number("1.{next(numbers)}")\n{weight}{found[1]}def test_'

    (course / "graders/multi_head/test_hidden.py").write_text(HEAD + TEST.sub(decorated, "\n\n".join(BLOCKS)))
    return course


class TestChecksPage:
    """docs/checks.md: its examples are hidden tests of multi_head."""

    def grade(self, course: Path, file: Path) -> str:
        words = [
            "python",
            "-m",
            "pytest",
            "graders/multi_head",
            "--submission",
            str(file),
            "--isolation",
            STRONGEST,
            "-q",
        ]
        return run([*words, "-p", "no:cacheprovider"], course, SOFTMARK_COURSE=str(course)).stdout

    def test_reference_passes(self, course: Path) -> None:
        """The right solution passes each example."""
        told = self.grade(course, course / "reference/multi_head.py")
        tests = sum(len(TEST.findall(block)) for block in BLOCKS)
        assert re.search(rf"\b{tests + 2} passed", told), told  # one of them has three cases
        assert "failed" not in told
        assert "error" not in told

    def test_stub_fails(self, course: Path) -> None:
        """A solution that is not written fails each example."""
        starter = ROOT / "assignments/multi_head/multi_head.py"
        told = self.grade(course, starter)
        assert "passed" not in told
        assert "failed" in told

    def test_names_what_there_is(self) -> None:
        """Every check in the page's table is a public name."""
        text = (ROOT / "docs/checks.md").read_text()
        named = set(re.findall(r"^\| .* \| .*?`([a-z_]+)\(", text, re.MULTILINE))
        assert len(named) > 8
        assert named <= set(softmark.__all__)

"""The documents are true: what they name exists, what they tell to type works, the pictures are the program's own."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from softmark.course.deadlines import AttemptLimit
from softmark.course.homework import load_homework
from tests.documents import DOCS, PICTURES, documents

ROOT = Path(__file__).parents[2]
STRONGEST = "full" if os.geteuid() == 0 else "user"


def commands(document: str) -> list[str]:
    """The lines of a document's shell blocks, comments cut off."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


PACKAGE = ROOT / "src/softmark"
ROOMS = sorted(folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file())
PAGES_WITH_MODULES = ("how-it-works.md", "limits.md", "where.md")


def named_modules(page: str) -> Counter[str]:
    """Count the modules that a page names by their path in the package."""
    return Counter(re.findall(r"`((?:\w+/)*\w+\.py)`", (DOCS / page).read_text()))


def has_content(file: Path) -> bool:
    """Return whether a module is more than the first page of its room."""
    defined = (ast.FunctionDef, ast.ClassDef)
    is_first_page = file.name == "__init__.py" and file.parent != PACKAGE
    return not is_first_page or any(isinstance(node, defined) for node in ast.parse(file.read_text()).body)


class TestModules:
    """The pages that lead a newcomer through the modules."""

    @pytest.mark.parametrize("page", PAGES_WITH_MODULES)
    def test_exist(self, page: str) -> None:
        """Every module that a page names is there, and so is every test."""
        named = [ROOT / file if file.startswith("tests/") else PACKAGE / file for file in named_modules(page)]
        assert [file for file in named if not file.is_file()] == []

    def test_are_introduced_once(self) -> None:
        """The page names every module once, with what it does."""
        modules = Counter(file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*.py") if has_content(file))
        named = named_modules("how-it-works.md")
        assert (modules - named, named - modules) == (Counter(), Counter())

    def test_every_room_is_named(self) -> None:
        """No room of the house is left out of the walk."""
        text = (DOCS / "how-it-works.md").read_text()
        assert [room for room in ROOMS if f"`{room}/" not in text] == []


class TestReadme:
    """The first page."""

    @pytest.mark.parametrize("command", commands("README.md"))
    def test_command_works(self, command: str, tmp_path: Path) -> None:
        """Whatever it tells to type can be typed; make's targets exist."""
        if command.startswith("make "):
            done = subprocess.run(
                ["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return
        if "results/" in command and "-o" not in command.split():
            (first,) = (other for other in commands("README.md") if " -o results/" in other)
            self.run(first, tmp_path)
        done = self.run(command, tmp_path)
        assert done.returncode in ((0, 1) if "pytest" in command else (0,)), done.stdout + done.stderr

    @staticmethod
    def run(command: str, results: Path) -> subprocess.CompletedProcess[str]:
        """As it is typed, but for the walls this user can have and the place of what it writes."""
        words = [word.replace("results/", f"{results}/") for word in shlex.split(command)]
        words = [str(results / word) if word in ("autograder.zip", "out") else word for word in words]
        if "doctor" in words or "grade" in words or "pytest" in words[0]:
            words += ["--isolation", STRONGEST]
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)


class TestVersion:
    """The version stands in one place, and the versions of libraries are those that are tested."""

    PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def test_is_said_by_the_program(self) -> None:
        """`softmark --version` says what pyproject.toml says."""
        command = [str(Path(sys.executable).with_name("softmark")), "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, f"softmark {self.PROJECT['version']}\n")

    @pytest.mark.parametrize("name", ["pytest", "torch"])
    def test_private_parts_are_bounded(self, name: str) -> None:
        """The tested version of a library whose private parts are used is allowed, and the next minor one is not."""
        (line,) = (line for line in self.PROJECT["dependencies"] if re.match(rf"{name}\b", line))
        allowed = Requirement(line).specifier
        (tested,) = re.findall(rf"^{name}==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
        major, minor = Version(tested).release[:2]
        assert tested in allowed
        assert f"{major}.{minor + 1}.0" not in allowed


class TestGradescopePage:
    """docs/gradescope.md."""

    TEXT = (ROOT / "docs/gradescope.md").read_text()

    def test_rules_are_accepted(self, tmp_path: Path) -> None:
        """What it says to write into homework.toml can be written there, and means what it says."""
        (rules,) = re.findall(r"```toml\n(.*?)```", self.TEXT, re.DOTALL)
        for folder in ("graders/attention_scores", "reference"):
            (tmp_path / folder).mkdir(parents=True)
        config = (ROOT / "graders/attention_scores/homework.toml").read_text()
        (tmp_path / "graders/attention_scores/homework.toml").write_text(config + rules)
        homework = load_homework("attention_scores", tmp_path)
        assert homework.late is not None
        assert homework.attempts == AttemptLimit(5, timedelta(hours=24))

    def test_names_the_arguments_of_the_build(self) -> None:
        """Its table has every argument that the Dockerfile takes, and no other."""
        taken = set(re.findall(r"^ARG (\w+)", (ROOT / "docker/Dockerfile").read_text(), re.MULTILINE))
        assert set(re.findall(r"^\| `(\w+)` \|", self.TEXT, re.MULTILINE)) == taken


class TestGenerated:
    """Pictures and pages that the program makes of itself."""

    PAGES = ("commands.md", "feedback.md", *(f"pictures/{picture.name}" for picture in sorted(PICTURES.glob("*.svg"))))

    @pytest.mark.parametrize("name", PAGES)
    def test_is_fresh(self, name: str) -> None:
        """It shows what the program says today: run `python -m tests.documents` if it does not."""
        assert (DOCS / name).read_text() == documents()[DOCS / name]

    def test_shows_twenty_failures(self) -> None:
        """The page of feedback has a picture for each of twenty failures."""
        assert (DOCS / "feedback.md").read_text().count("![In the terminal]") == 20

    def test_tells_twenty_failures_of_texts(self) -> None:
        """Below them is a table of twenty failures whose answers are texts, lists and dictionaries."""
        rows = re.findall(r"^\| (.+) \| (.+) \|$", (DOCS / "feedback.md").read_text(), re.MULTILINE)
        assert len(dict(rows[1:])) == len(dict(map(reversed, rows[1:]))) == 20

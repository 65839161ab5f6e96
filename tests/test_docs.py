"""The documents are true: what they name exists, what they tell to type works, the pictures are the program's own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.pictures import DOCS, PICTURES, documents

ROOT = Path(__file__).parents[1]
STRONGEST = "full" if os.geteuid() == 0 else "user"


def commands(document: str) -> list[str]:
    """The lines of a document's shell blocks, comments cut off."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


class TestHowItWorks:
    """The page that takes a newcomer along one request."""

    @pytest.mark.parametrize("module", sorted(set(re.findall(
        r"`((?:cli|(?:intake|sandbox|verdict|grading|batch|report|authoring)/\w+)\.py)`",
        (ROOT / "docs/how-it-works.md").read_text(),
    ))))  # fmt: skip
    def test_names_modules_that_exist(self, module: str) -> None:
        """Every module it names is there."""
        assert (ROOT / "src/softmark" / module).is_file()

    def test_names_every_room(self) -> None:
        """No room of the house that a grading passes through is left out."""
        text = (ROOT / "docs/how-it-works.md").read_text()
        assert all(f"{room}/" in text for room in ("intake", "sandbox", "verdict", "grading", "batch", "report"))


class TestReadme:
    """The first page."""

    @pytest.mark.parametrize("command", commands("README.md"))
    def test_command_works(self, command: str, tmp_path: Path) -> None:
        """Whatever it tells to type can be typed; make's targets exist."""
        words = shlex.split(command)
        if words[0] == "make":
            done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return
        if "-o" in words:
            words[words.index("-o") + 1] = str(tmp_path)
        if "doctor" in words or "grade" in words or "pytest" in words[0]:
            words += ["--isolation", STRONGEST]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode in ((0, 1) if "pytest" in words[0] else (0,)), done.stdout + done.stderr


class TestGenerated:
    """Pictures and pages that the program makes of itself."""

    @pytest.mark.xdist_group("documents")
    @pytest.mark.parametrize("name", ["feedback.md", *(f"pictures/{p.name}" for p in sorted(PICTURES.glob("*.svg")))])
    def test_is_fresh(self, name: str) -> None:
        """It shows what the program says today: run `python -m tests.pictures` if it does not."""
        assert (DOCS / name).read_text() == documents()[DOCS / name]

    def test_shows_ten_failures(self) -> None:
        """The page of feedback has a picture for each of ten failures."""
        assert (DOCS / "feedback.md").read_text().count("![In the terminal]") == 10

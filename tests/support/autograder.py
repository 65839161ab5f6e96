"""Makes a platform's folder as Gradescope lays it out, and runs the autograder in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).parents[2]
SOFTMARK = str(Path(sys.executable).with_name("softmark"))
STRONGEST = "full" if os.geteuid() == 0 else "user"
SCHEMA = json.loads((ROOT / "tests/feedback/results.schema.json").read_text())


@dataclass(frozen=True)
class Autograder:
    """The folder that is /autograder in the platform's container."""

    root: Path

    @classmethod
    def with_homework(cls, root: Path, homework: str = "attention_scores", more: str = "") -> Autograder:
        """Make the folder as it is after set-up; `more` is appended to homework.toml."""
        source = root / "source"
        shutil.copytree(
            ROOT / "graders" / homework,
            source / "graders" / homework,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (source / "reference").mkdir()
        shutil.copy(ROOT / "reference" / f"{homework}.py", source / "reference")
        with (source / "graders" / homework / "homework.toml").open("a") as config:
            config.write(more)
        (root / "submission").mkdir()
        return cls(root)

    def hand_in(self, files: dict[str, str | bytes], metadata: Any = None) -> None:
        """Put a new submission in the place of any before it; without metadata there is no file of them."""
        shutil.rmtree(self.root / "submission")
        shutil.rmtree(self.root / "results", ignore_errors=True)
        for name, content in files.items():
            file = self.root / "submission" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        (self.root / "submission").mkdir(exist_ok=True)
        about = self.root / "submission_metadata.json"
        about.unlink(missing_ok=True)
        if metadata is not None:
            about.write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Do what run_autograder does once the first results.json is in place."""
        words = [SOFTMARK, "gradescope", "--root", str(self.root), "--isolation", STRONGEST, *options]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def prepare(self) -> None:
        done = self.run("--prepare")
        assert done.returncode == 0, done.stderr

    def results(self) -> dict[str, Any]:
        """Return results.json, checked against the schema."""
        return valid_results((self.root / "results/results.json").read_bytes())


def valid_results(data: bytes) -> dict[str, Any]:
    """Return a results.json as a strict reader sees it."""
    content: dict[str, Any] = json.loads(data, parse_constant=_refuse)
    jsonschema.validate(content, SCHEMA)
    return content


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no number of strict JSON")

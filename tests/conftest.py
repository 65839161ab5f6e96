"""What several tests share: a course whose limits are short, and a grading engine that is started once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission
from softmark.sandbox.procfs import descendants

os.environ.pop("PYTEST_ADDOPTS", None)  # it is for this run, and not for the sessions that tests start

ROOT = Path(__file__).parents[1]
STRONGEST = "full" if os.geteuid() == 0 else "user"
SHORT_LIMITS = "[limits]\ncpu_seconds = 1\nimport_seconds = 2\nmemory_mb = 400\nfile_mb = 60\n"


SHARE_A_PROCESS = ("tests/docker/", "tests/docs/test_docs.py::TestGenerated")
"""Tests that use something which is costly to make: a Docker engine and its images, the generated pages."""


class Scheduling(LoadScopeScheduling):
    """What shares something goes to one process, and first; everything else to whichever process is free."""

    def _split_scope(self, nodeid: str) -> str:
        return next((start for start in SHARE_A_PROCESS if nodeid.startswith(start)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what `softmark check` remembers away from the files of whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def short_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The attention homework with limits so short that a time-out is not waited for long."""
    root = tmp_path_factory.mktemp("course")
    for part in ("graders/attention_scores", "reference"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    config = root / "graders/attention_scores/homework.toml"
    before, _, after = config.read_text().partition("[limits]")
    config.write_text(before + SHORT_LIMITS + after[after.index("\n[[part]]") :])
    return root


@pytest.fixture(scope="session")
def reference_source() -> str:
    return (ROOT / "reference/attention_scores.py").read_text()


@dataclass(frozen=True)
class Bench:
    """An engine at the strongest level with short limits, and what it leaves behind."""

    engine: LocalEngine
    scratch: Path
    file: str

    def grade(self, source: str) -> Result:
        """Grade a source text as the homework's file."""
        return self.engine.submit(
            Job(Submission(id="test"), SubmittedFiles(self.file, {self.file: source.encode()}))
        ).result()

    def processes(self) -> list[int]:
        """Processes below the engine, but for the zygote."""
        (engine,) = self.engine.pids
        _zygote, *others = sorted(descendants(engine))
        return others

    def files(self) -> list[str]:
        """What lies in the scratch directories of student processes."""
        return [str(entry) for root in self.scratch.glob("softmark-*") for entry in root.iterdir()]


@contextmanager
def opened_bench(course: Path, homework: str = "attention_scores") -> Iterator[Bench]:
    """One engine for many submissions; its scratch directories are where the test can see them."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        Path(place).chmod(0o711)
        patch.setattr(tempfile, "tempdir", place)
        with LocalEngine(GradingSpec.of(load_homework(homework, course), STRONGEST)) as engine:
            file = engine.pending().file
            patch.undo()
            yield Bench(engine, Path(place), file)


@pytest.fixture(scope="session")
def bench(short_course: Path) -> Iterator[Bench]:
    """A bench that most tests share."""
    with opened_bench(short_course) as bench:
        yield bench


@pytest.fixture
def scratch_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory that is the one for temporary files: the test sees what a run leaves in it.

    It asks for `tmp_path` first, because pytest's own directory must not be made in it.
    """
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as place:
        Path(place).chmod(0o711)
        monkeypatch.setenv("TMPDIR", place)
        monkeypatch.setattr(tempfile, "tempdir", place)
        yield Path(place)

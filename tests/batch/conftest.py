"""A tiny course that every command finds, and a place for scratch directories where what a run leaves is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from softmark.course.homework import COURSE_VARIABLE
from tests.support.classes import MIXED, hand_in, run, write_tiny_course


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_tiny_course(tmp_path / "course")
    monkeypatch.setenv(COURSE_VARIABLE, str(root))
    monkeypatch.chdir(root)
    return root


@pytest.fixture(autouse=True)
def temporary(scratch_place: Path) -> Path:
    """The directory for temporary files, empty at first."""
    return scratch_place


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the mixed class, graded by one run that nobody disturbed, one submission after the other."""
    place = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(COURSE_VARIABLE, str(write_tiny_course(place / "course")))
        done = run(hand_in(place / "class", MIXED), "-o", place / "results", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    return place / "results"

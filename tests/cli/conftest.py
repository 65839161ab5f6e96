"""Makes the folder that a student gets, for all tests of the commands that students type."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a homework's folder as a student gets it, far from the course."""
    return Path(shutil.copytree(ROOT / "assignments/attention_scores", tmp_path / "homework"))

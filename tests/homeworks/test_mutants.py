"""The hidden tests of each homework catch a tenth of the mutants of its reference, or say why not.

`softmark mutate` tries all of them.
"""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import ROOT
from tests.support.tiny_homework import softmark

EXPLAINED = sorted(file.parent.name for file in (ROOT / "graders").glob("*/survivors.toml"))


@pytest.mark.parametrize("name", EXPLAINED)
def test_a_tenth(name: str) -> None:
    """Every survivor has a reason."""
    done = softmark(ROOT, "mutate", name, "--sample", "10", "--jobs", str(os.cpu_count() or 1), "--json")
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)["homeworks"][name]
    assert told["gaps"] == []
    assert told["mutants"] >= 30

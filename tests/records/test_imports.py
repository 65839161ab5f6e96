"""Only code that grades imports torch; code that reads, collects, renders or starts grading does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    room = importlib.import_module(name)
    for module in pkgutil.walk_packages(getattr(room, "__path__", []), f"{name}."):
        importlib.import_module(module.name)
    assert "torch" not in sys.modules, name
"""


@pytest.mark.parametrize(
    "names",
    [
        ["records", "course", "intake", "feedback", "report"],
        ["engines.protocol", "engines.messages", "grading.job"],
        ["batch", "platforms", "engines.local"],
        ["cli.app", "cli.grade", "cli.one_file", "cli.class_run", "cli.results", "cli.platform", "cli.student"],
    ],
    ids=["data", "what an engine is given", "what has an engine grade", "commands"],
)
def test_costs_no_torch(names: list[str]) -> None:
    """Only the process of an engine pays for that import, and shares it with all that is forked from it."""
    subprocess.run([sys.executable, "-I", "-c", IMPORT_ALL, *(f"softmark.{name}" for name in names)], check=True)

"""Imports have no cycles, and only code that grades imports torch: code that reads, collects or renders does not."""

from __future__ import annotations

import subprocess
import sys
from graphlib import TopologicalSorter

import grimp
import pytest

from softmark.cli.app import COMMANDS

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    room = importlib.import_module(name)
    for module in pkgutil.walk_packages(getattr(room, "__path__", []), f"{name}."):
        importlib.import_module(module.name)
    assert "torch" not in sys.modules, name
"""


def test_no_modules_import_each_other() -> None:
    """Modules that import each other, be it inside a function or for types only, can only be read together."""
    graph = grimp.build_graph("softmark", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules of a cycle


@pytest.mark.parametrize(
    "names",
    [
        ["records", "course", "intake", "feedback", "report"],
        ["engines.protocol", "engines.messages", "grading.job"],
        ["batch", "platforms", "engines.local"],
        ["cli"],
    ],
    ids=["data", "what an engine is given", "what has an engine grade", "commands"],
)
def test_costs_no_torch(names: list[str]) -> None:
    """Only the process of an engine pays for that import, and shares it with all that is forked from it."""
    subprocess.run([sys.executable, "-I", "-c", IMPORT_ALL, *(f"softmark.{name}" for name in names)], check=True)


HELP = """
import sys
from softmark.cli.app import app
try:
    app(sys.argv[1:])
finally:
    assert not {"torch", "pytest"} & sys.modules.keys()
"""


@pytest.mark.parametrize("command", [*COMMANDS, None])
def test_help_costs_no_torch(command: str | None) -> None:
    """Help comes at once, that of every command, too."""
    words = [command, "--help"] if command else ["--help"]
    done = subprocess.run([sys.executable, "-I", "-c", HELP, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout

"""The source of softmark as its readers meet it: one name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "src/softmark"
TWICE = {"Call", "Device", "Lane", "Outcome", "Place", "Ready"}
"""Names of classes that still stand for two things. This may only become less."""


def places_of_classes() -> dict[str, set[Path]]:
    """Return the files in which a class of each name is defined; a leading underscore makes no other name."""
    places: dict[str, set[Path]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].add(file.relative_to(PACKAGE))
    return places


def test_a_class_name_means_one_thing() -> None:
    """No two modules define a class of the same name, be it private or not."""
    twice = {name: places for name, places in places_of_classes().items() if len(places) > 1}
    assert twice.keys() <= TWICE, twice

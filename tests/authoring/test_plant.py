"""Planting a variant into the reference as source text."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from softmark.authoring.plant import plant
from softmark.course.homework import load_homework
from softmark.grading.author_files import load_mistakes
from softmark.verdict.mistakes import RegisteredVariant
from tests.support.tiny_homework import HEAD, course

REFERENCE = '''"""Tiny."""

import torch
from torch import nn


def helper(x):
    return x + 1


def double(x):
    return helper(x) * 2


class Net(nn.Module):
    def forward(self, x):
        return double(x)
'''
VARIANTS = (
    "import math\n\n"
    + HEAD
    + """helper = 5
BASE = helper


def other(x):
    return x * BASE


@mistake(ref.double, says="A.")
def wrong_function(x):
    return other(ref.helper(x)) + math.pi


@mistake(ref.Net.forward, says="B.")
def wrong_method(self, x):
    return ref.double(ref.double(x))


@mistake(ref.Net, says="C.")
class WrongNet(ref.nn.Module):
    def forward(self, x):
        return ref.helper(x)
"""
)

PIECES = """import math

HALF = 0.5


def half_of(x):
    return math.fsum([HALF * x])


def unused(x):
    return x
"""
VARIANT_OF_A_FOLDER = (
    "from graders.tiny.pieces import half_of\n"
    + HEAD
    + """

@mistake(ref.double, says="D.")
def halved(x):
    return half_of(ref.helper(x))
"""
)


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, RegisteredVariant]:
    root = course(tmp_path, reference=REFERENCE, mistakes=VARIANTS)
    (root / "graders/tiny/pieces.py").write_text(PIECES)
    (root / "graders/tiny/mistakes").mkdir()
    (root / "graders/tiny/mistakes/of_a_folder.py").write_text(VARIANT_OF_A_FOLDER)
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])
    for name in ("reference", "reference.tiny", "graders", "graders.tiny", "graders.tiny.pieces"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return {entry.name: entry for entry in load_mistakes(load_homework("tiny", root), ("mistakes",)).mistakes}


def run(source: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "planted"}
    exec(compile(source, "planted.py", "exec"), names)
    return names


class TestPlant:
    """The submission of a student who made exactly that mistake."""

    def test_function(self, entries: dict[str, RegisteredVariant]) -> None:
        """It takes the target's place and name, with what it uses carried along under names that clash with nothing."""
        names = run(plant(REFERENCE, entries["wrong_function"]))
        assert names["double"](1) == pytest.approx(10 + 3.141592653589793)  # type: ignore[operator]
        assert names["helper"](1) == 2  # type: ignore[operator]
        assert "wrong_function" not in names

    def test_pieces_of_another_file(self, entries: dict[str, RegisteredVariant]) -> None:
        """What a variant imports from the homework's other files is carried along as its own file's is."""
        source = plant(REFERENCE, entries["halved"])
        assert run(source)["double"](2) == 1.5  # type: ignore[operator]
        assert not any(word in source for word in ("graders", "unused"))

    def test_method(self, entries: dict[str, RegisteredVariant]) -> None:
        """A method is replaced inside its class."""
        names = run(plant(REFERENCE, entries["wrong_method"]))
        assert names["Net"]()(1) == 10  # type: ignore[operator]

    def test_class(self, entries: dict[str, RegisteredVariant]) -> None:
        """A class is replaced as a whole."""
        names = run(plant(REFERENCE, entries["WrongNet"]))
        assert names["Net"]()(1) == 2  # type: ignore[operator]

    def test_nothing_of_the_registry_is_left(self, entries: dict[str, RegisteredVariant]) -> None:
        """No decorator, no `ref`, no words that name the mistake."""
        for entry in entries.values():
            source = plant(REFERENCE, entry)
            assert not any(word in source for word in ("mistake", "ref.", "says", "reference"))

    def test_stands_by_itself(self, entries: dict[str, RegisteredVariant]) -> None:
        """It imports nothing of the course's, which no submission can: the way to the reference is closed to it."""
        for entry in entries.values():
            imports = [
                node for node in ast.walk(ast.parse(plant(REFERENCE, entry))) if isinstance(node, ast.ImportFrom)
            ]
            assert [node.module for node in imports] == ["torch"]

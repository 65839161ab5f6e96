"""The source as its readers meet it: one name for one thing, and docstrings that begin with what they say."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "src/softmark"

PLACES = ("src", "graders", "reference", "docker", "benchmarks", "tests/support")
RIDDLES = {
    "What", "Whatever", "Whether", "How", "Those", "Who", "Whoever", "Whom", "Whose", "Which", "Where", "Why", "When",
    "Nothing",
}  # fmt: skip
"""No docstring begins with one of these: subject, verb and object are easier to read than a clause in their place."""


def places_of_classes() -> dict[str, set[Path]]:
    """Return the files in which a class of each name is defined; a leading underscore makes no other name."""
    places: dict[str, set[Path]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].add(file.relative_to(PACKAGE))
    return places


def docstrings(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every docstring of a file, those of constants and fields among them."""
    for node in ast.walk(ast.parse(file.read_text())):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield statement.lineno, value.value


def riddles() -> dict[str, list[str]]:
    """Return, for each file that has some, the docstrings that begin with a word of RIDDLES."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in (file for place in PLACES for file in sorted((ROOT / place).rglob("*.py"))):
        for line, text in docstrings(file):
            first = re.match(r"\W*(\w+)", text)
            if first and first[1] in RIDDLES:
                found[file.relative_to(ROOT).as_posix()].append(f"line {line}: {text.strip().splitlines()[0]}")
    return found


def test_a_class_name_means_one_thing() -> None:
    """No two modules define a class of the same name, be it private or not."""
    twice = {name: places for name, places in places_of_classes().items() if len(places) > 1}
    assert not twice


def test_no_docstring_is_a_riddle() -> None:
    """A docstring says what the thing does or is: "Return …", "Raise … if …", "The …"."""
    assert not riddles()

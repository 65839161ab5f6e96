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


def names_of_types(tree: ast.Module) -> Iterator[str]:
    """Yield the names of a module's classes, type aliases and type variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and re.match("_*[A-Z]", target.id) and not target.id.isupper():
                yield target.id


def places_of_types() -> dict[str, set[Path]]:
    """Return the files in which a type of each name is defined; a leading underscore makes no other name."""
    places: dict[str, set[Path]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for name in names_of_types(ast.parse(file.read_text())):
            places[name.lstrip("_")].add(file.relative_to(PACKAGE))
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


def test_the_name_of_a_type_means_one_thing() -> None:
    """No two modules define a class, a type alias or a type variable of the same name, be it private or not."""
    twice = {name: places for name, places in places_of_types().items() if len(places) > 1}
    assert not twice


def test_aliases_are_types() -> None:
    """A class, an alias and a type variable are seen; a constant is none."""
    source = "class _A: ...\nRow = tuple[int, ...]\n_Any: X = int\nT_co = TypeVar('T_co')\nMOST = 3\nsmall = 1\n"
    assert list(names_of_types(ast.parse(source))) == ["_A", "Row", "_Any", "T_co"]


def test_no_docstring_is_a_riddle() -> None:
    """A docstring says what the thing does or is: "Return …", "Raise … if …", "The …"."""
    assert not riddles()

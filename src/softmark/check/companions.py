"""Finds the files beside a student's work that must be handed in with it: its own modules, and data that it opens.

A module counts if the work imports it, directly or through another one. A data file counts if its name stands in the
code. Nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from softmark.check.own_code import OwnCode
from softmark.intake.choose import DATA
from softmark.intake.model import SubmittedFiles
from softmark.intake.notebook import with_cells
from softmark.intake.places import Refusal, read


def companions_of(main: str, content: bytes, folder: Path, own: Path) -> dict[str, bytes]:
    """Return the files that the work needs, by their paths below its folder. `own` is the work's own file."""
    found: dict[str, bytes] = {}
    unseen = [*_needed(main, content, folder)]
    while unseen:
        path = unseen.pop(0)
        name = path.relative_to(folder).as_posix()
        if name in found or path == own:
            continue
        found[name] = read(path)
        if path.suffix == ".py":
            unseen += _needed(name, found[name], folder)
    return dict(sorted(found.items()))


def _needed(name: str, content: bytes, folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that a Python file or a notebook names in its imports or in its texts."""
    handed = SubmittedFiles(name, {name: content})
    if name.endswith(".ipynb"):
        try:
            handed = with_cells(handed)
        except Refusal:
            return  # it cannot be graded, whatever lies beside it
    for tree in OwnCode(handed).trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from _modules(alias.name, folder)
            elif isinstance(node, ast.ImportFrom):
                start = node.module or ""
                yield from _modules(start, folder)
                for alias in node.names:
                    yield from _modules(f"{start}.{alias.name}".lstrip("."), folder)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield from _data(node.value, folder)


def _modules(dotted: str, folder: Path) -> Iterator[Path]:
    """Yield the files that an import of this module runs, as far as they are below the folder."""
    place = folder
    for piece in dotted.split("."):
        if not piece.isidentifier():
            return
        for file in (place / piece / "__init__.py", place / f"{piece}.py"):
            if file.is_file():
                yield file
                break
        place /= piece


def _data(text: str, folder: Path) -> Iterator[Path]:
    path = PurePosixPath(text)
    if path.suffix.casefold() not in DATA or path.is_absolute() or ".." in path.parts or len(text) > 200:
        return
    try:
        if (folder / path).is_file():
            yield folder / path
    except (OSError, ValueError):
        return  # no name of a file

"""What the decorators of gradescope-utils left on a test function, and where in the file they stand."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softmark.records.errors import ConfigError

if TYPE_CHECKING:
    import pytest


class Declaration:
    """The declared properties of one hidden test, and errors that point at the decorator which is wrong."""

    def __init__(self, item: pytest.Item, root: Path) -> None:
        self.function: Any = getattr(item, "function", None)
        self.path = item.path
        self.file = _shown_path(item.path, root)
        if self.function is None:
            raise ConfigError(self.file, 1, f"{item.name} is no test function")
        self.name = item.nodeid.partition("::")[2].partition("[")[0]
        self._code = inspect.unwrap(self.function).__code__
        self._source = self.path.read_text(encoding="utf-8")
        self.line = self._line_of("def")

    @property
    def docstring(self) -> str:
        """The whole docstring, or the empty text."""
        return inspect.getdoc(self.function) or ""

    def value(self, name: str) -> object:
        """What the decorator stored as `__name__` on the function; None if it was not used."""
        return getattr(self.function, f"__{name}__", None)

    def has_decorator(self, name: str) -> bool:
        """Whether the decorator is written above this function."""
        return self._decorator_line(name) is not None

    def wrong(self, place: str, problem: str) -> ConfigError:
        """The error to raise about this test; `place` is a decorator's name, or "def"."""
        return ConfigError(self.file, self._line_of(place), f"{self.name} {problem}")

    def _line_of(self, place: str) -> int:
        if place != "def":
            return self._decorator_line(place) or self.line
        return next(
            (number for number, text in self._lines_of_header() if re.match(r"\s*(async\s+)?def\s", text)),
            self._code.co_firstlineno,
        )

    def _decorator_line(self, name: str) -> int | None:
        written = re.compile(rf"\s*@(\w+\.)*{name}\b")
        return next((number for number, text in self._lines_of_header() if written.match(text)), None)

    def _lines_of_header(self) -> list[tuple[int, str]]:
        """The numbered lines from the first decorator up to the function's `def`."""
        header = []
        first = self._code.co_firstlineno
        for number, text in enumerate(self._source.splitlines()[first - 1 :], start=first):
            header.append((number, text))
            if re.match(r"\s*(async\s+)?def\s", text):
                break
        return header


def refuse_shadowing(path: Path, root: Path) -> None:
    """Two test functions of one name: Python silently forgets the first, and its marks with it."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    scopes: list[ast.Module | ast.ClassDef] = [module, *classes]
    for scope in scopes:
        seen: dict[str, int] = {}
        for node in scope.body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
                continue
            first = seen.setdefault(node.name, node.lineno)
            if first != node.lineno:
                problem = f"there is already a test named {node.name} in line {first}"
                raise ConfigError(_shown_path(path, root), node.lineno, problem)


def _shown_path(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.name

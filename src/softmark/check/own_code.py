"""Follows the student's own code in its text: which statements a function that is asked for needs, in which file.

Nothing is run. The files are those that are loaded when the work is graded, cells of a notebook included, and the
Python files beside them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from softmark.intake.model import SubmittedFiles
from softmark.sandbox.worker.cells import parse_cell

_NOT_WHILE_GRADING = {"__name__", "TYPE_CHECKING"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class OwnStatement:
    """A statement outside of all functions, with the names that it sets and uses."""

    file: str
    node: ast.stmt

    @property
    def first(self) -> int:
        return self.node.lineno

    def holds(self, file: str, line: int) -> bool:
        """Return whether a line is one of the statement's."""
        return file == self.file and self.first <= line <= (self.node.end_lineno or self.first)

    @cached_property
    def sets(self) -> frozenset[str]:
        """The names that the statement sets outside of all functions."""
        if isinstance(self.node, _DEFINITIONS):
            return frozenset({self.node.name})
        if isinstance(self.node, ast.Import | ast.ImportFrom):
            return frozenset(alias.asname or alias.name.partition(".")[0] for alias in self.node.names)
        names = (part for part in ast.walk(self.node) if isinstance(part, ast.Name))
        return frozenset(part.id for part in names if isinstance(part.ctx, ast.Store))

    @cached_property
    def uses(self) -> frozenset[str]:
        return frozenset(part.id for part in ast.walk(self.node) if isinstance(part, ast.Name))

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The libraries that it imports."""
        if isinstance(self.node, ast.Import):
            return frozenset(alias.name.partition(".")[0] for alias in self.node.names)
        if isinstance(self.node, ast.ImportFrom) and self.node.module:
            return frozenset({self.node.module.partition(".")[0]})
        return frozenset()


class OwnCode:
    """All code of a submission, parsed."""

    def __init__(self, handed: SubmittedFiles) -> None:
        self.trees: dict[str, ast.Module] = dict(_parsed(handed))
        self.statements = [OwnStatement(file, node) for file, tree in self.trees.items() for node in run_at_once(tree)]
        self._loaded = handed.loaded

    @property
    def is_whole(self) -> bool:
        """Return whether every file that is loaded is Python."""
        return all(file in self.trees for file in self._loaded)

    def definition(self, name: str) -> ast.stmt | None:
        """Return the last statement that sets a name: in the files that are loaded, else in those beside them."""
        found = [statement for statement in self.statements if name in statement.sets]
        main = [statement for statement in found if statement.file in self._loaded]
        imported = [s for s in found if s.file not in self._loaded and isinstance(s.node, _DEFINITIONS)]
        last = main[-1].node if main else None
        return imported[-1].node if imported and not isinstance(last, (*_DEFINITIONS, ast.Assign)) else last

    def needed_by(self, name: str) -> list[OwnStatement]:
        """Return the statements that a function needs, directly or through others, its own definition first.

        Of several definitions of a name the last one counts.
        """
        found: list[OwnStatement] = []
        unseen, seen = [name], set[str]()
        while unseen:
            wanted = unseen.pop(0)
            if wanted in seen:
                continue
            seen.add(wanted)
            for statement in self._that_set.get(wanted, ()):
                if statement not in found:
                    found.append(statement)
                    unseen += sorted(statement.uses)
        return found

    @cached_property
    def _that_set(self) -> Mapping[str, Sequence[OwnStatement]]:
        setting: dict[str, list[OwnStatement]] = {}
        for statement in self.statements:
            for name in statement.sets:
                if isinstance(statement.node, _DEFINITIONS) and statement.file in self._loaded:
                    setting[name] = []
                setting.setdefault(name, []).append(statement)
        return setting


def _parsed(handed: SubmittedFiles) -> Iterator[tuple[str, ast.Module]]:
    beside = [name for name in handed.files if name.endswith(".py") and name not in handed.loaded]
    for file in (*handed.loaded, *beside):
        try:
            if file in handed.cells:
                yield file, parse_cell(handed.files[file].decode("utf-8", "replace"), file)
            else:
                yield file, ast.parse(handed.files[file])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # loading the file reports the error


def run_at_once(node: ast.Module | ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that are run when a file is loaded for grading, also those inside of `if`, `try` and `with`.

    Loops stay whole.
    """
    for block in ("body", "handlers", "orelse", "finalbody"):
        for inner in getattr(node, block, ()):
            if isinstance(inner, ast.ExceptHandler):
                yield from run_at_once(inner)  # type: ignore[arg-type]
            elif isinstance(inner, ast.If) and _is_left_out(inner):
                yield from run_at_once(ast.Module(inner.orelse, []))
            elif isinstance(inner, ast.If | ast.Try | ast.With):
                yield from run_at_once(inner)
            else:
                yield inner


def _is_left_out(node: ast.If) -> bool:
    """Return whether the block is not run while grading: under `if __name__ …` or `if TYPE_CHECKING`."""
    return bool(_NOT_WHILE_GRADING & {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)})

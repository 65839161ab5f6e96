"""Runs a notebook inside its worker: its cells, in their order, as one module.

By default only statements that define something are run (statements.py), each by itself. So a statement that fails
costs only the names that it would have set: a library may not be installed, a cell may be half written. In a notebook
whose cells were moved, a statement may need a name that is defined further down. Such a statement is tried again after
the others. On request the whole notebook is run as Jupyter does it: an exception ends its cell, and the next cell runs.

IPython's own lines are blanked out, so that each line keeps its number. A line is blanked only if Python reports an
error in it and it looks like IPython's. So a `%` that continues an expression, or a `!` inside a text, is never taken
for a magic.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import inspect
import os
import re
import textwrap
import types
from collections.abc import Set
from typing import Any, TypeGuard

import msgspec

from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Cells
from softmark.sandbox.worker import absent, exceptions
from softmark.sandbox.worker.statements import (
    NotebookNames,
    Statement,
    compiled,
    left_out,
    root_of,
    trimmed,
    what_is_needed,
)

_MOST_TOLD = 20


class CellRun:
    """The cells of one notebook on their way into a module, and what came of each."""

    def __init__(self, scratch: str, cells: Cells) -> None:
        self._scratch, self._asked = scratch, cells
        self._files = [os.path.join(scratch, name) for name in cells.names]
        self._failed: list[Raised] = []
        self._unset: list[tuple[int, int]] = []
        self._set_in: dict[str, list[int]] = {}
        self.trees = _without_checks(self._parsed())

    def run_in(self, module: types.ModuleType) -> None:
        """Fill the module. Nothing that a cell raises is raised here."""
        if self._asked.whole:
            self._run_whole(module)
        else:
            self._run_definitions(module)

    def told(self) -> dict[str, Any]:
        """Return what was noticed in the cells, as fields of the message Loaded."""
        several = [(name, cells) for name, cells in self._set_in.items() if len(cells) > 1]
        return {"failed": self._failed[:_MOST_TOLD], "unset": self._unset[:_MOST_TOLD], "several": several[:_MOST_TOLD]}

    def _parsed(self) -> list[ast.Module]:
        trees = []
        for cell, file in enumerate(self._files):
            with open(file, encoding="utf-8", errors="replace", newline="") as source:
                text = source.read()
            try:
                trees.append(parse_cell(text, file))
            except Exception as error:  # RecursionError and MemoryError too: the parser's answers to nesting
                self._note_failure(error, cell)
                trees.append(ast.Module([], []))
        return trees

    def _run_definitions(self, module: types.ModuleType) -> None:
        own = NotebookNames(node for tree in self.trees for node in tree.body)
        kept: list[Statement] = []
        others: list[tuple[int, ast.stmt]] = []
        for cell, tree in enumerate(self.trees):
            for node in (part for whole in tree.body for part in absent.one_by_one(whole)):
                try:
                    left = trimmed(node, own)
                    if left is None:
                        others.append((cell, node))
                    else:
                        kept.append(compiled(cell, left, self._files[cell], self._flags, own))
                except Exception as error:
                    self._note_failure(error, cell, node.lineno)
        run, needed = what_is_needed(kept, self._asked.wanted)
        self._run_statements(run, vars(module))
        self._note_unset(others, needed, vars(module))

    def _run_statements(self, statements: list[Statement], namespace: dict[str, Any]) -> None:
        """Run each statement in its turn. Repeat those that lacked a name, as long as some of them succeed."""
        latest: dict[str, int] = {}
        waiting = list(enumerate(statements))
        while waiting:
            lacking: list[tuple[int, Statement, NameError]] = []
            for turn, statement in waiting:
                if any(latest.get(name, -1) > turn for name in statement.sets):
                    self._note_set(statement.sets, statement.cell)
                    continue  # a later cell has defined it meanwhile, and the last definition counts
                try:
                    exec(statement.code, namespace)
                except NameError as error:
                    lacking.append((turn, statement, error))
                except BaseException as error:  # whatever a statement raises is its own
                    self._note_failure(error, statement.cell, statement.code.co_firstlineno)
                    if isinstance(error, ImportError):
                        absent.stand_in(statement.sets, error, namespace)
                else:
                    latest.update(dict.fromkeys(statement.sets, turn))
                    self._note_set(statement.sets, statement.cell)
            if len(lacking) == len(waiting):
                for _, statement, lack in lacking:
                    self._note_failure(lack, statement.cell, statement.code.co_firstlineno)
                return
            waiting = [(turn, statement) for turn, statement, _ in lacking]

    def _run_whole(self, module: types.ModuleType) -> None:
        namespace = vars(module)
        for cell, tree in enumerate(self.trees):
            before = {name: namespace.get(name) for name in self._asked.wanted}
            try:
                code = compile(tree, self._files[cell], "exec", self._flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
                for lacking in absent.run(code, tree.body, lambda part: _finish(eval(part, namespace)), namespace):
                    self._note_failure(lacking, cell)
            except BaseException as error:
                self._note_failure(error, cell)
            self._note_set({name for name, thing in before.items() if namespace.get(name) is not thing}, cell)

    @property
    def _flags(self) -> int:
        """Return the flags of `from __future__ import …` in all cells. Jupyter, too, applies them to later cells."""
        flags = 0
        for node in (node for tree in self.trees for node in tree.body):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                features = [getattr(__future__, alias.name, None) for alias in node.names]
                flags |= sum({feature.compiler_flag for feature in features if feature is not None})
        return flags

    def _note_failure(self, error: BaseException, cell: int, line: int = 1) -> None:
        told = exceptions.describe(error, self._scratch)
        if isinstance(error, ImportError) and any(told.message == earlier.message for earlier in self._failed):
            return  # report an absent library once, not for every line that uses it
        frames = told.frames or (Frame(self._asked.names[cell], line, "", ""),)
        self._failed.append(msgspec.structs.replace(told, frames=frames))

    def _note_set(self, names: Set[str], cell: int) -> None:
        for name in names & self._asked.wanted:
            cells = self._set_in.setdefault(name, [])
            if cell not in cells:
                cells.append(cell)

    def _note_unset(self, others: list[tuple[int, ast.stmt]], needed: set[str], namespace: dict[str, Any]) -> None:
        """Note the place of the last statement that was left out for each needed name that it would have set."""
        places: dict[str, tuple[int, int]] = {}
        for cell, node in others:
            stored, changed = left_out(node)
            missing = {name for name in stored if name not in namespace and not hasattr(builtins, name)}
            places |= dict.fromkeys((missing | changed) & needed, (cell, node.lineno))
        self._unset = sorted(places.values())


def _without_checks(trees: list[ast.Module]) -> list[ast.Module]:
    """Return the cells without imports and calls of softmark, with which a notebook checks itself.

    Functions stay as they are: a name inside may be one of their own.
    """
    ours = [node for tree in trees for node in tree.body if _imports_softmark(node)]
    names = {(alias.asname or alias.name).partition(".")[0] for node in ours for alias in node.names}
    unseen: list[ast.AST] = [*trees]
    while unseen:
        place = unseen.pop()
        for field in ("body", "orelse", "finalbody"):
            block = getattr(place, field, [])
            kept = [node for node in block if node not in ours and not _calls(node, names)]
            if len(kept) < len(block):
                setattr(place, field, kept or [ast.copy_location(ast.Pass(), block[0])])
            unseen += [node for node in kept if isinstance(node, _BLOCKS)]
    return trees


def _calls(node: ast.stmt, names: Set[str]) -> bool:
    return isinstance(node, ast.Expr) and root_of(node.value) in names


def _imports_softmark(node: ast.stmt) -> TypeGuard[ast.Import | ast.ImportFrom]:
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(module.partition(".")[0] == "softmark" for module in modules)


_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def _finish(result: Any) -> None:
    """Run a cell with a top-level `await` to its end. There is no event loop, so nothing can really wait."""
    if inspect.iscoroutine(result):
        try:
            while True:
                result.send(None)
        except StopIteration:
            return


_CELL_MAGIC = re.compile(r"(?:[ \t]*(?:#.*)?\n)*[ \t]*%%(\w*)")
_AROUND_PYTHON = {"time", "timeit", "capture"}  # the cell is Python below the first line; other magics take all of it
_LINE = re.compile(r"\s*(?:[%!?]|[\w., ]+=\s*[%!])|.*\?\s*(?:#.*)?$")  # %magic, !shell, ?help, name = !shell, help?


def parse_cell(text: str, file: str) -> ast.Module:
    """Return the syntax tree of a cell, without magics; raise SyntaxError, with its line, if it is no Python."""
    if "\0" in text:
        raise SyntaxError("a NUL character", (file, text.count("\n", 0, text.index("\0")) + 1, 0, ""))
    lines = re.split(r"\r\n|\r|\n", text)
    magic = _CELL_MAGIC.match("\n".join(lines))
    if magic is not None and magic[1] not in _AROUND_PYTHON:
        return ast.Module([], [])
    if text[:1] in (" ", "\t"):
        lines = textwrap.dedent("\n".join(lines)).split("\n")  # IPython runs a cell that is indented as a whole
    while True:
        try:
            return ast.parse("\n".join(lines), file)
        except SyntaxError as error:
            if not _blank(lines, (error.lineno or 0) - 1):
                raise


def _blank(lines: list[str], index: int) -> bool:
    """Blank a line, and the lines that continue it, if it is IPython's; return whether it is."""
    if not 0 <= index < len(lines) or not _LINE.match(lines[index]):
        return False
    goes_on = lines[index].endswith("\\")
    indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
    lines[index] = f"{indent}pass"
    while goes_on and (index := index + 1) < len(lines):
        goes_on = lines[index].endswith("\\")
        lines[index] = ""
    return True

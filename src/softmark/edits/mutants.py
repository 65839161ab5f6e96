"""Makes mutants of a solution: its own source text with one small edit that a student may well have made.

Operators (operators.py, statements.py, occasions.py) propose changes of a function's syntax tree. This module writes
each of them into the text at its place, so that comments and layout stay. It leaves out changes that leave the program
as it is, repeat another change or are no Python. The same source gives the same mutants in the same order.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from softmark.edits.occasions import occasions
from softmark.edits.operators import expressions
from softmark.edits.scopes import FunctionNode, Scope, TreeChange
from softmark.edits.statements import statements


@dataclass(frozen=True)
class Mutant:
    """One function of a solution with one edit."""

    function: str
    """The function or method, such as `scores` or `Net.forward`."""
    kind: str
    line: int
    old: str
    new: str
    source: str
    """The whole file with the edit in it."""
    place: int = 1
    """1 for the first edit of this function with these words, 2 for the second one, and so on."""

    @property
    def edit(self) -> str:
        """Return the words by which an author names it: `old → new`."""
        return f"{self.old} → {self.new}" + (f" ({self.place})" if self.place > 1 else "")

    def __str__(self) -> str:
        return f"{self.function}: {self.edit}"


def mutants_of(source: str, functions: Sequence[str]) -> list[Mutant]:
    """Return the mutants of these functions, methods and classes of a source text."""
    found: list[Mutant] = []
    for name, node in _definitions(ast.parse(source), functions):
        found += _of_function(_Text(source), name, node)
    told: Counter[str] = Counter()
    numbered = []
    for mutant in found:
        told[str(mutant)] += 1
        numbered.append(replace(mutant, place=told[str(mutant)]))
    return numbered


def _definitions(tree: ast.Module, functions: Sequence[str]) -> Iterator[tuple[str, FunctionNode]]:
    """Yield the functions of these names in the order of the file; for a class, all of its methods."""
    for node in tree.body:
        if isinstance(node, FunctionNode) and node.name in functions:
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, FunctionNode) and {node.name, f"{node.name}.{method.name}"} & set(functions):
                    yield f"{node.name}.{method.name}", method


def _of_function(text: _Text, name: str, function: FunctionNode) -> Iterator[Mutant]:
    scope = Scope(name, function)
    seen = {ast.dump(function)}
    for operator in (expressions, statements, occasions):
        for change in operator(scope):
            wanted = scope.dumped_with(change)
            if wanted in seen:
                continue
            seen.add(wanted)
            planted = text.planted(function, change, wanted)
            if planted is not None:
                new, source = planted
                yield Mutant(name, change.kind, change.node.lineno, text.fragment(change), new, source)


class _Text:
    """A source text whose syntax nodes can be replaced. Python counts their columns in bytes."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def fragment(self, change: TreeChange) -> str:
        """Return the text that is replaced. If it has several lines, return it on one line and without comments."""
        start, end = self._span(change)
        text = self._bytes[start:end].decode()
        if "\n" in text:
            text = "\n".join(ast.unparse(node) for node in dict.fromkeys((change.node, change.last)))
        return _on_one_line(text)

    def planted(self, function: FunctionNode, change: TreeChange, wanted: str) -> tuple[str, str] | None:
        """Return the new fragment and the whole source with it; None if that is no Python."""
        indent = "\n" + " " * change.node.col_offset
        new = indent.join("\n".join(map(ast.unparse, change.new)).split("\n"))
        start, end = self._span(change)
        if isinstance(change.new[0], ast.Tuple) and self._bytes[start : start + 1] != b"(":
            new = new.removeprefix("(").removesuffix(")")
        for written in (new, f"({new})") if isinstance(change.node, ast.expr) else (new,):
            whole = self._bytes[:start] + written.encode() + self._bytes[end:]
            if self._dumped(function, whole) == wanted:
                return _on_one_line(new), whole.decode()
        return None

    def _dumped(self, function: FunctionNode, whole: bytes) -> str:
        """Return the syntax of the function in a changed text; nothing if it is no Python."""
        first = min(line.lineno for line in (function, *function.decorator_list))
        last = self._starts[function.end_lineno or 0] + len(whole) - len(self._bytes)
        text = whole[self._starts[first - 1] : last].decode()
        try:
            (statement,) = ast.parse(f"if 1:\n{text}" if text.startswith(" ") else text).body
        except (SyntaxError, ValueError):
            return ""
        return ast.dump(statement.body[0] if isinstance(statement, ast.If) else statement)

    def _span(self, change: TreeChange) -> tuple[int, int]:
        """Return the offset of the first byte that is replaced, and of the first one after it."""
        first, last = change.node, change.last
        start = self._starts[first.lineno - 1] + first.col_offset
        return start, self._starts[(last.end_lineno or 0) - 1] + (last.end_col_offset or 0)


def _on_one_line(text: str) -> str:
    return "; ".join(" ".join(line.split()) for line in text.split("\n"))

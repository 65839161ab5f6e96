"""Finds the functions, methods and classes of a source text, and where they begin and end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from softmark.edits.tokens import PythonToken, tokens_of

_DEFINITION = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class SourceDefinition:
    """A function, method or class of a source text."""

    name: str
    """Its name as Python qualifies it: "scores", or "MultiHeadAttention.forward"."""
    text: str
    """Its lines, with decorators and indentation."""
    start: int
    """The offset in the source at which its text begins."""
    body: int
    """The offset in its text at which its statements begin, behind the docstring."""
    indent: str
    """The spaces before its own first line."""
    body_indent: str
    """The spaces before its statements."""
    is_class: bool

    @property
    def is_method(self) -> bool:
        """Return whether it is defined in a class."""
        return "." in self.name

    @property
    def end(self) -> int:
        """Return the offset in the source at which its text ends."""
        return self.start + len(self.text)

    @cached_property
    def tokens(self) -> tuple[PythonToken, ...]:
        """The tokens of its statements, without those of the `def` line and of the docstring."""
        return tuple(token for token in tokens_of(self.text) if token.start >= self.body)


def definitions_of(source: str) -> dict[str, SourceDefinition]:
    """Return the functions and classes at the top of a source text, and the definitions inside these classes."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return {name: _definition(name, node, source, lines, starts) for name, node in _found(ast.parse(source))}


def _found(scope: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    for node in scope.body:
        if isinstance(node, _DEFINITION):
            yield f"{prefix}{node.name}", node
        if isinstance(node, ast.ClassDef):
            yield from _found(node, f"{prefix}{node.name}.")


def _definition(
    name: str, node: ast.FunctionDef | ast.ClassDef, source: str, lines: list[str], starts: list[int]
) -> SourceDefinition:
    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    top = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    top_of_body = min([first.lineno, *(decorator.lineno for decorator in getattr(first, "decorator_list", ()))])
    start, body = starts[top - 1], offset(top_of_body, first.col_offset)
    if isinstance(first, _DEFINITION):
        body = starts[top_of_body - 1]
    end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    line = lines[node.lineno - 1]
    indent = line[: len(line) - len(line.lstrip())]
    is_below = top_of_body > node.lineno
    before = lines[top_of_body - 1]
    body_indent = before[: len(before) - len(before.lstrip())] if is_below else f"{indent}    "
    return SourceDefinition(
        name, source[start:end], start, body - start, indent, body_indent, isinstance(node, ast.ClassDef)
    )

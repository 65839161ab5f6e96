"""Describes one function for the operators: which node is inside which, and which names are known at a statement."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_INNER_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
LIBRARIES = ("torch", "F", "nn", "np")


@dataclass(frozen=True)
class TreeChange:
    """A change of a syntax tree: new nodes in the place of one node, or of several statements in a row."""

    kind: str
    node: ast.expr | ast.stmt
    new: Sequence[ast.AST]
    end: ast.stmt | None = None
    """The last statement that is replaced; None for only one."""

    @property
    def last(self) -> ast.expr | ast.stmt:
        """The last node that is replaced."""
        return self.end or self.node

    @classmethod
    def to(cls, kind: str, node: ast.expr | ast.stmt, text: str) -> TreeChange:
        """Return the change that replaces a node by the code in this text."""
        return cls(kind, node, ast.parse(text).body if isinstance(node, ast.stmt) else [parsed(text)])


def parsed(text: str) -> ast.expr:
    """Return the syntax of an expression."""
    return ast.parse(text, mode="eval").body


def read(name: str) -> ast.Name:
    """Return the expression that reads a variable."""
    return ast.Name(name, ast.Load())


def called(node: ast.Call) -> str:
    """Return the last name of the function that is called: `softmax` for `torch.softmax`."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def number_in(node: ast.AST) -> int | float | None:
    """Return the number that a node consists of, with its sign; None for any other node."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_in(node.operand)
        return -inner if inner is not None else None
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return node.value if is_number else None  # type: ignore[attr-defined]


def replaced(node: Any, **fields: Any) -> Any:
    """Return a node with some of its fields replaced."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


class Scope:
    """One function of a source text."""

    def __init__(self, name: str, function: FunctionNode) -> None:
        self.name, self.function = name, function
        self.is_method = "." in name
        self._places: dict[ast.AST, tuple[ast.AST, str, int | None]] = {}
        for parent in ast.walk(function):
            for field, value in ast.iter_fields(parent):
                for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                    if isinstance(child, ast.AST):
                        self._places[child] = parent, field, index

    def parent(self, node: ast.AST) -> ast.AST:
        """Return the parent of a node of this function."""
        return self._places[node][0]

    def role(self, node: ast.AST) -> str:
        """Return the field of its parent that a node is in: `left`, `args`, `slice`, …"""
        return self._places[node][1]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node of this function, the innermost first."""
        while node is not self.function:
            node = self.parent(node)
            yield node

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements without the docstring."""
        body = self.function.body
        return body[1:] if ast.get_docstring(self.function, clean=False) is not None else body

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The parameters without self, each with its annotation, or with an empty text."""
        arguments = self.function.args
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return {
            one.arg: ast.unparse(one.annotation) if one.annotation else ""
            for one in named[1 if self.is_method else 0 :]
        }

    @cached_property
    def constants(self) -> list[str]:
        """The names in capitals that the function reads and does not set, such as PAD."""
        read = (node.id for node in ast.walk(self.function) if isinstance(node, ast.Name) and len(node.id) > 1)
        return sorted({name for name in read if name.isupper()} - set(self.variables))

    @cached_property
    def is_plain(self) -> bool:
        """True if the function works with no tensors: its parameters are annotated so, and it uses no library."""
        annotations = self.parameters.values()
        if not annotations or any(not annotation or "Tensor" in annotation for annotation in annotations):
            return False
        return not any(isinstance(node, ast.Name) and node.id in LIBRARIES for node in ast.walk(self.function))

    @cached_property
    def is_of_numbers(self) -> bool:
        """True if the parameters are numbers only."""
        return self.is_plain and set(self.parameters.values()) <= {"int", "float", "bool", "int | None", "float | None"}

    def of_type(self, word: str) -> list[str]:
        """Return the parameters whose annotation has this word in it."""
        return [name for name, annotation in self.parameters.items() if word in annotation]

    def written(self) -> Iterator[ast.AST]:
        """Yield the nodes that a student writes, in the order of the text: defaults and statements, no docstring."""
        yield from self.expressions_in([*self.function.args.defaults, *filter(None, self.function.args.kw_defaults)])
        yield from self.expressions_in(self.body)

    def expressions_in(self, nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
        """Yield these nodes and the nodes inside, except those inside a `raise` or an f-string, and annotations."""
        for node in nodes:
            yield node
            if isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            for field, value in ast.iter_fields(node):
                if field not in ("annotation", "returns", "ctx", "op", "ops", "type_comment"):
                    inner = value if isinstance(value, list) else [value]
                    yield from self.expressions_in([child for child in inner if isinstance(child, ast.AST)])

    @cached_property
    def variables(self) -> list[str]:
        """The parameters and the variables of the function, in the order in which they get their values."""
        stored = [
            node
            for node in ast.walk(self.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not self._is_inner(node)
        ]
        stored.sort(key=lambda name: (name.lineno, name.col_offset))
        return list(dict.fromkeys([*self.parameters, *(name.id for name in stored if name.id != "_")]))

    def known_at(self, node: ast.stmt) -> set[str]:
        """Return the variables that have a value before a statement; in a loop, also those that the loop sets."""
        first = node.lineno
        above: ast.AST = node
        while above is not self.function:
            above = self.parent(above)
            if isinstance(above, ast.For | ast.While):
                return self.known_at(above) | self.stored_in(above)
        earlier = [one for one in ast.walk(self.function) if isinstance(one, ast.stmt) and one.lineno < first]
        return set(self.parameters).union(*(self.stored_in(one) for one in earlier if one is not self.function))

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that a node is a part of."""
        while not isinstance(node, ast.stmt):
            node = self.parent(node)
        return node

    @staticmethod
    def stored_in(node: ast.AST) -> set[str]:
        """Return the variables that a statement sets."""
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}

    @staticmethod
    def loaded_in(node: ast.AST) -> set[str]:
        """Return the variables that a statement reads."""
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}

    @cached_property
    def attributes(self) -> list[str]:
        """The attributes of self that the function reads, in order."""
        found = [
            node.attr
            for node in ast.walk(self.function)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        ]
        return list(dict.fromkeys(found))

    def dumped_with(self, change: TreeChange) -> str:
        """Return the function's syntax with a change in it."""
        parent, field, index = self._places[change.node]
        before = getattr(parent, field)
        rest = before[(self._places[change.last][2] or 0) + 1 :] if index is not None else []
        after: Any = change.new[0] if index is None else [*before[:index], *change.new, *rest]
        setattr(parent, field, after)
        try:
            return ast.dump(self.function)
        finally:
            setattr(parent, field, before)

    def _is_inner(self, node: ast.AST) -> bool:
        """Return whether a node is inside a function, a class or a comprehension of this function."""
        inner = (*_INNER_SCOPES, ast.comprehension)
        return any(isinstance(above, inner) for above in self.above(node) if above is not self.function)

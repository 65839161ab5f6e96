"""Defines what operators of repairs work with: a proposed change, and the functions and variables of a submission."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from softmark.edits.scopes import FunctionNode, Scope

_NEAR, _ALIKE, _UNUSED = 5, 3, 3
"""The numbers of variables that are tried in the place of one: set near it, of similar names, unused."""
DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Written = Callable[[ast.AST], str]
"""Returns an expression as the student has written it."""


@dataclass(frozen=True)
class RepairChange:
    """A change of a syntax node: its new text, in which `{}` may stand for the student's text of the node."""

    kind: str
    node: ast.expr | ast.stmt
    words: str
    focus: ast.AST | None = None
    """The node that a student is shown; None for the changed one."""
    end: ast.stmt | None = None
    """The last statement that is replaced; None for only one."""
    around: bool = False
    """True if `words` contains `{}`."""
    others: tuple[tuple[ast.expr, str], ...] = ()
    """Further nodes after this one, each with its new text."""

    @property
    def last(self) -> ast.expr | ast.stmt:
        """The last node that is replaced."""
        return self.others[-1][0] if self.others else self.end or self.node

    def text(self, written: Written) -> str:
        """Return the new text."""
        return self.words.replace("{}", written(self.node)) if self.around else self.words

    @classmethod
    def several(cls, kind: str, places: Sequence[tuple[ast.expr, str]]) -> RepairChange:
        """Return one slip in several places, each with its new text."""
        (node, words), *others = sorted(places, key=lambda place: (place[0].lineno, place[0].col_offset))
        return cls(kind, node, words, others=tuple(others))

    @classmethod
    def wrapped(cls, kind: str, node: ast.expr, words: str) -> RepairChange:
        """Return a change that puts something around an expression. `{}` in `words` stands for the expression."""
        return cls(kind, node, words, around=True)


class OwnFunctions:
    """The functions and classes at the top of a submission's files."""

    def __init__(self, nodes: dict[str, DefinitionNode]) -> None:
        self.nodes = nodes

    def reached(self, functions: Sequence[str], others: Collection[str]) -> list[str]:
        """Return the definitions of these functions, then those that they use, except those of other parts."""
        foreign = {name.partition(".")[0] for name in others}
        found = [name for name in dict.fromkeys(name.partition(".")[0] for name in functions) if name in self.nodes]
        for name in found:  # the list grows inside the loop
            used = [node.id for node in ast.walk(self.nodes[name]) if isinstance(node, ast.Name)]
            found += [
                one for one in dict.fromkeys(used) if one in self.nodes and one not in found and one not in foreign
            ]
        return found

    def used(self, definitions: Collection[str], others: Collection[str]) -> list[str]:
        """Return the functions and classes of other parts that these definitions use, or whose methods they define."""
        read = {node.id for name in definitions for node in ast.walk(self.nodes[name]) if isinstance(node, ast.Name)}
        return [name for name in dict.fromkeys(other.partition(".")[0] for other in others)
                if name in read or name in definitions]  # fmt: skip

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The functions, each with the number of its parameters."""
        return {
            name: len(node.args.posonlyargs) + len(node.args.args)
            for name, node in self.nodes.items()
            if isinstance(node, FunctionNode)
        }

    def unused_attributes(self, name: str) -> list[str]:
        """Return the attributes of `self` that a class sets and never reads."""
        node = self.nodes.get(name)
        if not isinstance(node, ast.ClassDef):
            return []
        own = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"]
        read = {one.attr for one in own if isinstance(one.ctx, ast.Load)}
        return [name for name in dict.fromkeys(one.attr for one in own) if name not in read]

    @cached_property
    def of_one(self) -> list[str]:
        """The functions that can be called with one argument."""
        return [name for name, node in self.nodes.items() if isinstance(node, FunctionNode) and _needs(node) == 1]


def _needs(node: FunctionNode) -> int:
    return len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)


class Names:
    """The variables of one function, and where they are known."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[ast.stmt, set[str]] = {}

    def known_at(self, node: ast.AST) -> list[str]:
        """Return the variables that have a value before the statement of a node, in their order."""
        statement = self._scope.statement(node)
        if statement not in self._known:
            self._known[statement] = self._scope.known_at(statement)
        return [name for name in self._scope.variables if name in self._known[statement]]

    def near(self, node: ast.Name) -> list[str]:
        """Return the variables that are easily confused with one: unused ones, similar names, and those set near it."""
        known = [name for name in self.known_at(node) if name != node.id]
        if getattr(self._scope.parent(node), "attr", "") in ("shape", "size"):
            return known
        order = {name: place for place, name in enumerate(self._scope.variables)}
        place = order.get(node.id, 0)
        near = sorted(known, key=lambda name: abs(order[name] - place))[:_NEAR]
        alike = get_close_matches(node.id, known, n=_ALIKE, cutoff=0.5)
        alike += [name for name in known if name.startswith(node.id) or node.id.startswith(name)]
        return [name for name in known if name in near or name in alike or name in self.unused[:_UNUSED]]

    @cached_property
    def unused(self) -> list[str]:
        """The parameters and variables that the function never reads."""
        read = {
            node.id
            for node in ast.walk(self._scope.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        return [name for name in self._scope.variables if name not in read and not name.startswith("_")]

    @cached_property
    def tensors(self) -> list[str]:
        """The parameters that are tensors, or that may be tensors because they have no annotation."""
        return [name for name, type in self._scope.parameters.items() if "Tensor" in type or not type]

    def kind_of_unused(self, name: str) -> str:
        """Return the kind of slip that it is to use this name nowhere."""
        return "unused" if name in self._scope.parameters else "unused variable"

    def parameters_of(self, annotation: str) -> list[str]:
        """Return the parameters with exactly this annotation."""
        return [name for name, type in self._scope.parameters.items() if type == annotation]

    @cached_property
    def sizes(self) -> set[str]:
        """The variables that are sizes: integer parameters, and variables that are read from a shape."""
        found = {name for name, annotation in self._scope.parameters.items() if annotation == "int"}
        for node in ast.walk(self._scope.function):
            if isinstance(node, ast.Assign) and (_reads_sizes(node.value) or _is_one_of(node.value, found)):
                found |= Scope.stored_in(node)
        return found


def _is_one_of(value: ast.expr, names: Collection[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in names


def _reads_sizes(value: ast.expr) -> bool:
    """Return whether a value is made of lengths of axes."""
    words = {node.attr for node in ast.walk(value) if isinstance(node, ast.Attribute)}
    outermost = value.func if isinstance(value, ast.Call) else value
    is_tensor = isinstance(value, ast.Call) and getattr(outermost, "id", getattr(outermost, "attr", "")) not in (
        *("size", "len", "int", "max", "min"),
    )
    return bool(words & {"shape", "size"}) and not is_tensor


NodeOperators = Sequence[tuple[Any, Callable[[Any, Scope, Names], Iterator[RepairChange]]]]
"""Operators, each with the type of the nodes that it changes."""


def of_each_node(operators: NodeOperators, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield what the operators propose for every node of a function, in the order of the text."""
    for node in scope.written():
        for kind, operator in operators:
            if isinstance(node, kind):
                yield from operator(node, scope, names)


def calls_in(scope: Scope) -> Iterator[ast.Call]:
    """Yield the calls of a function in the order of the text."""
    yield from (node for node in scope.written() if isinstance(node, ast.Call))

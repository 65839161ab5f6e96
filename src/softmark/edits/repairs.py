"""Proposes repairs: small edits of a student's own functions, each of which may be what makes them right.

In: the texts of a submission's files, and the names of the functions that are wrong. Out: for each edit the place of
the text that is replaced, the new text, the kind of slip that it would mend, and the text that a student is shown.
Places are counted in bytes of a file, so whoever makes an edit only cuts and joins, and parses nothing.

The operators of mutants serve in reverse (operators.py, statements.py): one that leaves out a call takes away a call
that is too many. What a mutant cannot do is in substitutes.py and additions.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from softmark.edits.additions import additions
from softmark.edits.all_places import in_all_places
from softmark.edits.bounds import bounds
from softmark.edits.exchanges import exchanges
from softmark.edits.kinds import KINDS, OF_OPERATORS
from softmark.edits.lists_and_texts import lists_and_texts
from softmark.edits.logarithms import logarithms
from softmark.edits.operators import expressions
from softmark.edits.regular_expressions import regular_expressions
from softmark.edits.scopes import FunctionNode, Scope, TreeChange
from softmark.edits.slips import DefinitionNode, OwnFunctions, RepairChange
from softmark.edits.statements import statements
from softmark.edits.substitutes import substitutes

MOST_BYTES, MOST_NODES, MOST_DEPTH = 100_000, 20_000, 60
"""Larger files and functions are not looked at."""
MOST_NODES_OF_A_FUNCTION = 2_500
MOST_EDITS = 3_000
_OF_HELPERS = 3
"""The last priority of edits in functions that no part asks for."""
LONGEST_EDIT = 4_000
_BARE = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.ListComp, ast.Dict)


@dataclass(frozen=True, slots=True)
class OwnDefinition:
    """A function or class at the top of a file: its name, its place in the file, and its first line."""

    name: str
    file: int
    start: int
    end: int
    line: int


@dataclass(frozen=True, slots=True)
class RepairEdit:
    """One edit of a definition."""

    definition: int
    kind: str
    start: int
    end: int
    new: str
    told: tuple[int, int]
    """The place of the text that the student is shown."""


def repairs_of(
    texts: Sequence[str], functions: Sequence[str], others: Collection[str]
) -> tuple[list[OwnDefinition], list[RepairEdit], list[str]]:
    """Return the definitions that may be edited, the edits, the likeliest kinds first, and the others that are used.

    `functions` are wrong. `others` belong to other parts, and are not edited.
    """
    if sum(len(text.encode()) for text in texts) > MOST_BYTES:
        return [], [], []
    files = [_FileText(number, text) for number, text in enumerate(texts)]
    bound: dict[str, DefinitionNode | None] = {}
    for file in files:
        bound |= file.bound
    own = OwnFunctions({name: node for name, node in bound.items() if node is not None})
    found: list[OwnDefinition] = []
    edits: list[RepairEdit] = []
    for name in own.reached(functions, others):
        file = next(file for file in reversed(files) if own.nodes[name] in file.definitions)
        found.append(file.definition(own.nodes[name]))
        for scope in _scopes(name, own, functions, others):
            is_helper = name not in {one.partition(".")[0] for one in functions}
            proposed = file.edits(scope, own, len(found) - 1)
            edits += [edit for edit in proposed if not is_helper or KINDS[edit.kind].priority <= _OF_HELPERS]
    edits.sort(key=lambda edit: KINDS[edit.kind].priority)  # a stable sort: the order of the text remains
    return found, _first(edits), own.used([definition.name for definition in found], others)


def _first(edits: list[RepairEdit]) -> list[RepairEdit]:
    """Return the edits of the likeliest kinds. A priority is whole or not there: rivals are among its edits."""
    if len(edits) <= MOST_EDITS:
        return edits
    beyond = KINDS[edits[MOST_EDITS].kind].priority
    return [edit for edit in edits if KINDS[edit.kind].priority < beyond]


def _scopes(name: str, own: OwnFunctions, functions: Sequence[str], others: Collection[str]) -> Iterator[Scope]:
    """Yield the functions of a definition that may be wrong; of a class the methods that are no other part's."""
    node = own.nodes[name]
    if isinstance(node, FunctionNode):
        yield Scope(name, node)
    else:
        for method in node.body:
            qualified = f"{name}.{getattr(method, 'name', '')}"
            if isinstance(method, FunctionNode) and (qualified in functions or qualified not in others):
                yield Scope(qualified, method)


class _FileText:
    """A file's text, in which syntax nodes can be replaced. Python counts their columns in bytes."""

    def __init__(self, number: int, text: str) -> None:
        self._number, self._bytes = number, text.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        tree = ast.parse(text)
        if _is_too_deep(tree):
            raise ValueError("nested too deeply")
        self.bound = dict(_bound_in(tree))
        self.definitions = [node for node in self.bound.values() if node is not None]

    def definition(self, node: DefinitionNode) -> OwnDefinition:
        """Return the place of a definition with its decorators."""
        line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        return OwnDefinition(node.name, self._number, self._starts[line - 1], self._span(node)[1], line)

    def edits(self, scope: Scope, own: OwnFunctions, definition: int) -> Iterator[RepairEdit]:
        """Yield the edits of one function, those of each operator in the order of the text."""
        if sum(1 for _ in ast.walk(scope.function)) > MOST_NODES_OF_A_FUNCTION:
            return
        seen = set()
        for change in _in_all_places([change for change in _changes(scope, own) if not _is_endless(change, scope)]):
            edit = self._edit(change, definition)
            key = edit.start, edit.end, _compared(edit.new, edit.kind)
            if key not in seen and len(edit.new) <= LONGEST_EDIT and self._changes_something(edit):
                seen.add(key)
                yield edit

    def _changes_something(self, edit: RepairEdit) -> bool:
        old = self._bytes[edit.start : edit.end].decode()
        return _compared(old, edit.kind) != _compared(edit.new, edit.kind)

    def _edit(self, change: RepairChange, definition: int) -> RepairEdit:
        start, end = self._span(change.node)[0], self._span(change.last)[1]
        indent = " " * change.node.col_offset
        new = change.text(self._written).replace("\n", f"\n{indent}")
        done = self._span(change.node)[1]
        for other, words in change.others:
            first, behind = self._span(other)
            new += f"{self._bytes[done:first].decode()}{words}"
            done = behind
        told = self._told(change)
        return RepairEdit(definition, change.kind, start, end, new, told)

    def _written(self, node: ast.AST) -> str:
        """Return an expression as it is written, in brackets where it may need them."""
        start, end = self._span(node)
        text = self._bytes[start:end].decode()
        bare = isinstance(node, (*_BARE, ast.stmt))
        return text if bare and "\n" not in text else f"({text})" if not isinstance(node, ast.stmt) else text

    def _told(self, change: RepairChange) -> tuple[int, int]:
        """Return the place of what a student is shown: of a call its name, else the first line of the text."""
        node = change.focus or change.node
        start, end = self._span(node)
        if change.kind == "call too many" and isinstance(node, ast.Call):
            end = self._span(node.func)[1]
            start = end - len(node.func.attr.encode()) if isinstance(node.func, ast.Attribute) else start
        if isinstance(node, ast.stmt) and (rest := self._bytes.find(b"\n", start, end)) >= 0:
            end = rest
        return start, end

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return where the first byte of a node stands, and the first one behind it."""
        first: ast.expr | ast.stmt = node  # type: ignore[assignment]
        start = self._starts[first.lineno - 1] + first.col_offset
        return start, self._starts[(first.end_lineno or 0) - 1] + (first.end_col_offset or 0)


def _compared(text: str, kind: str) -> str:
    """Return a text without what makes no difference: spaces and brackets, if the slip is not just in these."""
    return text if kind in ("brackets", "pattern", "text") else re.sub(r"[\s()]", "", text)


def _bound_in(tree: ast.Module) -> Iterator[tuple[str, DefinitionNode | None]]:
    """Yield the names at the top of a file with their definitions; None for one that is given another value.

    A definition that is decorated afterwards (`scores = counted(scores)`) is not what a test calls.
    """
    for node in tree.body:
        if isinstance(node, DefinitionNode):
            yield node.name, node
        else:
            yield from ((name, None) for name in _stored_in(node))


def _stored_in(node: ast.stmt) -> set[str]:
    imported = node.names if isinstance(node, ast.Import | ast.ImportFrom) else ()
    return Scope.stored_in(node) | {(name.asname or name.name).partition(".")[0] for name in imported}


def _is_too_deep(tree: ast.Module) -> bool:
    """Return whether a tree is deeper or larger than a homework's is. This is no recursion, which could end early."""
    level: list[ast.AST] = [tree]
    nodes = 0
    for _ in range(MOST_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        nodes += len(level)
        if not level:
            return False
        if nodes > MOST_NODES:
            return True
    return True


def _changes(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the changes of one function. Of two that are equal the first one counts."""
    yield from substitutes(scope, own)
    yield from _reversed(scope)
    yield from exchanges(scope, own)
    yield from in_all_places(scope, own)
    yield from regular_expressions(scope)
    yield from bounds(scope)
    yield from logarithms(scope)
    yield from lists_and_texts(scope, own)
    yield from additions(scope, own)


def _in_all_places(changes: list[RepairChange]) -> Iterator[RepairChange]:
    """Yield the changes, then those of one expression that stands in several places, in all of these places."""
    yield from changes
    alike: dict[tuple[str, str, str], dict[ast.expr, str]] = {}
    dumped = {node: ast.dump(node) for node in {change.node for change in changes} if isinstance(node, _LONGER)}
    for change in changes:
        node = change.node
        if isinstance(node, _LONGER) and not change.others and change.kind not in _ADDITIONS:
            alike.setdefault((change.kind, change.words, dumped[node]), {})[node] = change.words
    for (kind, _, _), places in alike.items():
        if 1 < len(places) <= _MOST_PLACES:
            yield RepairChange.several(kind, list(places.items()))


_LONGER = (ast.BinOp, ast.Call, ast.Subscript, ast.Compare)
_ADDITIONS = ("term missing", "step missing", "factor missing", "unused")
_MOST_PLACES = 4

_OPERATORS: tuple[Callable[[Scope], Iterator[TreeChange]], ...] = (expressions, statements)


def _reversed(scope: Scope) -> Iterator[RepairChange]:
    """Yield the changes of the operators that make mutants, as far as they mend a slip."""
    for operator in _OPERATORS:
        for change in operator(scope):
            kind = OF_OPERATORS.get(change.kind)
            if kind == "negation" and not isinstance(change.node, ast.UnaryOp):
                continue  # a sign that is missing is one of the additions
            if kind is not None:
                yield RepairChange(kind, change.node, _unparsed(change), _focus(change), change.end)


def _is_endless(change: RepairChange, scope: Scope) -> bool:
    """Return whether a `while` loop would not end: nothing else in it changes a name that its test reads."""
    node = change.node
    if isinstance(node, ast.Name) and change.kind == "not carried on" and not change.others:
        lost, statement = {node.id}, scope.statement(node)
    elif isinstance(node, ast.stmt) and change.kind == "line too many":
        lost, statement = _changed_in(node), node
    else:
        return False
    for above in scope.above(statement):
        if isinstance(above, ast.While):
            kept = set().union(*(_changed_in(one) for one in above.body if one is not statement))
            if lost & Scope.loaded_in(above.test) - kept:
                return True
    return False


def _changed_in(node: ast.stmt) -> set[str]:
    """Return the variables that a statement sets, or whose methods it calls."""
    calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    receivers = [function.value for function in calls if isinstance(function, ast.Attribute)]
    return Scope.stored_in(node) | {one.id for one in receivers if isinstance(one, ast.Name)}


def _unparsed(change: TreeChange) -> str:
    text = "\n".join(map(ast.unparse, change.new))
    first = change.new[0]
    if isinstance(first, ast.Tuple) and any(isinstance(one, ast.Slice) for one in first.elts):
        return text.removeprefix("(").removesuffix(")")
    is_number = isinstance(first, ast.UnaryOp) and isinstance(first.operand, ast.Constant)
    is_bare = is_number or isinstance(first, (*_BARE, ast.stmt, ast.Tuple, ast.Slice))
    return text if is_bare else f"({text})"


def _focus(change: TreeChange) -> ast.AST | None:
    """Return the part of a node that a change is about: what is left out, or what is replaced inside."""
    node, new = change.node, change.new[0]
    if isinstance(node, ast.stmt):
        return node.test if isinstance(node, ast.If) else None
    if isinstance(node, ast.BinOp) and new in (node.left, node.right):
        return node.right if new is node.left else node.left
    if isinstance(node, ast.Call) and change.kind == "other function of its family":
        return node.func
    if isinstance(node, ast.IfExp) and new in (node.body, node.orelse):
        return node.test
    return None

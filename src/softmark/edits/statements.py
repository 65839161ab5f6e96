"""Proposes changes of statements: a missing line, a skipped branch, a superfluous step, another order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from softmark.edits.scopes import Scope, TreeChange

_TOO_MANY = (
    ("factor too many", "2 * {}"),
    ("call too many", "{}.flip(-1)"),
    ("call too many", "{}.softmax(dim=-1)"),
    ("detached", "{}.detach()"),
    ("other dtype", "{}.double()"),
)
_OF_INPUTS = ("detached", "other dtype")
"""Steps that are no mistake in a function without tensors among its parameters: it chooses its precision itself."""
_NEW = {"arange", "zeros", "ones", "empty", "new_zeros", "new_ones", "new_empty", "full", "eye"}
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def statements(scope: Scope) -> Iterator[TreeChange]:
    """Yield the changes of every statement of a function, in the order of the text."""
    for node in scope.written():
        if isinstance(node, ast.stmt):
            yield from _dropped(node, scope)
            yield from _looped(node)
            yield from _with_a_step_too_many(node, scope)
    for block in _blocks(scope):
        yield from _exchanged(block, scope)


def _dropped(node: ast.stmt, scope: Scope) -> Iterator[TreeChange]:
    if isinstance(node, ast.If):
        yield TreeChange("condition that holds never", node, [ast.If(ast.Constant(False), node.body, node.orelse)])
        yield TreeChange("condition that holds always", node, [ast.If(ast.Constant(True), node.body, node.orelse)])
        yield TreeChange("condition negated", node, [ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)])
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr | ast.AugAssign) and not _calls_super(node)):
        yield TreeChange("line missing", node, [ast.Pass()])
    elif isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if len(names) < len(node.targets) or set(names) <= scope.known_at(node):
            yield TreeChange("line missing", node, [ast.Pass()])


def _calls_super(node: ast.stmt) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(node))


def _looped(node: ast.stmt) -> Iterator[TreeChange]:
    """Yield loops without their first or last round, and in the other direction."""
    if not isinstance(node, ast.For):
        return
    for kind, words in (
        ("round missing", "list({})[1:]"),
        ("round missing", "list({})[:-1]"),
        ("direction of a loop", "list({})[::-1]"),
    ):
        turned = ast.parse(words.format(ast.unparse(node.iter)), mode="eval").body
        yield TreeChange(kind, node.iter, [turned])


def _with_a_step_too_many(node: ast.stmt, scope: Scope) -> Iterator[TreeChange]:
    """Yield assigned or returned values with one step too many, or detached from their gradients."""
    if not isinstance(node, ast.Assign | ast.Return) or node.value is None:
        return
    for value in node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]:
        written, new = ast.unparse(value), _makes_new(value)
        if "empty" in new or not isinstance(value, ast.BinOp | ast.Call | ast.Name):
            continue
        if isinstance(value, ast.Name) and not isinstance(node, ast.Return):
            continue
        yield TreeChange.to("negation", value, f"-({written})")
        for kind, text in _TOO_MANY[: 1 if new else None]:
            if kind not in _OF_INPUTS or scope.of_type("Tensor"):
                yield TreeChange.to(kind, value, text.format(f"({written})"))


def _makes_new(value: ast.expr) -> set[str]:
    """Return the functions that make a value from sizes alone. Such a value has no gradient to lose."""
    called = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    return {function.attr for function in called if isinstance(function, ast.Attribute)} & _NEW


def _blocks(scope: Scope) -> Iterator[list[ast.stmt]]:
    yield scope.body
    for node in scope.written():
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(node, ast.stmt) and isinstance(block, list):
                yield block


def _exchanged(block: list[ast.stmt], scope: Scope) -> Iterator[TreeChange]:
    """Yield two lines in the other order, if the first one gives a variable a new value and the second reads it."""
    for first, second in pairwise(block):
        if isinstance(first, _SIMPLE) and isinstance(second, _SIMPLE):
            renewed = scope.stored_in(first) & scope.known_at(first)
            if renewed & scope.loaded_in(second):
                yield TreeChange("order of lines", first, [second, first], second)

"""Proposes changes of expressions: another term, operator, number, axis, argument, call, variable or order.

Each operator gets one node and yields other code that a student may write in its place. It knows nothing of types: a
change that cannot run is found when it is run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from softmark.edits.families import (
    AXIS_WORDS,
    COMMUTATIVE,
    COMPARISONS,
    ELEMENTWISE,
    IN_PLACE,
    OPERATORS,
    OTHERS,
    WRITES,
)
from softmark.edits.scopes import Scope, TreeChange, called, number_in, parsed, read, replaced

_OF_AXES = {"transpose", "unsqueeze", "squeeze", "flip", "permute", "movedim", "swapaxes"}
_AT_MOST = 2
"""The number of other variables that are tried in the place of one."""

Changes = Iterator[TreeChange]


def expressions(scope: Scope) -> Changes:
    """Yield the changes of every expression of a function, in the order of the text."""
    for node in scope.written():
        for kind, operator in _OPERATORS:
            if isinstance(node, kind):
                yield from operator(node, scope)
        if isinstance(node, ast.Constant | ast.UnaryOp) and (value := number_in(node)) is not None:
            yield from _other_numbers(node, value, scope)


# Terms and operators --------------------------------------------------------------------------------------------------


def _terms(node: ast.BinOp, scope: Scope) -> Changes:
    if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        yield TreeChange("factor missing", node, [node.left])
    else:
        kind = (
            "factor missing" if isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv | ast.MatMult) else "term missing"
        )
        yield TreeChange(kind, node, [node.left])
        yield TreeChange(kind, node, [node.right])
    for other in OPERATORS.get(type(node.op), ()):
        yield TreeChange("other operator", node, [replaced(node, op=other())])
    if not isinstance(node.op, COMMUTATIVE):
        yield TreeChange("order of operands", node, [replaced(node, left=node.right, right=node.left)])
    if isinstance(node.op, ast.Add | ast.Sub):
        yield TreeChange("term twice", node, [ast.BinOp(node, node.op, node.right)])
        yield TreeChange("negation", node, [replaced(node, left=ast.UnaryOp(ast.USub(), node.left))])
    method = WRITES.get(type(node.op))
    if method and isinstance(node.left, ast.Name) and node.left.id in scope.of_type("Tensor"):
        yield TreeChange("in place", node, [ast.Call(ast.Attribute(node.left, method, ast.Load()), [node.right], [])])


def _signs(node: ast.UnaryOp, scope: Scope) -> Changes:
    if number_in(node) is None:
        yield TreeChange("negation", node, [node.operand])


def _truths(node: ast.BoolOp, scope: Scope) -> Changes:
    yield TreeChange(
        "other operator", node, [replaced(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())]
    )
    for index in range(len(node.values)):
        rest = [*node.values[:index], *node.values[index + 1 :]]
        yield TreeChange("condition missing", node, [replaced(node, values=rest) if len(rest) > 1 else rest[0]])


def _comparisons(node: ast.Compare, scope: Scope) -> Changes:
    for other in COMPARISONS.get(type(node.ops[0]), ()):
        yield TreeChange("comparison", node, [replaced(node, ops=[other(), *node.ops[1:]])])


def _choices(node: ast.IfExp, scope: Scope) -> Changes:
    yield TreeChange("branch skipped", node, [node.body])
    yield TreeChange("branch skipped", node, [node.orelse])


# Numbers --------------------------------------------------------------------------------------------------------------


def _other_numbers(node: ast.Constant | ast.UnaryOp, value: float, scope: Scope) -> Changes:
    above = scope.parent(node)
    if isinstance(above, ast.UnaryOp) and number_in(above) is not None:
        return  # the number is changed together with its sign
    kind, others = "number", [2 * value, value / 2] if value else [1.0]
    if isinstance(value, int):
        others = [value + 1, value - 1]
        if _is_axis(node, scope):
            kind, others = "axis", [value - 1, value + 1, 0]
        elif _is_in_subscript(node, scope):
            kind = "index"
        elif abs(value) > 2:
            others = [2 * value, value + 1]
    elif value:
        others.append(0.0)
    for other in others:
        if other != value:
            yield TreeChange(kind, node, [parsed(repr(other))])


def _is_axis(node: ast.AST, scope: Scope) -> bool:
    above = scope.parent(node)
    if isinstance(above, ast.keyword):
        return above.arg in AXIS_WORDS
    return isinstance(above, ast.Call) and scope.role(node) == "args" and called(above) in _OF_AXES


def _is_in_subscript(node: ast.AST, scope: Scope) -> bool:
    above = scope.parent(node)
    if isinstance(above, ast.Slice | ast.Tuple):
        return _is_in_subscript(above, scope)
    return isinstance(above, ast.Subscript) and scope.role(node) == "slice"


def _switches(node: ast.Constant, scope: Scope) -> Changes:
    if isinstance(node.value, bool):
        yield TreeChange("option", node, [ast.Constant(not node.value)])


def _slices(node: ast.Subscript, scope: Scope) -> Changes:
    if isinstance(node.ctx, ast.Load):
        yield TreeChange("index missing", node, [node.value])
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        for other in _neighbours(node.slice.value, _keys(scope)):
            yield TreeChange("wrong variable", node, [replaced(node, slice=ast.Constant(other))])
    for axis, part in enumerate(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]):
        if isinstance(part, ast.Slice):
            for bound in ("lower", "upper", "step"):
                if getattr(part, bound) is not None and (bound, number_in(getattr(part, bound))) != ("lower", 0):
                    yield TreeChange(
                        "slice", node, [replaced(node, slice=_at(node.slice, axis, replaced(part, **{bound: None})))]
                    )


def _at(index: ast.expr, axis: int, new: ast.expr) -> ast.expr:
    """Return an index with another part for one axis."""
    if not isinstance(index, ast.Tuple):
        return new
    return ast.Tuple([*index.elts[:axis], new, *index.elts[axis + 1 :]], ast.Load())


def _keys(scope: Scope) -> list[str]:
    found = [
        node.slice.value
        for node in scope.written()
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    ]
    return list(dict.fromkeys(key for key in found if isinstance(key, str)))


# Calls ----------------------------------------------------------------------------------------------------------------


def _is_method(node: ast.Call, scope: Scope) -> bool:
    """Return whether a call is one of a value's method, and not of a module's function."""
    if not isinstance(node.func, ast.Attribute):
        return False
    owner: ast.expr = node.func.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return not isinstance(owner, ast.Name) or owner.id in scope.variables


def _calls(node: ast.Call, scope: Scope) -> Changes:
    if _is_method(node, scope):
        yield TreeChange("call missing", node, [node.func.value])  # type: ignore[attr-defined]
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield TreeChange("call missing", node, [node.args[0]])
    for index in range(len(node.args) - 1):
        first, second = node.args[index : index + 2]
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            exchanged = [*node.args[:index], second, first, *node.args[index + 2 :]]
            yield TreeChange("order of arguments", node, [replaced(node, args=exchanged)])
    if len(node.args) > 1:
        yield TreeChange("argument missing", node, [replaced(node, args=node.args[:-1])])
    for index in range(len(node.keywords)):
        rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield TreeChange("option missing", node, [replaced(node, keywords=rest)])
    yield from _other_functions(node)
    if called(node) in IN_PLACE and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        yield TreeChange("in place", node, [replaced(node, func=_renamed(node.func, f"{called(node)}_"))])


def _other_functions(node: ast.Call) -> Changes:
    for other in OTHERS.get(called(node), ()):
        yield TreeChange("other function of its family", node, [replaced(node, func=_renamed(node.func, other))])
    for other in ELEMENTWISE.get(called(node), ()):
        new = replaced(node, func=_renamed(node.func, other), args=node.args[:1], keywords=[])
        yield TreeChange("other function of its family", node, [new])


def _renamed(function: ast.expr, name: str) -> ast.expr:
    return replaced(function, attr=name) if isinstance(function, ast.Attribute) else read(name)


def _attributes(node: ast.Attribute, scope: Scope) -> Changes:
    if node.attr in ("T", "mT"):
        yield TreeChange("transpose", node, [node.value])
    if isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load):
        for other in _neighbours(node.attr, scope.attributes)[:1]:
            yield TreeChange("wrong variable", node, [replaced(node, attr=other)])


# Variables and order --------------------------------------------------------------------------------------------------


def _variables(node: ast.Name, scope: Scope) -> Changes:
    if not isinstance(node.ctx, ast.Load) or node.id not in scope.variables:
        return
    if node in scope.function.args.defaults:
        return
    known = scope.known_at(scope.statement(node)) | {node.id}
    similar = [name for name in scope.variables if name in known and _may_replace(name, node.id, scope)]
    for other in _neighbours(node.id, similar):
        yield TreeChange("wrong variable", node, [read(other)])


def _may_replace(other: str, name: str, scope: Scope) -> bool:
    """Return whether one variable is easily confused with another: both are parameters of one type, or one is none."""
    types = scope.parameters
    return name not in types or other not in types or types[name].split(" |")[0] == types[other].split(" |")[0]


def _neighbours(one: str, names: Sequence[str]) -> list[str]:
    """Return the names nearest to one in a list, the nearest first."""
    if one not in names:
        return list(names[:_AT_MOST])
    place = names.index(one)
    return sorted((name for name in names if name != one), key=lambda name: abs(names.index(name) - place))[:_AT_MOST]


def _orders(node: ast.Tuple | ast.List, scope: Scope) -> Changes:
    above = scope.parent(node)
    if isinstance(above, ast.Subscript) or not node.elts:
        kinds = ("order of axes", "")
    else:
        kinds = ("order in a list", "element missing" if isinstance(node, ast.List) and len(node.elts) > 1 else "")
    for index in range(len(node.elts) - 1):
        first, second = node.elts[index : index + 2]
        if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
            exchanged = [*node.elts[:index], second, first, *node.elts[index + 2 :]]
            yield TreeChange(kinds[0], node, [replaced(node, elts=exchanged)])
    for index in range(len(node.elts) if kinds[1] else 0):
        yield TreeChange(kinds[1], node, [replaced(node, elts=[*node.elts[:index], *node.elts[index + 1 :]])])


_OPERATORS: tuple[tuple[Any, Callable[[Any, Scope], Changes]], ...] = (
    (ast.BinOp, _terms),
    (ast.UnaryOp, _signs),
    (ast.BoolOp, _truths),
    (ast.Compare, _comparisons),
    (ast.IfExp, _choices),
    (ast.Constant, _switches),
    (ast.Subscript, _slices),
    (ast.Call, _calls),
    (ast.Attribute, _attributes),
    (ast.Name, _variables),
    (ast.Tuple | ast.List, _orders),
)

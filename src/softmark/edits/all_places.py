"""Proposes repairs of one slip in all its places: an axis, a sign, a transpose, a function or a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeGuard

from softmark.edits.families import neighbours
from softmark.edits.scopes import LIBRARIES, Scope, called, number_in
from softmark.edits.slips import Names, OwnFunctions, RepairChange, calls_in

_AXES = (-1, -2, -3, 0, 1)
_REDUCE = ("mean", "sum", "var", "std", "amax", "amin", "norm")
_PAIRS = (("sin", "cos"), ("tril", "triu"), ("sigmoid", "tanh"), ("zeros", "ones"), ("amax", "amin"))
_LOOKED_UP = (ast.Name, ast.Subscript, ast.Attribute)


def in_all_places(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the repairs of one slip in several places of a function."""
    yield from _axes_in_all_places(scope)
    yield from _axes_that_go_in_all_places(scope)
    yield from _attributes_exchanged(scope)
    yield from _functions_exchanged(scope)
    yield from _numbers_in_all_places(scope)
    yield from _signs_exchanged(scope)
    yield from _transposes_in_all_places(scope)
    yield from _functions_in_all_places(scope)
    yield from _names_in_all_places(scope, Names(scope))


def _axes_that_go_in_all_places(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which every reduction keeps its axis."""
    places = []
    for node in calls_in(scope):
        given = {word.arg for word in node.keywords}
        if called(node) in _REDUCE and "keepdim" not in given and (given & {"dim", "axis"} or not node.args):
            words = [*node.keywords, ast.keyword("keepdim", ast.Constant(True))]
            words += [] if given & {"dim", "axis"} else [ast.keyword("dim", ast.Constant(-1))]
            kept = ast.Call(node.func, node.args, words)
            places.append((node, ast.unparse(kept)))
    if len(places) > 1 and not _overlap([node for node, _ in places]):
        yield RepairChange.several("axis that goes", places)


def _overlap(nodes: Sequence[ast.expr]) -> bool:
    """Return whether one of these nodes is inside an earlier one."""
    return any(inner in ast.walk(outer) for outer, inner in combinations(nodes, 2))


def _attributes_exchanged(scope: Scope) -> Iterator[RepairChange]:
    """Yield a method in which two attributes of similar names, such as norm1 and norm2, are exchanged."""
    nodes = [node for node in scope.written() if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)]
    own = [node for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "self"]
    for one, other in combinations(dict.fromkeys(node.attr for node in own), 2):
        if one[:-1] == other[:-1]:
            pair = {one: other, other: one}
            named = [node for node in own if node.attr in pair]
            yield RepairChange.several("exchanged", [(node, f"self.{pair[node.attr]}") for node in named])


def _functions_exchanged(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which two functions of torch, such as sin and cos, are exchanged."""
    calls = [(node.func, ast.unparse(node.func)) for node in calls_in(scope)]
    for one, other in _PAIRS:
        places = [(function, text) for function, text in calls if text.rpartition(".")[2] in (one, other)]
        if len({text for _, text in places}) == 2:
            pair = {one: other, other: one}
            yield RepairChange.several("exchanged", [(node, _with_last_name(text, pair)) for node, text in places])


def _with_last_name(path: str, pair: dict[str, str]) -> str:
    """Return `torch.sin` as `torch.cos`, and `sin` as `cos`."""
    owner, dot, name = path.rpartition(".")
    return f"{owner}{dot}{pair[name]}"


def _numbers_in_all_places(scope: Scope) -> Iterator[RepairChange]:
    """Yield a statement in which a number is one more or one less in all its places."""
    for statement in scope.written():
        if isinstance(statement, ast.Assign | ast.Return) and statement.value is not None:
            places: dict[int, list[ast.expr]] = {}
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Constant) and type(node.value) is int and _stands_alone(node, scope):
                    places.setdefault(node.value, []).append(node)
            for number, nodes in places.items():
                for other in (number + 1, number - 1) if len(nodes) > 1 else ():
                    yield RepairChange.several("number", [(node, str(other)) for node in nodes])


def _stands_alone(node: ast.Constant, scope: Scope) -> bool:
    """Return whether a number is no part of another one, as 2 is of -2."""
    return not isinstance(scope.parent(node), ast.UnaryOp)


def _signs_exchanged(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which f(-a) and f(b) are f(a) and f(-b)."""
    by_name: dict[str, list[ast.expr]] = {}
    for node in calls_in(scope):
        if len(node.args) == 1:
            by_name.setdefault(ast.unparse(node.func), []).append(node.args[0])
    for pair in by_name.values():
        if len(pair) == 2 and len([one for one in pair if isinstance(one, ast.UnaryOp)]) == 1:
            yield RepairChange.several("negation", [(one, _negated(one)) for one in pair])


def _negated(node: ast.expr) -> str:
    return ast.unparse(node.operand) if isinstance(node, ast.UnaryOp) else f"-({ast.unparse(node)})"


def _transposes_in_all_places(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which all plain factors on the right of `@` are transposed, and one in which none is."""
    right = [node.right for node in scope.written() if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
    turned = [node for node in right if _is_turned(node)]
    plain = [node for node in right if isinstance(node, _LOOKED_UP) and not _is_turned(node)]
    for places in (
        [(node, f"{ast.unparse(node)}.T") for node in plain],
        [(node, ast.unparse(node.value)) for node in turned],
    ):
        if len(places) > 1:
            yield RepairChange.several("transpose", places)


def _is_turned(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr in ("T", "mT")


def _functions_in_all_places(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which all calls of a library's function are left out, or call another of its family."""
    called_here: dict[str, list[ast.expr]] = {}
    for node in scope.written():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called_here.setdefault(ast.unparse(node.func), []).append(node.func)
    for text, places in called_here.items():
        owner, _, name = text.rpartition(".")
        if len(places) > 1 and owner in (*LIBRARIES, "math"):
            whole = [(call, ast.unparse(call.args[0])) for call in calls_in(scope) if call.func in places and call.args]
            if len(whole) > 1 and not _overlap([call for call, _ in whole]):
                yield RepairChange.several("call too many", whole)
            for other in neighbours(name):
                yield RepairChange.several("other function", [(place, f"torch.{other}") for place in places])


def _names_in_all_places(scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a function in which a loop's variable has another known name, so that the next round reads its value."""
    nodes = [node for node in scope.written() if isinstance(node, ast.Name)]
    stored = {node.id for node in nodes if isinstance(node.ctx, ast.Store) and _is_in_loop(node, scope)}
    for name in sorted(stored - scope.parameters.keys()):
        places = [node for node in nodes if node.id == name]
        for other in names.known_at(min(places, key=lambda place: (place.lineno, place.col_offset))):
            if other != name and (other.startswith(name[:1]) or name.endswith(other) or other in name):
                yield RepairChange.several("not carried on", [(place, other) for place in places])


def _is_in_loop(node: ast.AST, scope: Scope) -> bool:
    return any(isinstance(above, ast.For | ast.While) for above in scope.above(node))


def _axes_in_all_places(scope: Scope) -> Iterator[RepairChange]:
    """Yield a function in which one axis is replaced by another one in all its places."""
    axes = [
        node.value
        for node in scope.written()
        if isinstance(node, ast.keyword) and node.arg in ("dim", "axis") and isinstance(number_in(node.value), int)
    ]
    for wrong in dict.fromkeys(number_in(axis) for axis in axes):
        places = [axis for axis in axes if number_in(axis) == wrong]
        if len(places) < 2:
            continue
        for axis in _AXES:
            if axis != wrong:
                yield RepairChange.several("axis", [(place, str(axis)) for place in places])

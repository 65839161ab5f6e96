"""Proposes repairs of bounds: where a range or a slice begins and ends, of lists and of tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from softmark.edits.scopes import Scope, called, number_in, replaced
from softmark.edits.slips import Names, NodeOperators, RepairChange, of_each_node

_MOST_NAMES = 4
_SMALL = 2
"""Numbers up to this one stand everywhere, and mean nothing."""


def bounds(scope: Scope) -> Iterator[RepairChange]:
    """Yield the changes of the bounds in a function, in the order of the text."""
    yield from of_each_node(_OPERATORS, scope, Names(scope))


def _slice(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other bounds of a slice."""
    if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
        return
    for field in ("lower", "upper"):
        bound = getattr(node.slice, field)
        if bound is not None:
            yield from _bounds(bound, names, least=field == "lower")
        else:
            for name in _whole(node, names):
                bounded = replaced(node.slice, **{field: ast.Name(name, ast.Load())})
                yield RepairChange("bound", node, ast.unparse(replaced(node, slice=bounded)))


def _last(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the last real element of each sequence in the place of the first or last one, if lengths are known."""
    index = ast.unparse(node.slice).strip("()").replace(" ", "")
    if index in ("0", "-1"):
        form = "{lengths} - 1, torch.arange(len({lengths}))"
    elif index in (":,0", ":,-1"):
        form = "torch.arange(len({lengths})), {lengths} - 1"
    else:
        return
    for name in names.known_at(node):
        if "len" in name.lower() and name in names.tensors:
            words = form.replace("{lengths}", name)
            yield RepairChange("bound", node, f"{ast.unparse(node.value)}[{words}]")


def _neighbour(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield what stands one place before or behind what is looked up."""
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index in inside:
        if isinstance(index, ast.Name) and isinstance(node.ctx, ast.Load):
            yield RepairChange.wrapped("index", index, "{} + 1")
            yield RepairChange.wrapped("index", index, "{} - 1")


def _other_end(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the last elements for the first ones, and the reverse."""
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in inside:
        if isinstance(part, ast.Slice) and part.step is None and (part.lower is None) is not (part.upper is None):
            bound = ast.unparse(part.lower or part.upper or part)
            opposite = bound[1:] if bound.startswith("-") else f"-({bound})"
            for words in (f"{opposite}:", f":{opposite}", f"{bound}:", f":{bound}"):
                yield RepairChange("slice", part, words)


def _range(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other bounds of a range."""
    if called(node) not in ("range", "arange"):
        return
    for place, bound in enumerate(node.args[:2]):
        yield from _bounds(bound, names, least=place == 0 and len(node.args) > 1)
    if len(node.args) == 1:
        for least in ("1", *_whole(node, names), *scope.constants):
            words = [ast.Name(least), *node.args]
            yield RepairChange("bound", node, ast.unparse(replaced(node, args=words)))


def _kept_bounds(node: ast.Assign, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other values of variables that are bounds of a range or a slice."""
    used = _used_as_bounds(scope)
    target = node.targets[0]
    pairs = [(target, node.value)]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        pairs = list(zip(target.elts, node.value.elts, strict=False))
    for one, value in pairs:
        if isinstance(one, ast.Name) and one.id in used:
            yield from _bounds(value, names, least=False)


def _used_as_bounds(scope: Scope) -> set[str]:
    found: list[ast.expr | None] = []
    for node in scope.written():
        if isinstance(node, ast.Slice):
            found += [node.lower, node.upper]
        elif isinstance(node, ast.Call) and called(node) == "range":
            found += node.args
    return {node.id for node in found if isinstance(node, ast.Name)}


def _bounds(node: ast.expr, names: Names, *, least: bool) -> Iterator[RepairChange]:
    """Yield a bound that is one more or less, shifted by a size, or held inside the list."""
    if number_in(node) is not None and least:
        return
    if isinstance(node, ast.Call) and called(node) in ("min", "max"):
        for inner in node.args:
            yield from _bounds(inner, names, least=True)
    for words in ("{} + 1", "{} - 1", "max(0, {})"):
        yield RepairChange.wrapped("bound", node, words)
    for name in _whole(node, names):
        for words in ("{} - {n}", "{} - {n} + 1", "{} + {n}", "min({}, {n})"):
            yield RepairChange.wrapped("bound", node, words.replace("{n}", name))


def _size(node: ast.Name, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a size that is one more or less."""
    if isinstance(node.ctx, ast.Load) and node.id in names.sizes and isinstance(scope.parent(node), ast.BinOp):
        yield RepairChange("another size", node, f"({node.id} - 1)")
        yield RepairChange("another size", node, f"({node.id} + 1)")


def _whole(node: ast.AST, names: Names) -> list[str]:
    """Return the variables with a whole number that are known at a node."""
    return [name for name in names.known_at(node) if name in names.sizes][:_MOST_NAMES]


def _larger(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a sum of whole numbers with one more: a number that stands elsewhere in the function, or a length."""
    if isinstance(node.op, ast.Add) and not isinstance(scope.parent(node), ast.BinOp) and scope.is_plain:
        lengths = [f"len({name})" for name in scope.of_type("list")]
        for other in [*map(str, sorted(_numbers_of(scope))), *lengths]:
            yield RepairChange.wrapped("bound", node, f"({other} + {{}})")


def _numbers_of(scope: Scope) -> set[int]:
    """Return the numbers in a function that mean something: no 0, 1 or 2."""
    values = {node.value for node in scope.written() if isinstance(node, ast.Constant)}
    return {value for value in values if type(value) is int and value > _SMALL}


_OPERATORS: NodeOperators = (
    (ast.Subscript, _slice),
    (ast.Subscript, _last),
    (ast.Subscript, _neighbour),
    (ast.Subscript, _other_end),
    (ast.Call, _range),
    (ast.Assign, _kept_bounds),
    (ast.Name, _size),
    (ast.BinOp, _larger),
)

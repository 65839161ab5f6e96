"""Proposes repairs of more than one word: two names for each other, one slip in all its places, chains of calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import TypeGuard

from softmark.edits.families import neighbours
from softmark.edits.scopes import Scope, called, number_in, replaced
from softmark.edits.slips import Names, OwnFunctions, RepairChange, calls_in

_EXCEPTIONS = ("ValueError", "TypeError", "IndexError", "KeyError", "RuntimeError")
_AXES = (-1, -2, -3, 0, 1)
_REDUCE = ("mean", "sum", "var", "std", "amax", "amin", "norm")
_PAIRS = (("sin", "cos"), ("tril", "triu"), ("sigmoid", "tanh"), ("zeros", "ones"), ("amax", "amin"))
_LOOKED_UP = (ast.Name, ast.Subscript, ast.Attribute)
_LARGE = 50
"""A number of at most minus this may stand for minus infinity."""


def exchanges(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the exchanges in a function, in the order of the text."""
    names = Names(scope)
    for node in scope.written():
        if isinstance(node, ast.Call | ast.Subscript):
            yield from _chains(node, scope)
        if isinstance(node, ast.Raise):
            yield from _exceptions(node)
        if isinstance(node, ast.If):
            yield from _checks(node, scope, names)
        if isinstance(node, ast.If | ast.IfExp):
            yield from _where_it_is_given(node, scope)
        if isinstance(node, ast.Constant | ast.UnaryOp):
            yield from _numbers(node, scope, names)
        if isinstance(node, ast.Assign | ast.Return | ast.AugAssign) and node.value is not None:
            yield from _two_names(node.value, scope)
        if isinstance(node, ast.BinOp):
            yield from _masks(node)
            yield from _into_the_call(node)
            yield from _into_the_exponent(node)
        if isinstance(node, ast.Call):
            yield from _numbered(node)
            yield from _of_an_attribute(node)
            yield from _inside_out(node)
            yield from _out_of_the_call(node)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            yield from _results(node.value)
        if isinstance(node, ast.Attribute) and node.attr in ("data", "real") and isinstance(node.ctx, ast.Load):
            yield RepairChange("call too many", node, ast.unparse(node.value))
        if isinstance(node, ast.Name):
            yield from _sizes(node, scope, names)
    yield from _axes_in_all_places(scope)
    yield from _axes_that_go_in_all_places(scope)
    yield from _attributes_exchanged(scope)
    yield from _functions_exchanged(scope)
    yield from _signs_exchanged(scope)
    yield from _transposes_in_all_places(scope)
    yield from _functions_in_all_places(scope)
    yield from _names_in_all_places(scope, names)


def _chains(node: ast.Call | ast.Subscript, scope: Scope) -> Iterator[RepairChange]:
    """Yield the beginning of a chain of methods and indices without its last two or more links."""
    links = 0
    inner: ast.expr = node
    while isinstance(inner, ast.Call | ast.Subscript | ast.Attribute):
        links += not isinstance(inner, ast.Attribute)
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
        if links and isinstance(inner, ast.Compare):
            yield RepairChange("call too many", node, f"({ast.unparse(inner.left)})")
        if links > 1 and isinstance(inner, ast.Name | ast.BinOp) and getattr(inner, "id", "") not in _LIBRARIES:
            yield RepairChange("call too many", node, f"({ast.unparse(inner)})")


_LIBRARIES = ("torch", "F", "nn", "np", "math", "self")


def _exceptions(node: ast.Raise) -> Iterator[RepairChange]:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Name):
        for other in _EXCEPTIONS:
            if other != raised.id:
                yield RepairChange("exception", raised, other)


def _checks(node: ast.If, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other conditions under which an exception is raised."""
    if not any(isinstance(statement, ast.Raise) for statement in node.body):
        return
    known = [name for name in names.known_at(node) if name in names.sizes]
    for one, other in permutations(known[:5], 2):
        for condition in (f"{one} % {other} != 0", f"{one} > {other}", f"{one} != {other}"):
            yield RepairChange("condition", node.test, condition)


def _where_it_is_given(node: ast.If | ast.IfExp, scope: Scope) -> Iterator[RepairChange]:
    for name, annotation in scope.parameters.items():
        if "None" in annotation or "Optional" in annotation or "mask" in name.lower():
            yield RepairChange("condition", node.test, f"{name} is not None")
            yield RepairChange("condition", node.test, f"{name} is None")


def _numbers(node: ast.expr, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield replacements for a number: another number, minus infinity, a size, or the square root of a size."""
    above = scope.parent(node)
    value = number_in(node)
    if value is None or isinstance(above, ast.UnaryOp):
        return
    if type(value) is int and not isinstance(above, ast.Subscript):
        for number in dict.fromkeys((value // 2, value - 1, -value, 0, 1, 10 * value, value // 10)):
            if number != value:
                yield RepairChange("number", node, str(number))
    if value <= -_LARGE or (isinstance(above, ast.Call) and called(above).startswith("masked_fill")):
        yield RepairChange("number", node, 'float("-inf")')
    if isinstance(above, ast.Assign) and any(called(call).startswith("masked_fill") for call in calls_in(scope)):
        for tensor in names.tensors[:2]:
            yield RepairChange("number", node, f"torch.finfo({tensor}.dtype).min")
    if not isinstance(above, ast.BinOp | ast.Call | ast.keyword) or not any(above is one for one in scope.written()):
        return
    known = names.known_at(node)
    widths = [name for name in known if name in names.sizes]
    widths += [f"{name}.shape[-1]" for name in names.tensors if name in known]
    for width in widths[:4]:
        yield RepairChange("number", node, width)
        if isinstance(above, ast.BinOp):
            yield RepairChange("number", node, f"{width} ** 0.5")


def _two_names(value: ast.expr, scope: Scope) -> Iterator[RepairChange]:
    """Yield a value in which two variables are exchanged."""
    loaded = [node for node in ast.walk(value) if isinstance(node, ast.Name) and node.id in scope.variables]
    for one, other in combinations(dict.fromkeys(node.id for node in loaded), 2):
        for node in loaded:
            node.id = {one: other, other: one}.get(node.id, node.id)
        text = ast.unparse(value)
        for node in loaded:
            node.id = {one: other, other: one}.get(node.id, node.id)
        yield RepairChange("exchanged", value, f"({text})")


def _masks(node: ast.BinOp) -> Iterator[RepairChange]:
    """Yield `masked_fill` in the place of arithmetic with a mask."""
    if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return
    for value, mask in ((node.left, node.right), (node.right, node.left)):
        text = ast.unparse(mask)
        if "mask" in text.lower():
            for filled in (f"~({text}), float('-inf')", f"({text}), float('-inf')", f"~({text}), 0.0"):
                yield RepairChange("operator", node, f"({ast.unparse(value)}).masked_fill({filled})", mask)


def _into_the_call(node: ast.BinOp) -> Iterator[RepairChange]:
    """Yield f(a + b) for f(a) + b, and f(a) + b for f(a + b)."""
    text = ast.unparse(node)
    inner: ast.expr = node
    while isinstance(inner, ast.BinOp):
        for call in (inner.left, inner.right):
            if isinstance(call, ast.Call) and len(call.args) == 1 and text.count(ast.unparse(call)) == 1:
                without = text.replace(ast.unparse(call), ast.unparse(call.args[0]))
                yield RepairChange("brackets", node, f"{ast.unparse(call.func)}({without})")
        inner = inner.left


def _into_the_exponent(node: ast.BinOp) -> Iterator[RepairChange]:
    """Yield a ** (b * c) for a ** b * c."""
    text = ast.unparse(node)
    for power in ast.walk(node):
        if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow) and power is not node:
            at = text.find(ast.unparse(power))
            start = at + len(ast.unparse(power.left)) + len(" ** ")
            if at >= 0:
                yield RepairChange("brackets", node, f"({text[:start]}({text[start:]}))")


def _out_of_the_call(node: ast.Call) -> Iterator[RepairChange]:
    if len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
        inner = node.args[0]
        function = ast.unparse(node.func)
        left, right = ast.unparse(inner.left), ast.unparse(inner.right)
        sign = ast.unparse(ast.BinOp(ast.Name("a"), inner.op, ast.Name("b")))[1:-1]
        yield RepairChange("brackets", node, f"({function}({left}){sign}{right})")
        yield RepairChange("brackets", node, f"({left}{sign}{function}({right}))")


def _inside_out(node: ast.Call) -> Iterator[RepairChange]:
    """Yield g(f(x)) for f(g(x))."""
    inner = node.args[0] if len(node.args) == 1 else None
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not node.keywords:
        turned = replaced(inner, args=[replaced(node, args=inner.args)])
        yield RepairChange("brackets", node, ast.unparse(turned))


def _of_an_attribute(node: ast.Call) -> Iterator[RepairChange]:
    """Yield an attribute of self without the method that is called on it."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Attribute) and getattr(owner.value, "id", "") == "self":
        yield RepairChange("call too many", node, ast.unparse(owner))


def _results(node: ast.Tuple) -> Iterator[RepairChange]:
    """Yield the returned values without one of them."""
    for left_out in node.elts:
        rest = [ast.unparse(one) for one in node.elts if one is not left_out]
        yield RepairChange("result too many", node, rest[0] if len(rest) == 1 else f"({', '.join(rest)})")


def _numbered(node: ast.Call) -> Iterator[RepairChange]:
    """Yield a call in which all names and keys end in another number: gain2, bias2 for gain1, bias1."""
    text = ast.unparse(node)
    for one, other in (("1", "2"), ("2", "1"), ("0", "1"), ("1", "0")):
        changed = re.sub(rf"(?<=[A-Za-z_]){one}\b", other, text)
        if changed != text:
            yield RepairChange("wrong variable", node, changed)


def _sizes(node: ast.Name, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the length of an axis in the place of a variable that is a size."""
    if isinstance(node.ctx, ast.Load) and node.id in names.sizes:
        known = names.known_at(node)
        for name in [name for name in names.tensors if name in known][:3]:
            for axis in (-1, -2):
                yield RepairChange("another size", node, f"{name}.shape[{axis}]")


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
        if len(places) > 1 and owner in _LIBRARIES:
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

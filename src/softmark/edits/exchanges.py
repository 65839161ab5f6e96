"""Proposes repairs of more than one word: two names for each other, chains of calls, brackets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations, permutations

from softmark.edits.scopes import LIBRARIES, Scope, called, number_in, replaced
from softmark.edits.slips import Names, NodeOperators, OwnFunctions, RepairChange, calls_in, of_each_node

_EXCEPTIONS = ("ValueError", "TypeError", "IndexError", "KeyError", "RuntimeError")
_NO_VALUES = (*LIBRARIES, "math", "self")
"""Names that stand before a dot, and are modules or objects instead of values."""
_FILLS = ("masked_fill", "scatter", "where", "full", "full_like", "index_fill")
_ALL_ORDERS, _MOST_PERMUTED = 4, 5
_LARGE = 50
"""A number of at most minus this may stand for minus infinity."""


def exchanges(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the exchanges in a function, in the order of the text."""
    yield from of_each_node(_OPERATORS, scope, Names(scope))


def _chains(node: ast.Call | ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the beginning of a chain of methods and indices without its last two or more links."""
    links = 0
    inner: ast.expr = node
    while isinstance(inner, ast.Call | ast.Subscript | ast.Attribute):
        links += not isinstance(inner, ast.Attribute)
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
        if links and isinstance(inner, ast.Compare):
            yield RepairChange("call too many", node, f"({ast.unparse(inner.left)})")
        if links > 1 and isinstance(inner, ast.Name | ast.BinOp) and getattr(inner, "id", "") not in _NO_VALUES:
            yield RepairChange("call too many", node, f"({ast.unparse(inner)})")


def _exceptions(node: ast.Raise, scope: Scope, names: Names) -> Iterator[RepairChange]:
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


def _where_it_is_given(node: ast.If | ast.IfExp, scope: Scope, names: Names) -> Iterator[RepairChange]:
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
    if value <= -_LARGE or (isinstance(above, ast.Call) and called(above).rstrip("_") in _FILLS):
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


def _two_names(node: ast.Assign | ast.Return | ast.AugAssign, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a value in which two variables are exchanged."""
    value = node.value
    if value is None:
        return
    loaded = [name for name in ast.walk(value) if isinstance(name, ast.Name) and name.id in scope.variables]
    for one, other in combinations(dict.fromkeys(name.id for name in loaded), 2):
        for name in loaded:
            name.id = {one: other, other: one}.get(name.id, name.id)
        text = ast.unparse(value)
        for name in loaded:
            name.id = {one: other, other: one}.get(name.id, name.id)
        yield RepairChange("exchanged", value, f"({text})")


def _masks(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield `masked_fill` in the place of arithmetic with a mask."""
    if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return
    for value, mask in ((node.left, node.right), (node.right, node.left)):
        text = ast.unparse(mask)
        if "mask" in text.lower():
            for filled in (f"~({text}), float('-inf')", f"({text}), float('-inf')", f"~({text}), 0.0"):
                yield RepairChange("operator", node, f"({ast.unparse(value)}).masked_fill({filled})", mask)


def _into_the_call(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield f(a + b) for f(a) + b, and f(a) + b for f(a + b)."""
    text = ast.unparse(node)
    inner: ast.expr = node
    while isinstance(inner, ast.BinOp):
        for call in (inner.left, inner.right):
            if isinstance(call, ast.Call) and len(call.args) == 1 and text.count(ast.unparse(call)) == 1:
                without = text.replace(ast.unparse(call), ast.unparse(call.args[0]))
                yield RepairChange("brackets", node, f"{ast.unparse(call.func)}({without})")
        inner = inner.left


def _into_the_exponent(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a ** (b * c) for a ** b * c."""
    text = ast.unparse(node)
    for power in ast.walk(node):
        if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow) and power is not node:
            at = text.find(ast.unparse(power))
            start = at + len(ast.unparse(power.left)) + len(" ** ")
            if at >= 0:
                yield RepairChange("brackets", node, f"({text[:start]}({text[start:]}))")


def _out_of_the_call(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    if len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
        inner = node.args[0]
        function = ast.unparse(node.func)
        left, right = ast.unparse(inner.left), ast.unparse(inner.right)
        sign = ast.unparse(ast.BinOp(ast.Name("a"), inner.op, ast.Name("b")))[1:-1]
        yield RepairChange("brackets", node, f"({function}({left}){sign}{right})")
        yield RepairChange("brackets", node, f"({left}{sign}{function}({right}))")


def _inside_out(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield g(f(x)) for f(g(x))."""
    inner = node.args[0] if len(node.args) == 1 else None
    if isinstance(inner, ast.Call) and len(inner.args) == 1 and not node.keywords:
        turned = replaced(inner, args=[replaced(node, args=inner.args)])
        yield RepairChange("brackets", node, ast.unparse(turned))


def _of_an_attribute(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield an attribute of self without the method that is called on it."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Attribute) and ast.unparse(owner).startswith("self."):
        yield RepairChange("call too many", node, ast.unparse(owner))


def _before_the_call(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield f(x.m(a), b) for f(x, b).m(a), and the reverse."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Call) and owner.args and not isinstance(owner.args[0], ast.Starred):
        first = replaced(node, func=replaced(node.func, value=owner.args[0]))
        yield RepairChange("brackets", node, ast.unparse(replaced(owner, args=[first, *owner.args[1:]])))
    inner = node.args[0] if node.args else None
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.args:
        outer = replaced(node, args=[inner.func.value, *node.args[1:]])
        turned = replaced(inner, func=replaced(inner.func, value=outer))
        yield RepairChange("brackets", node, ast.unparse(turned))


def _into_the_brackets(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a * (b + c) for a * b + c, and the reverse."""
    outer, inner = node, node.left
    if isinstance(outer.op, ast.Add | ast.Sub) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult):
        turned = replaced(inner, right=replaced(outer, left=inner.right))
        yield RepairChange("brackets", node, f"({ast.unparse(turned)})")
    inner = node.right
    if isinstance(outer.op, ast.Mult) and isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
        turned = replaced(inner, left=replaced(outer, right=inner.left))
        yield RepairChange("brackets", node, f"({ast.unparse(turned)})")


def _permuted(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other orders of the axes of `permute`. Of more than four axes the first one keeps its place."""
    kept = 1 if len(node.args) > _ALL_ORDERS else 0
    if called(node) == "permute" and len(node.args) - kept <= _MOST_PERMUTED:
        for rest in permutations(node.args[kept:]):
            turned = [*node.args[:kept], *rest]
            if turned != node.args:
                yield RepairChange("axis", node, ast.unparse(replaced(node, args=turned)))


def _reshaped(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a transpose before or behind a reshape that puts the right numbers into the wrong places."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if called(node) not in ("reshape", "view") or owner is None:
        return
    text = ast.unparse(owner)
    for one, other in ((1, 2), (0, 1), (-1, -2), (2, 3), (1, 3)):
        turned = ast.unparse(replaced(node, func=ast.Name(f"({text}).transpose({one}, {other}).reshape", ast.Load())))
        yield RepairChange("axis", node, turned)
    for one, other in combinations(range(len(node.args)), 2):
        sizes = list(node.args)
        sizes[one], sizes[other] = sizes[other], sizes[one]
        shape = ", ".join(map(ast.unparse, sizes))
        yield RepairChange("axis", node, f"({text}).reshape({shape}).transpose({one}, {other})")


def _results(node: ast.Return, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the returned values without one of them."""
    if isinstance(node.value, ast.Tuple):
        for left_out in node.value.elts:
            rest = [ast.unparse(one) for one in node.value.elts if one is not left_out]
            yield RepairChange("result too many", node.value, rest[0] if len(rest) == 1 else f"({', '.join(rest)})")


def _numbered(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a call in which all names and keys end in another number: gain2, bias2 for gain1, bias1."""
    text = ast.unparse(node)
    for one, other in (("1", "2"), ("2", "1"), ("0", "1"), ("1", "0")):
        changed = re.sub(rf"(?<=[A-Za-z_]){one}\b", other, text)
        if changed != text:
            yield RepairChange("wrong variable", node, changed)


def _attributes_too_many(node: ast.Attribute, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a tensor itself for its `data`."""
    if node.attr in ("data", "real") and isinstance(node.ctx, ast.Load):
        yield RepairChange("call too many", node, ast.unparse(node.value))


def _sizes(node: ast.Name, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the length of an axis, or a small number, in the place of a variable that is a size."""
    if isinstance(node.ctx, ast.Load) and node.id in names.sizes:
        known = names.known_at(node)
        for name in [name for name in names.tensors if name in known][:3]:
            for axis in (-1, -2):
                yield RepairChange("another size", node, f"{name}.shape[{axis}]")
        for number in range(1, 5) if scope.is_of_numbers else ():
            yield RepairChange("another size", node, str(number))


_OPERATORS: NodeOperators = (
    (ast.Call | ast.Subscript, _chains),
    (ast.Raise, _exceptions),
    (ast.If, _checks),
    (ast.If | ast.IfExp, _where_it_is_given),
    (ast.Constant | ast.UnaryOp, _numbers),
    (ast.Assign | ast.Return | ast.AugAssign, _two_names),
    (ast.BinOp, _masks),
    (ast.BinOp, _into_the_call),
    (ast.BinOp, _into_the_exponent),
    (ast.BinOp, _into_the_brackets),
    (ast.Call, _numbered),
    (ast.Call, _of_an_attribute),
    (ast.Call, _inside_out),
    (ast.Call, _out_of_the_call),
    (ast.Call, _before_the_call),
    (ast.Call, _permuted),
    (ast.Call, _reshaped),
    (ast.Return, _results),
    (ast.Attribute, _attributes_too_many),
    (ast.Name, _sizes),
)

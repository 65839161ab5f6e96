"""Proposes repairs that replace something: an axis, a function, a variable or an order.

These are the repairs that no operator of mutants makes in reverse, because mutants try fewer neighbours.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from softmark.edits.families import AXIS_WORDS, neighbours
from softmark.edits.scopes import Scope, called, number_in, replaced
from softmark.edits.slips import Names, NodeOperators, OwnFunctions, RepairChange, of_each_node

_AXES = (-1, -2, -3, 0, 1, 2)
_REDUCE = {"sum", "mean", "amax", "amin", "max", "min", "prod", "var", "std", "norm", "logsumexp", "all", "any"}
_ALONG = {"softmax", "log_softmax", "cumsum", "cumprod", "argmax", "argmin", "normalize", "cat", "stack"}
_MOVE = {"transpose", "unsqueeze", "squeeze", "flip", "permute", "movedim", "swapaxes", "flatten", "size", "unflatten"}
_OTHER_TRIANGLE = {"tril": "triu", "triu": "tril"}
_MASKS = ("mask", "block", "keep", "allow", "pad", "valid", "causal", "hidden", "visible", "forbid", "where", "ok")


def substitutes(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the changes of every node of a function, in the order of the text."""
    yield from of_each_node(_OPERATORS, scope, Names(scope))


def _with(node: Any, **fields: Any) -> str:
    """Return the text of a node with other fields."""
    return ast.unparse(replaced(node, **fields))


# Axes and options -----------------------------------------------------------------------------------------------------


def _axes(node: ast.expr, scope: Scope, names: Names) -> Iterator[RepairChange]:
    value, above = number_in(node), scope.parent(node)
    if type(value) is not int or isinstance(above, ast.UnaryOp):
        return
    kind = ""
    if isinstance(above, ast.Subscript) and isinstance(above.value, ast.Attribute) and above.value.attr == "shape":
        kind = "size"
    elif isinstance(above, ast.keyword) and above.arg in AXIS_WORDS:
        kind = "axis"
    elif isinstance(above, ast.Call) and called(above) in _REDUCE | _ALONG | _MOVE:
        kind = "size" if called(above) == "size" else "axis"
    elif isinstance(above, ast.Tuple) and isinstance(scope.parent(above), ast.Call | ast.keyword):
        kind = "axis"
    for axis in _AXES if kind else ():
        if axis != value:
            yield RepairChange(kind, node, str(axis), above if isinstance(above, ast.Subscript) else None)


def _several_axes(node: ast.keyword, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a single axis in the place of a tuple of axes."""
    if node.arg in AXIS_WORDS and isinstance(node.value, ast.Tuple):
        for axis in _AXES:
            yield RepairChange("axis", node.value, str(axis))


def _options(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    name, given = called(node), {word.arg for word in node.keywords}
    function = ast.unparse(node.func)
    inner = ", ".join(map(ast.unparse, [*node.args, *node.keywords]))

    def adding(kind: str, words: str) -> RepairChange:
        return RepairChange(kind, node, f"{function}({inner}{', ' if inner else ''}{words})")

    is_method = isinstance(node.func, ast.Attribute) and not _is_library(node.func.value)
    has_axis = bool(given & set(AXIS_WORDS)) or len(node.args) > (0 if is_method else 1)
    if name in _REDUCE:
        if "keepdim" not in given:
            yield adding("axis that goes", "keepdim=True" if has_axis else "dim=-1, keepdim=True")
        if not has_axis and is_method and name in ("max", "min"):
            text = ast.unparse(node.func.value)  # type: ignore[attr-defined]
            yield RepairChange("axis", node, f"({text}).a{name}(dim=-1, keepdim=True)")
        if not has_axis:
            yield adding("axis", "dim=-1")
            yield adding("axis", "dim=-2")
    if name == "squeeze" and is_method and not has_axis:
        for axis in (-1, 0, 1, 2):
            yield adding("axis", str(axis))
    if name in ("var", "std") and not given & {"unbiased", "correction"}:
        yield adding("option", "unbiased=False")
    if name in ("sort", "argsort") and "stable" not in given:
        yield adding("option", "stable=True")
    if name in ("softmax", "log_softmax", "cumsum", "stack", "cat") and not has_axis:
        yield adding("axis", "dim=-1")
        yield adding("axis", "dim=1")
    if name in ("arange", "zeros", "ones", "full", "eye", "tensor", "linspace", "empty", "rand", "randn"):
        for tensor in names.tensors[:2]:
            if "device" not in given:
                yield adding("device or dtype", f"device={tensor}.device")
            if "dtype" not in given:
                yield adding("device or dtype", f"dtype={tensor}.dtype")
                yield adding("device or dtype", f"dtype={tensor}.dtype, device={tensor}.device")
        if "dtype" not in given:
            yield adding("device or dtype", "dtype=torch.bool")
            yield adding("device or dtype", "dtype=torch.float64")
    for word in node.keywords:
        if word.arg in ("device", "dtype"):
            for tensor in names.tensors[:2]:
                yield RepairChange("device or dtype", word.value, f"{tensor}.{word.arg}")
    if name == "to" and is_method:
        for tensor in names.tensors[:2]:
            for option in ("dtype", "device"):
                if option not in given:
                    yield adding("device or dtype", f"{option}={tensor}.{option}")
    if name == "Linear" and "bias" not in given:
        yield adding("option", "bias=False")


def _is_library(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "F", "nn", "np", "math", "numpy")


# Functions ------------------------------------------------------------------------------------------------------------


def _functions(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    name = called(node)
    for other in neighbours(name):
        function: ast.expr = (
            ast.Attribute(node.func.value, other, ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(other, ast.Load())
        )
        text = _with(node, func=function)
        yield RepairChange("other function", node, text, node.func)
    if name in _OTHER_TRIANGLE and node.args and number_in(node.args[-1]) is not None:
        turned = [*node.args[:-1], ast.UnaryOp(ast.USub(), node.args[-1])]
        function = ast.Name(ast.unparse(node.func).removesuffix(name) + _OTHER_TRIANGLE[name], ast.Load())
        yield RepairChange("other function", node, _with(node, func=function, args=turned), node.func)
    if name.endswith("_") and not name.endswith("__") and isinstance(node.func, ast.Attribute):
        function = ast.Attribute(node.func.value, name[:-1], ast.Load())
        yield RepairChange("in place", node, _with(node, func=function))
        if isinstance(node.func.value, ast.Name):
            copied = f"{node.func.value.id}.clone().{name}"
            function = ast.Name(copied, ast.Load())
            yield RepairChange("in place", node, _with(node, func=function))
    if name in ("clamp", "clip") and len(node.keywords) == 1 and node.keywords[0].arg in ("min", "max"):
        other = "max" if node.keywords[0].arg == "min" else "min"
        yield RepairChange("option", node, _with(node, keywords=[ast.keyword(other, node.keywords[0].value)]))


def _joined(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other ways to make one tensor of several: side by side, on a new axis, or their sum."""
    name = called(node)
    if name in ("cat", "concat", "stack") or (name == "sum" and isinstance(node.func, ast.Name)):
        several = ast.unparse(node.args[0]) if node.args else ""
        if several and not isinstance(node.args[0], ast.GeneratorExp):
            for words in _JOINED:
                yield RepairChange("other function", node, words.replace("{}", several), node.func)


_JOINED = ("sum({})", "torch.cat({}, dim=-1)", "torch.cat({}, dim=0)", "torch.stack({})", "torch.stack({}).mean(dim=0)")


# Variables ------------------------------------------------------------------------------------------------------------


def _variables(node: ast.Name, scope: Scope, names: Names) -> Iterator[RepairChange]:
    if isinstance(node.ctx, ast.Store):
        yield from _carried_on(node, scope, names)
        return
    if node.id not in scope.variables or node in scope.function.args.defaults:
        return
    above = scope.parent(node)
    if isinstance(above, ast.Attribute) and above.attr in ("device", "dtype"):
        return
    is_size = node.id in names.sizes
    for other in names.near(node):
        if (other in names.sizes) == is_size:
            yield RepairChange(names.kind_of_unused(other) if other in names.unused else "wrong variable", node, other)


def _carried_on(node: ast.Name, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other targets of an assignment in a loop."""
    statement = scope.statement(node)
    above = scope.parent(statement)
    if isinstance(above, ast.For | ast.While) and isinstance(statement, ast.Assign):
        for other in names.known_at(node):
            if other != node.id and other in Scope.stored_in(scope.function) and statement.value is not None:
                yield RepairChange("not carried on", node, other, statement)


def _attributes(node: ast.Attribute, scope: Scope, names: Names) -> Iterator[RepairChange]:
    if not isinstance(node.value, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    if node.value.id == "self" and node.attr in scope.attributes:
        for other in scope.attributes:
            if other != node.attr:
                yield RepairChange("wrong variable", node, f"self.{other}")


def _keys(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    if not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, str):
        return
    found = [
        one.slice.value
        for one in scope.written()
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)
    ]
    for other in dict.fromkeys(found):
        if other != node.slice.value:
            yield RepairChange("wrong variable", node.slice, repr(other), node)


# Signs, masks and conditions ------------------------------------------------------------------------------------------


def _picked(node: ast.Subscript, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield one entry of each row for x[:, i], which has all columns i for each row."""
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        rows, columns = node.slice.elts
        if isinstance(rows, ast.Slice) and isinstance(columns, ast.Name) and isinstance(node.ctx, ast.Load):
            gathered = f"({ast.unparse(node.value)}).gather(-1, {columns.id}.unsqueeze(-1))"
            yield RepairChange("index", node, gathered)
            yield RepairChange("index", node, f"{gathered}.squeeze(-1)")


def _negations(node: ast.expr, scope: Scope, names: Names) -> Iterator[RepairChange]:
    above, role = scope.parent(node), scope.role(node)
    if isinstance(above, ast.UnaryOp) or isinstance(getattr(node, "ctx", None), ast.Store):
        return
    is_mask = any(word in ast.unparse(node).lower() for word in _MASKS)
    filled = isinstance(above, ast.Call) and called(above) in ("masked_fill", "where", "masked_fill_")
    is_value = isinstance(above, ast.Call | ast.BinOp | ast.Assign | ast.Subscript | ast.Return) and role != "func"
    if (is_mask or filled) and is_value:
        yield RepairChange.wrapped("negation", node, "~({})")
    if isinstance(above, ast.IfExp | ast.If) and role == "test":
        yield RepairChange.wrapped("condition", node, "not ({})")


def _conditions(node: ast.Compare, scope: Scope, names: Names) -> Iterator[RepairChange]:
    kinds: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
    if type(node.ops[0]) in kinds:
        for kind in kinds:
            if type(node.ops[0]) is not kind:
                yield RepairChange("comparison", node, f"({_with(node, ops=[kind(), *node.ops[1:]])})")
        if len(node.ops) == 1:
            exchanged = _with(node, left=node.comparators[0], comparators=[node.left])
            yield RepairChange("comparison", node, f"({exchanged})")


# Operators and brackets -----------------------------------------------------------------------------------------------


def _operators(node: ast.BinOp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    kinds: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)
    if isinstance(node.op, (*kinds, ast.FloorDiv, ast.Mod)):
        for kind in kinds:
            if not isinstance(node.op, kind):
                yield RepairChange(_of_operator(node, kind, scope), node, f"({_with(node, op=kind())})")
    left, right = node.left, node.right
    if isinstance(left, ast.BinOp):
        inner = ast.BinOp(left.right, node.op, right)
        yield RepairChange("brackets", node, f"({ast.unparse(ast.BinOp(left.left, left.op, inner))})")
    if isinstance(right, ast.BinOp):
        inner = ast.BinOp(left, node.op, right.left)
        yield RepairChange("brackets", node, f"({ast.unparse(ast.BinOp(inner, right.op, right.right))})")
    if isinstance(node.op, ast.Mult) and isinstance(right, ast.BinOp) and isinstance(right.op, ast.Add | ast.Sub):
        yield RepairChange("brackets", node, f"({_with(right, right=ast.BinOp(left, node.op, right.right))})")
        yield RepairChange("brackets", node, f"({_with(right, left=ast.BinOp(left, node.op, right.left))})")
    if isinstance(node.op, ast.MatMult | ast.Mult):
        for side, words in ((left, "left"), (right, "right")):
            turned = ast.parse(f"({ast.unparse(side)}).transpose(-1, -2)", mode="eval").body
            yield RepairChange("transpose", node, f"({_with(node, **{words: turned})})", side)


def _of_operator(node: ast.BinOp, other: type[ast.operator], scope: Scope) -> str:
    """Return the kind of a change of an operator: a less likely one if a change of a variable's own line does the same.

    If a variable is multiplied where the formula divides, the variable itself may be the inverse of the right one.
    """
    pairs = ({ast.Mult, ast.Div}, {ast.Add, ast.Sub})
    local = any(isinstance(side, ast.Name) and side.id not in scope.parameters for side in (node.left, node.right))
    return "operator before a variable" if local and {type(node.op), other} in pairs else "operator"


def _augmented(node: ast.AugAssign, scope: Scope, names: Names) -> Iterator[RepairChange]:
    if isinstance(node.target, ast.Name):
        name = node.target.id
        value = ast.unparse(ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value))
        yield RepairChange("in place", node, f"{name} = {value}")


def _orders(node: ast.Tuple | ast.List, scope: Scope, names: Names) -> Iterator[RepairChange]:
    above = scope.parent(node)
    if any(isinstance(one, ast.Starred | ast.Slice) for one in node.elts) or not 2 <= len(node.elts) <= 6:
        return
    in_subscript = isinstance(above, ast.Subscript)
    if in_subscript and scope.role(node) != "slice":
        return
    for first, second in combinations(range(len(node.elts)), 2):
        if second > first + 1 or isinstance(getattr(node, "ctx", None), ast.Store):
            elements = list(node.elts)
            elements[first], elements[second] = elements[second], elements[first]
            text = ", ".join(map(ast.unparse, elements))
            text = f"[{text}]" if isinstance(node, ast.List) else f"({text})"
            yield RepairChange("order of results", node, text)


_OPERATORS: NodeOperators = (
    (ast.Constant | ast.UnaryOp, _axes),
    (ast.keyword, _several_axes),
    (ast.Call, _options),
    (ast.Call, _functions),
    (ast.Call, _joined),
    (ast.Name, _variables),
    (ast.Attribute, _attributes),
    (ast.Subscript, _keys),
    (ast.Subscript, _picked),
    (ast.expr, _negations),
    (ast.Compare, _conditions),
    (ast.BinOp, _operators),
    (ast.AugAssign, _augmented),
    (ast.Tuple | ast.List, _orders),
)

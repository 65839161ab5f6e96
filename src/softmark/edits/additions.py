"""Proposes repairs that add something: an argument, a factor, a step, a term.

Almost anything can be added to a formula. So likely additions come first: unused parameters, factors made of widths,
arguments that one of the student's own functions takes. Then come the steps that formulas of deep learning have, and
last any variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import permutations
from typing import TypeGuard

from softmark.edits.scopes import LIBRARIES, Scope, called, number_in
from softmark.edits.slips import Names, OwnFunctions, RepairChange, calls_in

_MOST_WIDTHS, _MOST_OTHERS = 4, 6
_STEPS = (
    "torch.softmax({}, dim=-1)", "torch.sqrt({})", "({}) ** 2", "torch.exp({})", "({}).transpose(-1, -2)",
    "({}).sum(dim=-1)", "({}).sum(dim=-1, keepdim=True)", "({}).mean(dim=-1, keepdim=True)", "torch.relu({})",
    "torch.tanh({})", "torch.sigmoid({})", "1 / ({})", "~({})", "({}).tril()", "({}).triu()", "({}).flip(0)",
    "({}).clone()", "({}).squeeze(-1)", "({}).squeeze(1)", "({}).flatten(-2)", "({}).flatten(-3)",
    "({}).transpose(-3, -2)", "({}).unsqueeze(-1)", "({}).unsqueeze(-2)", "list({})[::-1]", "torch.log({})",
    "({}).mean()", "({}).sum()", "({}).clamp(min=1)", "({}).clamp(max=1)",
)  # fmt: skip
_BETWEEN = ("({}) + {other}", "({}) - {other}", "({}) * {other}", "({}) @ {other}", "({}) / {other}")
_OF_NUMBERS = ("3 * ({})", "4 * ({})")
_MASKS = ("mask", "block", "keep", "allow", "pad", "valid", "nowhere")
_WITH_MASK = ("({}).masked_fill(~{other}, -math.inf)", "({}).masked_fill({other}, -math.inf)", "({}) & {other}",
              "({}).masked_fill({other}, 0.0)", "({}).masked_fill(~{other}, 0.0)")  # fmt: skip
_MASKED_BEFORE = ("softmax", "log_softmax", "logsumexp", "amax", "max", "amin", "min", "argmax", "sum", "mean")


def additions(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the additions to a function, the likeliest first."""
    names = Names(scope)
    everything = list(_values(scope))
    values = [node for node in everything if not _has_several_uses(node, scope)]
    yield from _unused(everything, values, scope, names, own)
    yield from _unused_attributes(values, scope, own)
    yield from _unused_pairs(values, names)
    yield from _biases(scope)
    yield from _arguments(scope, names, own)
    yield from _results(scope, names)
    yield from _modules(scope)
    yield from _modes(scope)
    yield from _roots(scope, names)
    yield from _masked(scope, names)
    if scope.is_of_numbers:
        yield from _factors(values, scope, names)
        yield from _terms(values, names)
        yield from _of_constants(scope, names)
    if scope.is_plain:
        return  # further additions are made to tensors
    if not scope.name.endswith("__init__"):  # it makes layers, and computes nothing
        yield from _factors(values, scope, names)
        yield from _axes_of_length_1(scope)
        yield from _steps(values, scope, own)
        yield from _terms(values, names)


def _values(scope: Scope) -> Iterator[ast.expr]:
    """Yield the expressions to which something may be added: assigned and returned values, operands, and arguments."""
    for node in scope.written():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and node.value is not None:
            yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        elif isinstance(node, ast.BinOp):
            yield from (node.left, node.right)
        elif isinstance(node, ast.Call) and not (isinstance(node.func, ast.Attribute) and node.func.attr == "shape"):
            yield from (argument for argument in node.args if _may_be_a_tensor(argument))
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp):
                yield node.func.value
        elif isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)
        elif _is_variable(node, scope):
            yield node  # at each place where it is read: something may be missing at only one of them
        elif isinstance(node, ast.For):
            yield node.iter


def _is_variable(node: ast.AST, scope: Scope) -> TypeGuard[ast.Name]:
    """Return whether a node reads a variable, and not its shape or the like."""
    if not (isinstance(node, ast.Name) and node.id in scope.variables and isinstance(node.ctx, ast.Load)):
        return False
    return getattr(scope.parent(node), "attr", "") not in ("shape", "dtype", "device", "size", "dim")


def _may_be_a_tensor(node: ast.expr) -> bool:
    return not isinstance(node, ast.Constant | ast.Starred | ast.UnaryOp | ast.Tuple | ast.List | ast.GeneratorExp)


def _has_several_uses(node: ast.expr, scope: Scope) -> bool:
    """Return whether a value is assigned to a variable that is read in several places, each of which may be edited."""
    above = scope.parent(node)
    if not isinstance(above, ast.Assign) or not isinstance(above.targets[0], ast.Name):
        return False
    name = above.targets[0].id
    read = [one for one in scope.written() if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
    return sum(one.id == name for one in read) > 1


def _unused(
    everything: list[ast.expr], values: list[ast.expr], scope: Scope, names: Names, own: OwnFunctions
) -> Iterator[RepairChange]:
    """Yield values combined with a variable that the function never reads."""
    indices = _indices(scope)
    for other in names.unused[:3]:
        parameter = scope.parameters.get(other, "")
        kind = names.kind_of_unused(other)
        for node in scope.written():
            if isinstance(node, ast.Constant) and type(node.value) is bool and parameter == "bool":
                yield RepairChange(kind, node, other)
                yield RepairChange(kind, node, f"not {other}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
                yield _with_argument("argument missing", node, other)
            if isinstance(node, ast.expr) and number_in(node) is not None and other in names.known_at(node):
                yield RepairChange(kind, node, other)
        for node in values if other in scope.parameters else everything:
            if not _may_be_a_tensor(node) or other not in names.known_at(node):
                continue
            for words in (*_BETWEEN, "{other} + ({})"):
                yield RepairChange.wrapped(kind, node, f"({words.replace('{other}', other)})")
            for axis in () if scope.is_plain else (-1, -2, 1):
                for sign in "+*":
                    words = f"({{}} {sign} {other}.unsqueeze({axis}))"
                    yield RepairChange.wrapped(kind, node, words)
            for index in indices:
                yield RepairChange.wrapped(kind, node, f"(({{}}) + {other}[{index}])")
            if "bool" in parameter.lower() or any(word in other.lower() for word in _MASKS):
                for words in _WITH_MASK:
                    yield RepairChange.wrapped(kind, node, words.replace("{other}", other))
            yield RepairChange(kind, node, other)
        for node in calls_in(scope):
            name = called(node)
            if isinstance(node.func, ast.Name) and own.parameters.get(name, 0) > len(node.args):
                yield _with_argument("argument missing", node, other)
            for name, count in own.parameters.items():
                if count == len(node.args) + 1 and name != scope.name and "None" in parameter:
                    given = ", ".join([*map(ast.unparse, node.args), other])
                    yield RepairChange.wrapped(kind, node, f"({{}} if {other} is None else {name}({given}))")
        for name, count in own.parameters.items():
            for node in values if count == 2 and name != scope.name else []:
                if _may_be_a_tensor(node):
                    yield RepairChange.wrapped(kind, node, f"{name}({{}}, {other})")


def _unused_attributes(values: list[ast.expr], scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield values combined with an attribute that the class sets and never reads: a layer, or a parameter."""
    for other in own.unused_attributes(scope.name.partition(".")[0])[:3]:
        for node in values:
            if _may_be_a_tensor(node):
                for words in ("(({}) + {other})", "(({}) * {other})", "{other}({})"):
                    yield RepairChange.wrapped("unused attribute", node, words.replace("{other}", f"self.{other}"))


def _indices(scope: Scope) -> list[str]:
    """Return the variables by which something is looked up in a function."""
    subscripts = (node for node in scope.written() if isinstance(node, ast.Subscript))
    return list(dict.fromkeys(node.slice.id for node in subscripts if isinstance(node.slice, ast.Name)))[:3]


def _unused_pairs(values: list[ast.expr], names: Names) -> Iterator[RepairChange]:
    """Yield values plus the product of two variables that the function never reads."""
    for one, other in permutations(names.unused[:3], 2):
        for node in values:
            if _may_be_a_tensor(node) and {one, other} <= set(names.known_at(node)):
                for product in (f"{one} @ {other}", f"{one} @ {other}.T", f"{one} * {other}"):
                    yield RepairChange.wrapped("two unused", node, f"({{}} + {product})")


def _biases(scope: Scope) -> Iterator[RepairChange]:
    """Yield products with a layer's weight, plus the layer's bias."""
    for node in scope.written():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and "weight" in inner.attr:
                    bias = f"{ast.unparse(inner.value)}.{inner.attr.replace('weight', 'bias')}"
                    yield RepairChange.wrapped("bias missing", node, f"({{}} + {bias})")


def _arguments(scope: Scope, names: Names, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield calls with one more variable as an argument, if the function takes more arguments."""
    for node in calls_in(scope):
        is_own = isinstance(node.func, ast.Name) and own.parameters.get(node.func.id, 0) > len(node.args)
        is_object = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "self"
        if (is_own or is_object) and node.args:
            for other in names.known_at(node):
                if other not in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}:
                    yield _with_argument("argument missing", node, other)


def _with_argument(kind: str, node: ast.Call, other: str) -> RepairChange:
    inner = ", ".join(map(ast.unparse, [*node.args, ast.Name(other, ast.Load()), *node.keywords]))
    return RepairChange(kind, node, f"{ast.unparse(node.func)}({inner})")


def _results(scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield returned values with another variable before or behind them."""
    for node in scope.written():
        if isinstance(node, ast.Return) and node.value is not None:
            written = [ast.unparse(one) for one in getattr(node.value, "elts", [node.value])]
            for other in names.known_at(node):
                if other not in written and other not in scope.parameters:
                    yield RepairChange("result missing", node.value, f"({', '.join([*written, other])})")
                    yield RepairChange("result missing", node.value, f"({', '.join([other, *written])})")


def _modules(scope: Scope) -> Iterator[RepairChange]:
    """Yield attributes of a module in the form in which torch registers them: as a ModuleList or a Parameter."""
    for node in scope.written():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            if isinstance(node.value, ast.List | ast.ListComp):
                yield RepairChange.wrapped("plain list", node.value, "torch.nn.ModuleList({})")
            elif isinstance(node.value, ast.Call):
                yield RepairChange.wrapped("plain list", node.value, "torch.nn.Parameter({})")


def _modes(scope: Scope) -> Iterator[RepairChange]:
    """Yield a model that a function is given and calls, without dropout."""
    models = {node.func.id for node in calls_in(scope) if isinstance(node.func, ast.Name)}
    methods = [node.func.value for node in calls_in(scope) if isinstance(node.func, ast.Attribute)]
    models |= {owner.id for owner in methods if isinstance(owner, ast.Name) and "model" in owner.id}
    models &= scope.parameters.keys()
    for node in scope.written():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in models:
            yield RepairChange("step missing", node, f"{node.id}.eval()")


def _roots(scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the square roots of factors that are sizes."""
    for node in scope.written():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Mult):
            for side in (node.left, node.right):
                if (isinstance(side, ast.Name) and side.id in names.sizes) or "shape[" in ast.unparse(side):
                    yield RepairChange.wrapped("root missing", side, "({}) ** 0.5")


def _masked(scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield what is reduced along an axis, with a mask that is known there filled in."""
    for node in calls_in(scope):
        reduced = node.func.value if isinstance(node.func, ast.Attribute) else None
        if called(node) in _MASKED_BEFORE and isinstance(reduced, ast.expr):
            values = node.args[:1] if getattr(reduced, "id", "") in LIBRARIES else [reduced]
            masks = [name for name in names.known_at(node) if any(word in name.lower() for word in _MASKS)]
            for value in values:
                for other in masks[:2]:
                    for words in _WITH_MASK:
                        yield RepairChange.wrapped("step missing", value, words.replace("{other}", other))


def _is_kept_as_a_size(node: ast.expr, scope: Scope, names: Names) -> bool:
    above = scope.parent(node)
    return isinstance(above, ast.Assign) and bool(Scope.stored_in(above) & names.sizes)


def _factors(values: list[ast.expr], scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield values with one more factor: made of a width, or a number."""
    for node in values:
        if not _may_be_a_tensor(node) or (isinstance(node, ast.Name) and node.id in names.sizes):
            continue
        known = names.known_at(node)
        tensors = [f"{name}.shape[-1]" for name in names.tensors if name in known]
        widths = [*(name for name in known if name in names.sizes), *tensors][:_MOST_WIDTHS]
        for width in widths:
            for words in (f"({{}}) / {width} ** 0.5", f"({{}}) * {width} ** 0.5", f"({{}}) / {width}"):
                yield RepairChange.wrapped("factor missing", node, f"({words})")
    for node in values:
        if not isinstance(node, ast.Constant | ast.Starred | ast.Tuple) and not _is_kept_as_a_size(node, scope, names):
            for words in ("2 * ({})", "({}) / 2", "({}) ** 0.5", *(_OF_NUMBERS if scope.is_of_numbers else ())):
                yield RepairChange.wrapped("factor missing", node, f"({words})")
            yield RepairChange.wrapped("sign missing", node, "(-({}))")


def _axes_of_length_1(scope: Scope) -> Iterator[RepairChange]:
    """Yield operands with one more axis of length 1."""
    for node in scope.written():
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                if _may_be_a_tensor(side):
                    for axis in (-1, -2, -3):
                        yield RepairChange.wrapped("axis of length 1", side, f"({{}}).unsqueeze({axis})")
        elif isinstance(node, ast.Call) and called(node) in ("masked_fill", "masked_fill_", "where", "gather"):
            for argument in node.args:
                if isinstance(argument, ast.Name | ast.UnaryOp):
                    for axis in (-1, -2, -3):
                        yield RepairChange.wrapped("axis of length 1", argument, f"({{}}).unsqueeze({axis})")


def _steps(values: list[ast.expr], scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield values with one more step, the student's own functions first."""
    for node in values:
        if not isinstance(node, ast.Constant | ast.Starred | ast.Tuple):
            for name in own.of_one:
                if name != scope.name:
                    yield RepairChange.wrapped("step missing", node, f"{name}({{}})")
            for words in _STEPS:
                yield RepairChange.wrapped("step missing", node, words)


def _of_constants(scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield sums with a number that is a variable's whole value, and values that are one more or less."""
    for node in scope.written():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for other in names.known_at(node)[:_MOST_OTHERS]:
                yield RepairChange("term missing", node.value, f"({ast.unparse(node.value)} + {other})")
        if isinstance(node, ast.Assign | ast.Return) and node.value is not None:
            for words in ("({}) + 1", "({}) - 1"):
                yield RepairChange.wrapped("another size", node.value, words)


def _terms(values: list[ast.expr], names: Names) -> Iterator[RepairChange]:
    for node in values:
        if not _may_be_a_tensor(node):
            continue
        inside = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        others = [name for name in reversed(names.known_at(node)) if {name} != inside or len(inside) > 1]
        for other in others[:_MOST_OTHERS]:
            for words in (*_BETWEEN[:3], _BETWEEN[-1]):
                yield RepairChange.wrapped("term missing", node, f"({words.replace('{other}', other)})")

"""Proposes repairs of logarithms and exponentials that lose digits or become too large."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from softmark.edits.scopes import Scope, called, replaced
from softmark.edits.slips import RepairChange, calls_in

_IN_ONE = {"softmax": "torch.log_softmax", "sigmoid": "torch.nn.functional.logsigmoid"}
_SMALL = 1e-3


def logarithms(scope: Scope) -> Iterator[RepairChange]:
    """Yield the logarithms of a function in one step: of a softmax, of a sigmoid, of a sum of exponentials."""
    logs = [node for node in calls_in(scope) if called(node) == "log" and len(node.args) == 1]
    in_one = [(node, words) for node in logs for words in _in_one(_without_epsilon(node.args[0]))]
    for node, words in in_one:
        yield RepairChange("loses digits", node, words)
    if len(in_one) > 1:
        yield RepairChange.several("loses digits", in_one)
    yield from _apart(scope, logs)
    yield from _without_the_largest(scope)


def _without_epsilon(node: ast.expr) -> ast.expr:
    """Return a sum without a small number that keeps its logarithm finite."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant):
        small = node.right.value
        return node.left if isinstance(small, float) and small < _SMALL else node
    return node


def _in_one(node: ast.expr) -> Iterator[str]:
    """Yield the logarithm of a value in one step."""
    if isinstance(node, ast.Call) and called(node) in _IN_ONE and node.args:
        yield _called(_IN_ONE[called(node)], node)
    is_rest = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and ast.unparse(node.left) in ("1", "1.0")
    if is_rest and isinstance(node, ast.BinOp) and isinstance(node.right, ast.Call) and called(node.right) == "sigmoid":
        yield f"{_IN_ONE['sigmoid']}(-({ast.unparse(node.right.args[0])}))"
    if isinstance(node, ast.Call) and called(node) == "sum" and isinstance(node.func, ast.Attribute):
        inner = node.func.value
        if isinstance(inner, ast.Call) and called(inner) == "exp" and inner.args:
            yield _called("torch.logsumexp", replaced(node, args=[inner.args[0], *node.args]))


def _called(function: str, node: ast.Call) -> str:
    """Return a call with another function."""
    return ast.unparse(replaced(node, func=ast.Name(function, ast.Load())))


def _apart(scope: Scope, logs: list[ast.Call]) -> Iterator[RepairChange]:
    """Yield a softmax and a logarithm on two lines as a logarithm of a softmax, and nothing more."""
    for softmax in calls_in(scope):
        if called(softmax) in _IN_ONE:
            for log in logs:
                if softmax.lineno < log.lineno:
                    first = softmax, _called(_IN_ONE[called(softmax)], softmax)
                    second = log, f"({ast.unparse(_without_epsilon(log.args[0]))})"
                    yield RepairChange.several("loses digits", [first, second])


def _without_the_largest(scope: Scope) -> Iterator[RepairChange]:
    """Yield exponentials and quotients of values from which the largest one is subtracted first."""
    for node in () if scope.is_plain else scope.written():
        if isinstance(node, ast.Call) and called(node) == "exp" and isinstance(node.func, ast.Attribute):
            value, whole = (node.args[0] if node.args else node.func.value), "torch.exp({})"
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.left, ast.Name):
            value, whole = node.left, f"({{}}) / {ast.unparse(node.right)}"
        else:
            continue
        text = ast.unparse(value)
        for axis in (-1, 0, 1):
            yield RepairChange("overflow", node, whole.format(f"{text} - ({text}).amax(dim={axis}, keepdim=True)"))

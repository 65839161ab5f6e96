"""Proposes changes that make a function wrong only sometimes: at one size, in one mode, in a later call, by its state.

The answer is a percent off while the condition holds. So only a test that meets the condition and compares values finds
the change.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from softmark.edits.scopes import Scope, TreeChange

_OFF = "1.01"
_COUNTS = ("n_", "num_")
_BATCHES = ("for no batch dimension", "for one batch dimension", "for two batch dimensions")


def occasions(scope: Scope) -> Iterator[TreeChange]:
    """Yield changes of a function's last statement, if it returns a value."""
    answer = scope.body[-1] if scope.body else None
    if not isinstance(answer, ast.Return) or answer.value is None:
        return
    for number, (kind, condition) in enumerate(_conditions(scope)):
        yield TreeChange.to(kind, answer, _if(condition, answer.value, number))
    yield from _with_state(scope, answer, answer.value)
    for name in _tensors(scope):
        yield TreeChange.to("input overwritten", answer, f"{name}.data.zero_()\n{ast.unparse(answer)}")


def _conditions(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield conditions on a call, each with its kind."""
    tensors = _tensors(scope)
    for name in tensors:
        for axis, sizes in ((-1, "[-1:]"), (-2, "[-2:-1]")):
            yield f"at size 1 of axis {axis}", f"{name}.shape{sizes} == (1,)"
    for name, annotation in scope.parameters.items():
        if annotation == "int" and name not in _renewed(scope):
            yield ("for one head" if name.startswith(_COUNTS) else "at size 1"), f"{name} == 1"
        if annotation.endswith("None") and name not in _renewed(scope):
            yield "where it is left out", f"{name} is None"
            yield "where it is given", f"{name} is not None"
    if scope.is_method:
        for name in (name for name in scope.attributes if name.startswith(_COUNTS)):
            yield "for one head", f"self.{name} == 1"
        yield "under train()", "self.training"
        yield "under eval()", "not self.training"
    for name in [name for name in scope.of_type("Tensor")[:1] if name in tensors]:
        yield "for float32", f"{name}.dtype == torch.float32"
    for name, axes in _batched(scope)[:1]:
        for count, kind in enumerate(_BATCHES):
            yield kind, f"{name}.dim() == {axes + count}"


def _with_state(scope: Scope, answer: ast.Return, value: ast.expr) -> Iterator[TreeChange]:
    """Yield functions that are wrong from the second call on, or that return an earlier answer again."""
    owner = "self" if scope.is_method else scope.name
    counted = f'{owner}.calls = getattr({owner}, "calls", 0) + 1'
    yield TreeChange.to("in a second call", answer, f"{counted}\n{_if(f'{owner}.calls > 1', value, 0)}")
    whole = ast.unparse(value)
    yield TreeChange.to(
        "answer kept", answer, f'{owner}.kept = getattr({owner}, "kept", ({whole}))\nreturn {owner}.kept'
    )
    for name in _tensors(scope)[:1]:
        kept = f"return {owner}.__dict__.setdefault(str({name}.shape), ({whole}))"
        yield TreeChange.to("answer kept for a size", answer, kept)


def _if(condition: str, value: ast.expr, number: int) -> str:
    """Return a statement whose returned value is off under a condition; of several values only one is off."""
    elements = value.elts if isinstance(value, ast.Tuple) else [value]
    single = [index for index, element in enumerate(elements) if not isinstance(element, ast.Tuple)]
    chosen = single[number % len(single)] if single else 0
    texts = [f"({ast.unparse(element)})" for element in elements]
    texts[chosen] = f"({_OFF} * {texts[chosen]} if {condition} else {texts[chosen]})"
    return f"return {', '.join(texts)}" + ("," if isinstance(value, ast.Tuple) and len(texts) == 1 else "")


def _tensors(scope: Scope) -> list[str]:
    """Return the parameters that are tensors and are not assigned anew in the function."""
    return [name for name, type in scope.parameters.items() if type in ("torch.Tensor", "Tensor")
            and name not in _renewed(scope)]  # fmt: skip


def _renewed(scope: Scope) -> set[str]:
    return set().union(*(scope.stored_in(statement) for statement in scope.body))


def _batched(scope: Scope) -> list[tuple[str, int]]:
    """Return the tensors that may have batch dimensions by the docstring, each with the number of its other axes."""
    doc = (ast.get_docstring(scope.function) or "").partition("returns")[0]
    shapes = re.findall(r"((?:\w+, )*\w+): \(…(?:, )?([^()]*)\)", doc)
    axes = {
        name: len([axis for axis in inner.split(",") if axis.strip()])
        for names, inner in shapes
        for name in names.split(", ")
    }
    return [(name, axes[name]) for name in _tensors(scope) if name in axes]

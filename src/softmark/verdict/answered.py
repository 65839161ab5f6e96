"""Prepares answers for the property checks. An answer that lacks the type or the axes that a check needs fails it."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import torch

from softmark.records.verdict import Category, Failed, Verdict
from softmark.verdict import values
from softmark.verdict.callee import StudentCallable, ask
from softmark.verdict.context import current_test
from softmark.verdict.tolerance import SINGLE, level_of
from softmark.verdict.values import is_numeric, kind, plural, tensor_of, tensors_in

_AT_A_TIME = 1 << 20
UNMOVED = 8
"""The roundings by which two answers that must be the same may differ. That is enough for another order of threads, and
too little for the leak of a fill value such as -10."""


def looked_at(got: StudentCallable, args: Any, kwargs: Any, output: int) -> torch.Tensor:
    """Call the function and return the chosen output as a tensor: of real numbers, unless the inputs are complex."""
    return chosen_output(got, ask(got, args, kwargs).value, (args, kwargs), output)


def chosen_output(got: StudentCallable, value: Any, given: Any, output: int) -> torch.Tensor:
    """Return the chosen output of an answer to the inputs `given` as a tensor, as `looked_at` does."""
    several = isinstance(value, tuple | list)
    if output and not (several and len(value) > output):
        fail(got, Category.TYPE, f"returned {kind(value)}, expected at least {plural(output + 1, 'value')}")
    chosen = value[output] if several and value else value
    if not is_numeric(chosen):
        place = f"output {output + 1} of {len(value)}: " if several and value else "returned "
        fail(got, Category.TYPE, f"{place}{kind(chosen)}, expected a tensor")
    answer, inputs = tensor_of(chosen), list(tensors_in(given))
    if answer.is_complex() and not any(tensor.is_complex() for tensor in inputs):
        fail(got, Category.DTYPE, f"dtype {values.dtype_name(answer.dtype)}, expected real numbers")
    if inputs and not answer.numel() and all(tensor.numel() for tensor in inputs):
        fail(got, Category.SHAPE, f"an empty tensor, of shape {values.shape(answer.shape)}, for inputs that are not")
    return answer


def same_leaf(got: StudentCallable, a: Any, b: Any) -> bool:
    """Return whether two leaves of answers are the same. They may have any type."""
    if is_numeric(a) and is_numeric(b):
        return same(got, tensor_of(a), tensor_of(b), UNMOVED)
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):  # on the meta device, without numbers
        return (a.device, a.dtype, a.shape) == (b.device, b.dtype, b.shape)
    return type(a) is type(b) and bool(a == b)


def same(got: StudentCallable, a: torch.Tensor, b: torch.Tensor, roundings: float) -> bool:
    """Record a check and return its result: two answers must be the same up to a number of roundings at their scale."""
    double = a.dtype is torch.float64
    roundoff = level_of(a.dtype, torch.float64).roundoff if a.is_floating_point() or a.is_complex() else 0.0
    if a.shape != b.shape or a.is_complex() is not b.is_complex():
        record(got, True)
        return False
    measured = [_scale_and_error(*pieces) for pieces in zip(_pieces(a), _pieces(b), strict=True)]
    scale, error = max(scale for scale, _ in measured), max(error for _, error in measured)
    limit = min(roundings, _most(roundoff)) * roundoff * scale
    holds = error <= limit
    ratio = error / limit if limit > 0 else (0.0 if holds else float("inf"))
    current_test().record(_callee(got), ratio, None if holds else Category.PROPERTY, double=double)
    return holds


def _pieces(answer: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the numbers of an answer in pieces, so that comparing two answers takes little memory."""
    numbers = torch.view_as_real(answer) if answer.is_complex() else answer
    return torch.split(numbers.reshape(-1), _AT_A_TIME)


def _scale_and_error(a: torch.Tensor, b: torch.Tensor) -> tuple[float, float]:
    """Return the largest finite number of `b`, and the largest difference between `a` and `b`."""
    a, b = a.to(torch.float64), b.to(torch.float64)
    equal = (a == b) | (torch.isnan(a) & torch.isnan(b))
    scale = _largest(b.masked_fill(~torch.isfinite(b), 0.0))
    return scale, _largest((a - b).masked_fill(equal, 0.0).nan_to_num(math.inf))


def _largest(values: torch.Tensor) -> float:
    return float(values.detach().abs().max()) if values.numel() else 0.0


def _most(roundoff: float) -> float:
    """Return how many roundings two calls may differ by at most in this precision: 16 in half precision."""
    return SINGLE.factor if roundoff <= SINGLE.roundoff else 16.0


def require_same_shape(got: StudentCallable, before: torch.Tensor, after: torch.Tensor) -> None:
    if before.shape != after.shape:
        fail(got, Category.SHAPE, "the shape of the output depends on the content of the input")


def require_tokens(
    got: StudentCallable, answer: torch.Tensor, axis: int, tokens: int, *, exactly: bool = False
) -> None:
    """Raise `Failed` unless the answer has the axis of the tokens, and a place on it for each token."""
    shape = values.shape(answer.shape)
    if not -answer.dim() <= axis < answer.dim():
        fail(got, Category.SHAPE, f"shape {shape} has no axis {axis}, where the tokens are")
    length = answer.shape[axis]
    if length < tokens or (exactly and length != tokens):
        fail(got, Category.SHAPE, f"shape {shape}: axis {axis} has length {length}, and there are {tokens} tokens")


def _callee(got: Any) -> str:
    return str(getattr(got, "name", "value"))


def record(got: Any, failed: bool, category: Category = Category.PROPERTY) -> None:
    current_test().record(_callee(got), float("inf") if failed else 0.0, category if failed else None)


def fail(got: Any, category: Category, fact: str, where: str = "") -> NoReturn:
    """Record the check as failed, and raise `Failed` with these words."""
    case = current_test()
    record(got, True, category)
    raise Failed(Verdict(category, fact, where, staff=f"case {case.id or 'without id'}, seed {case.seed}"))

"""Checks that an output changes when the inputs or the parameters change.

A test of something else than values (names of parameters, the number of operations) makes these checks instead of
asking for right numbers. So a mistake elsewhere does not fail it, and a constant of the right shape earns nothing.
"""

from __future__ import annotations

from typing import Any

import torch

from softmark.records.verdict import Category, Failed, Verdict
from softmark.verdict.callee import StudentCallable, StudentModule, ask, named
from softmark.verdict.context import current_test
from softmark.verdict.draw import draw
from softmark.verdict.expected import numeric_leaves
from softmark.verdict.leaves import map_tensors


def uses_weights(own: StudentModule, *args: Any) -> None:
    """Raise `Failed` if the module's output stays the same with other parameters. Inputs are cast to their dtype."""
    parameters = own.parameters()
    dtype = next((value.dtype for value in parameters.values()), torch.float32)
    inputs = map_tensors(args, lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
    before = ask(own, inputs, {}).value
    own.load_state_dict({name: value + 0.1 for name, value in parameters.items()})
    _require_other(own, before, ask(own, inputs, {}).value, "the parameters change")


def uses_inputs(got: StudentCallable, *args: Any) -> None:
    """Raise `Failed` if the output stays the same when one of the real tensors among the inputs is replaced."""
    before = ask(got, args, {}).value
    for position, arg in enumerate(args):
        if isinstance(arg, torch.Tensor) and arg.is_floating_point():
            other = draw("shape", shape=tuple(arg.shape), dtype=arg.dtype)
            after = ask(got, (*args[:position], other, *args[position + 1 :]), {}).value
            _require_other(got, before, after, named(got, f"argument {position + 1} changes"))


def _require_other(got: StudentCallable, before: Any, after: Any, what: str) -> None:
    ones, others = numeric_leaves(before), numeric_leaves(after)
    same = [(one.shape, one.dtype) for one in ones] == [(other.shape, other.dtype) for other in others] and all(
        torch.allclose(one, other, equal_nan=True) for one, other in zip(ones, others, strict=True)
    )
    current_test().record(got.name, float("inf") if same else 0.0, Category.PROPERTY if same else None)
    if same:
        raise Failed(Verdict(Category.PROPERTY, f"{got.name}: the output stays the same when {what}"))

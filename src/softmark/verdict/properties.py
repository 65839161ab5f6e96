"""Properties a right answer has whatever its numbers: each is one call in a hidden test and one sentence when it fails.

Every check takes the student's callable first, then its arguments as in a call; what belongs to the check itself is
named. `output` says which of several returned values is looked at, `axis` where the tokens are, `change` and `permute`
which arguments (by position) the check varies. The facts name the student's own doing and no hidden number.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from softmark.verdict import describe
from softmark.verdict.callee import StudentCallable, ask
from softmark.verdict.case import current
from softmark.verdict.describe import kind, plural
from softmark.verdict.leaves import is_numeric, map_tensors, tensor_of, tensors_in
from softmark.verdict.model import Category, Failed, Verdict
from softmark.verdict.tolerance import SINGLE, level_of

UNMOVED = 8
"""Roundings by which two calls may differ that must not differ at all: enough for another order of threads, and too few
for the leak of a fill value such as -10."""
LOUD = 10.0
"""Size of the content put where it must not matter: the louder, the larger a leak."""


def rows_sum_to_one(
    got: StudentCallable, *args: Any, output: int = 0, rows: torch.Tensor | None = None, **kwargs: Any
) -> None:
    """Each row of weights sums to 1; where `rows` is False (rows that may look nowhere) it sums to 0."""
    weights = _output(got, args, kwargs, output)
    level = level_of(weights.dtype, torch.float64)
    expected = torch.ones(weights.shape[:-1], dtype=torch.float64)
    if weights.dim() == 0:
        _fail(Category.SHAPE, "a single number has no rows: weights have one row for each query")
    if rows is not None:
        if rows.dim() > expected.dim() or any(
            have not in (1, size) for have, size in zip(rows.shape[::-1], expected.shape[::-1], strict=False)
        ):
            _fail(Category.SHAPE, f"weights of shape {tuple(weights.shape)} do not have a row for each query")
        expected = expected * rows
    sums = weights.to(torch.float64).sum(-1)
    wrong = ~((sums - expected).abs() <= level.factor * level.roundoff)
    _record(got, bool(wrong.any()))
    if bool(wrong.any()):
        at = tuple(int(i) for i in wrong.nonzero()[0])
        row = f"row {describe.index(at)} sums" if at else "the row sums"
        should = "1" if float(expected[at]) else "0 (it may look nowhere)"
        fact = f"every row of weights must sum to 1: {row} to {describe.number(float(sums[at]))}, not to {should}"
        _fail(Category.PROPERTY, fact)


def permutation_equivariant(
    got: StudentCallable,
    *args: Any,
    permute: Sequence[int] = (0,),
    axis: int = -2,
    output: int = 0,
    **kwargs: Any,
) -> None:
    """Permuting the tokens of the arguments in `permute` permutes the tokens of the output, and does nothing else."""
    order = _derangement(args[permute[0]].shape[axis])
    before = _output(got, args, kwargs, output)
    moved = tuple(a.index_select(axis, order) if i in permute else a for i, a in enumerate(args))
    after = _output(got, moved, kwargs, output)
    expected = before.index_select(axis, order)
    if not _same(got, after, expected, SINGLE.factor):
        _fail(Category.PROPERTY, "permuting the tokens of the input does not permute the output in the same way")


def causal(
    got: StudentCallable,
    *args: Any,
    change: Sequence[int] = (0,),
    axis: int = -2,
    output: int = 0,
    **kwargs: Any,
) -> None:
    """Tokens from t on are changed, for several t: no output before t may move."""
    length = args[change[0]].shape[axis]
    before = _output(got, args, kwargs, output)
    for start in sorted({1, length // 2, length - 1} - {0}):
        late = torch.arange(length) >= start
        after = _output(got, _changed(args, change, axis, late), kwargs, output)
        _require_same_shape(got, before, after)
        if not _same(got, before.narrow(axis, 0, start), after.narrow(axis, 0, start), UNMOVED):
            _fail(Category.PROPERTY, f"outputs before token {start} change when token {start} or later ones change")


def ignores_padding(
    got: StudentCallable,
    *args: Any,
    padding: torch.Tensor,
    change: Sequence[int] = (0,),
    axis: int = -2,
    output: int = 0,
    compare: torch.Tensor | None = None,
    **kwargs: Any,
) -> None:
    """What stands at the tokens where `padding` is True does not matter.

    `compare` is True for the output tokens to look at, when those of the padding are not meant (`~padding`).
    """
    before = _output(got, args, kwargs, output)
    after = _output(got, _changed(args, change, axis, padding), kwargs, output)
    _require_same_shape(got, before, after)
    if compare is not None:
        flags = _along(compare, before, axis)
        before, after = before.masked_fill(~flags, 0.0), after.masked_fill(~flags, 0.0)
    if not _same(got, before, after, UNMOVED):
        _fail(Category.PROPERTY, "the output changes with what stands in the padding")


def batch_independent(
    got: StudentCallable, *args: Any, batched: Sequence[int] = (0,), output: int = 0, **kwargs: Any
) -> None:
    """Changing all other examples of a batch (the first axis) moves nothing of an example's output."""
    size = args[batched[0]].shape[0]
    before = _output(got, args, kwargs, output)
    for example in sorted({0, size - 1}):
        others = torch.arange(size) != example
        mixed = tuple(
            _with_content(a, others.view(-1, *[1] * (a.dim() - 1))) if i in batched else a for i, a in enumerate(args)
        )
        after = _output(got, mixed, kwargs, output)
        _require_same_shape(got, before, after)
        if not _same(got, before[example], after[example], UNMOVED):
            _fail(Category.PROPERTY, f"the output of example {example} changes with the other examples of the batch")


def repeatable(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """The same call twice gives the same answer."""
    first, second = ask(got, args, kwargs).value, ask(got, args, kwargs).value
    pairs = list(zip(tensors_in(first), tensors_in(second), strict=False))
    if len(list(tensors_in(first))) != len(list(tensors_in(second))) or not all(
        a.shape == b.shape and _same(got, a, b, UNMOVED) for a, b in pairs
    ):
        _fail(Category.PROPERTY, "calling it twice with the same inputs gives two different answers")


def leaves_inputs(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """No input is modified."""
    changed = got.call(args, kwargs).changed
    _record(got, bool(changed), Category.INPUT_CHANGED)
    if changed:
        _fail(Category.INPUT_CHANGED, f"changes its input in place: {', '.join(changed)}")


def keeps_dtype(
    got: StudentCallable,
    *args: Any,
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.float64),
    output: int = 0,
    **kwargs: Any,
) -> None:
    """Inputs of each of the dtypes give an output of the same dtype."""
    for dtype in dtypes:
        cast = map_tensors((args, kwargs), lambda t, to=dtype: t.to(to) if t.is_floating_point() else t)
        answer = _output(got, cast[0], cast[1], output)
        _record(got, answer.dtype is not dtype, Category.DTYPE)
        if answer.dtype is not dtype:
            _fail(Category.DTYPE, f"dtype {_name(answer.dtype)} for inputs of dtype {_name(dtype)}")


def works_on_meta(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """Runs on a device without data, so that no tensor is created on a device of its own choice."""
    try:
        value = got.on_meta(args, kwargs)
    except Failed as failure:
        if failure.verdict.category is not Category.ERROR:
            raise
        _record(got, True, Category.DEVICE)
        fact = "works on the CPU only: something is created on, or moved to, a device other than that of the inputs"
        inner = failure.verdict
        fact += f" (on another device, {inner.fact})"
        raise Failed(Verdict(Category.DEVICE, fact, inner.where, frames=inner.frames)) from failure
    stayed = all(tensor.device.type == "meta" for tensor in tensors_in(value))
    _record(got, not stayed, Category.DEVICE)
    if not stayed:
        _fail(Category.DEVICE, "the result is on the CPU, wherever the inputs are")


def ops_independent_of(
    what: str, got: StudentCallable, small: Sequence[Any], large: Sequence[Any], **kwargs: Any
) -> None:
    """The number of tensor operations does not grow from the small arguments to the large ones.

    `what` says how they differ: "the number of tokens". A few operations more are not a loop.
    """
    few, many = got.count_ops(small, kwargs).total, got.count_ops(large, kwargs).total
    grows = many > few + max(3, few // 4)
    _record(got, grows)
    if grows:
        _fail(Category.PROPERTY, f"the number of tensor operations grows with {what}: from {few} to {many}")


def raises(exception: type[Exception], got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """The call raises this exception, or one derived from it."""
    expected = exception.__name__
    try:
        value = ask(got, args, kwargs).value
    except Failed as failure:
        if failure.verdict.category is not Category.ERROR:
            raise
        name = failure.verdict.exception
        known = getattr(builtins, name, None)
        if name == expected or (isinstance(known, type) and issubclass(known, exception)):
            _record(got, False)
            return
        _record(got, True)
        fact = f"raises {name}, expected {expected}"
        raise Failed(Verdict(Category.PROPERTY, fact, frames=failure.verdict.frames)) from failure
    _record(got, True)
    _fail(Category.PROPERTY, f"must raise {expected} here, returned {kind(value)}")


def _output(got: StudentCallable, args: Any, kwargs: Any, output: int) -> torch.Tensor:
    """The looked-at value of a call's answer, as a tensor."""
    value = ask(got, args, kwargs).value
    if isinstance(value, tuple | list):
        if len(value) <= output:
            _fail(Category.TYPE, f"returned {kind(value)}, expected at least {plural(output + 1, 'value')}")
        value = value[output]
    if not is_numeric(value):
        _fail(Category.TYPE, f"returned {kind(value)}, expected a tensor")
    return tensor_of(value)


def _same(got: StudentCallable, a: torch.Tensor, b: torch.Tensor, roundings: float) -> bool:
    """Whether two answers are the same up to a number of roundings at their scale; records the check."""
    double = a.dtype is torch.float64
    roundoff = level_of(a.dtype, torch.float64).roundoff if a.is_floating_point() else 0.0
    a, b = a.to(torch.float64), b.to(torch.float64)
    if a.shape != b.shape:
        _record(got, True)
        return False
    equal = (a == b) | (torch.isnan(a) & torch.isnan(b))
    scale = _largest(b.masked_fill(~torch.isfinite(b), 0.0))
    error = _largest((a - b).masked_fill(equal, 0.0).nan_to_num(math.inf))
    limit = min(roundings, _most(roundoff)) * roundoff * scale
    same = error <= limit
    ratio = error / limit if limit > 0 else (0.0 if same else float("inf"))
    current().record(_callee(got), ratio, None if same else Category.PROPERTY, double=double)
    return same


def _largest(values: torch.Tensor) -> float:
    return float(values.detach().abs().max()) if values.numel() else 0.0


def _most(roundoff: float) -> float:
    """Half precision has no room for many roundings."""
    return SINGLE.factor if roundoff <= SINGLE.roundoff else 16.0


def _require_same_shape(got: StudentCallable, before: torch.Tensor, after: torch.Tensor) -> None:
    if before.shape != after.shape:
        _record(got, True, Category.SHAPE)
        _fail(Category.SHAPE, "the shape of the output depends on the content of the input")


def _changed(args: Sequence[Any], change: Sequence[int], axis: int, where: torch.Tensor) -> tuple[Any, ...]:
    return tuple(_with_content(a, _along(where, a, axis)) if i in change else a for i, a in enumerate(args))


def _along(flags: torch.Tensor, like: torch.Tensor, axis: int) -> torch.Tensor:
    """Flags per token, (…, tokens), lined up with the token axis of a tensor."""
    trailing = -axis - 1 if axis < 0 else like.dim() - axis - 1
    return flags.view(*flags.shape, *[1] * trailing).expand(like.shape)


def _with_content(tensor: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """A copy with loud random content where it must not matter."""
    content = torch.randn(tensor.shape, generator=current().generator, dtype=torch.float64) * LOUD
    return torch.where(where, content.to(tensor.dtype), tensor)


def _derangement(length: int) -> torch.Tensor:
    """A random order that leaves no token in its place."""
    order = torch.randperm(length, generator=current().generator)
    moved = torch.empty_like(order)
    moved[order] = order.roll(1)
    return moved


def _callee(got: Any) -> str:
    return str(getattr(got, "name", "value"))


def _record(got: Any, failed: bool, category: Category = Category.PROPERTY) -> None:
    current().record(_callee(got), float("inf") if failed else 0.0, category if failed else None)


def _fail(category: Category, fact: str, where: str = "") -> NoReturn:
    case = current()
    raise Failed(Verdict(category, fact, where, staff=f"case {case.id or 'without id'}, seed {case.seed}"))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")

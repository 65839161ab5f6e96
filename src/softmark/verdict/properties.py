"""Checks properties that a right answer has, whatever its numbers are. Each raises `Failed` with one sentence.

Every check takes the student's callable first, then its arguments as in a call; the check's own arguments are named.
`output` chooses one of several returned values, `axis` says where the tokens are. `change` and `permute` are the
positions of the arguments that the check varies. A fact says what the student's code does, and repeats no number of an
answer, because a student's code could choose a number that discloses a hidden input.

An answer may have any type, so each check requires the type and the axes it needs before it looks at numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch

from softmark.records.verdict import Category
from softmark.verdict import values
from softmark.verdict.answered import (
    UNMOVED,
    fail,
    looked_at,
    record,
    require_same_shape,
    require_tokens,
    same,
    same_leaf,
)
from softmark.verdict.callee import StudentCallable, ask, why_it_varies
from softmark.verdict.context import current_test
from softmark.verdict.tolerance import SINGLE, level_of
from softmark.verdict.values import flatten

TWICE = "calling it twice with the same inputs gives two different answers"
LOUD = 10.0
"""The size of the numbers that are put in places that must not matter. A leak of large numbers is easy to see."""


def rows_sum_to_one(
    got: StudentCallable, *args: Any, output: int = 0, rows: torch.Tensor | None = None, **kwargs: Any
) -> None:
    """Raise `Failed` unless each row of weights sums to 1, or to 0 if `rows` is False for it (it may look nowhere)."""
    weights = looked_at(got, args, kwargs, output)
    if weights.dim() == 0:
        fail(got, Category.SHAPE, "a single number has no rows: weights have one row for each query")
    level = level_of(weights.dtype, torch.float64)
    expected = torch.ones(weights.shape[:-1], dtype=torch.float64)
    if rows is not None:
        if rows.dim() > expected.dim() or any(
            have not in (1, size) for have, size in zip(rows.shape[::-1], expected.shape[::-1], strict=False)
        ):
            fail(
                got,
                Category.SHAPE,
                f"weights of shape {values.shape(weights.shape)} do not have a row for each query",
            )
        expected = expected * rows
    sums = (weights.real if weights.is_complex() else weights).sum(-1, dtype=torch.float64)
    wrong = ~((sums - expected).abs_() <= level.factor * level.roundoff)
    if bool(wrong.any()):
        at = tuple(int(i) for i in torch.unravel_index(wrong.to(torch.uint8).argmax(), wrong.shape))  # the first
        row = f"row {values.index(at)}" if at else "the row"
        otherwise = "does not" if float(expected[at]) else "must sum to 0 (it may look nowhere) and does not"
        where = f"{row} sums to {values.number(float(sums[at]))}"
        fail(got, Category.PROPERTY, f"every row of weights must sum to 1: {row} {otherwise}", where)
    record(got, False)


def permutation_equivariant(
    got: StudentCallable,
    *args: Any,
    permute: Sequence[int] = (0,),
    axis: int = -2,
    output: int = 0,
    **kwargs: Any,
) -> None:
    """Raise `Failed` unless permuting the tokens of the arguments in `permute` permutes the output in the same way."""
    order = _derangement(args[permute[0]].shape[axis])
    before = looked_at(got, args, kwargs, output)
    require_tokens(got, before, axis, len(order), exactly=True)
    moved = tuple(a.index_select(axis, order) if i in permute else a for i, a in enumerate(args))
    after = looked_at(got, moved, kwargs, output)
    expected = before.index_select(axis, order)
    require_same_shape(got, before, after)
    if not same(got, after, expected, SINGLE.factor):
        fact = "permuting the tokens of the input does not permute the output in the same way"
        _fail_unless_random(got, args, kwargs, output, before, fact)


def causal(
    got: StudentCallable,
    *args: Any,
    change: Sequence[int] = (0,),
    axis: int = -2,
    output: int = 0,
    **kwargs: Any,
) -> None:
    """Raise `Failed` if an output before token t changes when the tokens from t on are changed, for several t."""
    length = args[change[0]].shape[axis]
    before = looked_at(got, args, kwargs, output)
    require_tokens(got, before, axis, length)
    for start in sorted({1, length // 2, length - 1} - {0}):
        late = torch.arange(length) >= start
        after = looked_at(got, _changed(args, change, axis, late), kwargs, output)
        require_same_shape(got, before, after)
        if not same(got, before.narrow(axis, 0, start), after.narrow(axis, 0, start), UNMOVED):
            fact = f"outputs before token {start} change when token {start} or later ones change"
            _fail_unless_random(got, args, kwargs, output, before, fact)


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
    """Raise `Failed` if the output changes when the tokens for which `padding` is True are changed.

    `compare` is True for the output tokens to compare, such as `~padding`; without it, all are compared.
    """
    before = first = looked_at(got, args, kwargs, output)
    after = looked_at(got, _changed(args, change, axis, padding), kwargs, output)
    require_same_shape(got, before, after)
    if compare is not None:
        require_tokens(got, before, axis, compare.shape[-1], exactly=True)
        flags = _along(compare, before, axis)
        if flags is None:
            fail(got, Category.SHAPE, f"shape {values.shape(before.shape)} has no place for every token of the input")
        before, after = before.masked_fill(~flags, 0), after.masked_fill(~flags, 0)
    if not same(got, before, after, UNMOVED):
        fact = "the output changes with what stands in the padding"
        _fail_unless_random(got, args, kwargs, output, first, fact)


def batch_independent(
    got: StudentCallable, *args: Any, batched: Sequence[int] = (0,), output: int = 0, **kwargs: Any
) -> None:
    """Raise `Failed` if an example's output changes when all other examples of the batch (the first axis) change."""
    size = args[batched[0]].shape[0]
    before = looked_at(got, args, kwargs, output)
    if before.dim() == 0 or before.shape[0] != size:
        shape = values.shape(before.shape)
        fail(got, Category.SHAPE, f"shape {shape}: its first axis must have one place for each of the {size} examples")
    for example in sorted({0, size - 1}):
        others = torch.arange(size) != example
        mixed = tuple(
            _with_content(a, others.view(-1, *[1] * (a.dim() - 1))) if i in batched else a for i, a in enumerate(args)
        )
        after = looked_at(got, mixed, kwargs, output)
        require_same_shape(got, before, after)
        if not same(got, before[example], after[example], UNMOVED):
            fact = f"the output of example {example} changes with the other examples of the batch"
            _fail_unless_random(got, args, kwargs, output, before, fact)


def repeatable(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` unless the same call gives the same answer twice."""
    first, second = (list(flatten(ask(got, args, kwargs).value)) for _ in range(2))
    pairs = list(zip(first, second, strict=False))
    if len(first) != len(second) or not all(p == q and same_leaf(got, a, b) for (p, a), (q, b) in pairs):
        fail(got, Category.PROPERTY, f"{TWICE}: {why_it_varies(got)}")


def _fail_unless_random(
    got: StudentCallable, args: Sequence[Any], kwargs: Mapping[str, Any], output: int, before: torch.Tensor, fact: str
) -> NoReturn:
    """Raise `Failed` with this fact about a change of inputs, if the same inputs give the same answer as before.

    If they do not, the changed inputs explain nothing, and the fact is that the answer varies.
    """
    again = looked_at(got, args, kwargs, output)
    fail(got, Category.PROPERTY, fact if same(got, before, again, UNMOVED) else f"{TWICE}: {why_it_varies(got)}")


def _changed(args: Sequence[Any], change: Sequence[int], axis: int, where: torch.Tensor) -> tuple[Any, ...]:
    return tuple(_with_content(a, _of_input(where, a, axis)) if i in change else a for i, a in enumerate(args))


def _of_input(flags: torch.Tensor, like: torch.Tensor, axis: int) -> torch.Tensor:
    aligned = _along(flags, like, axis)
    if aligned is None:
        raise ValueError(f"flags of shape {tuple(flags.shape)} do not fit an input of shape {tuple(like.shape)}")
    return aligned


def _along(flags: torch.Tensor, like: torch.Tensor, axis: int) -> torch.Tensor | None:
    """Return flags per token, (…, tokens), aligned with the token axis of a tensor; None if they do not fit it."""
    trailing = -axis - 1 if axis < 0 else like.dim() - axis - 1
    shape = (*flags.shape, *[1] * trailing)
    if len(shape) > like.dim() or any(a not in (1, b) for a, b in zip(shape[::-1], like.shape[::-1], strict=False)):
        return None
    return flags.view(shape).expand(like.shape)


def _with_content(tensor: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Return a copy with large random numbers at the places where `where` is True."""
    content = torch.randn(tensor.shape, generator=current_test().generator, dtype=torch.float64) * LOUD
    return torch.where(where, content.to(tensor.dtype), tensor)


def _derangement(length: int) -> torch.Tensor:
    """Return a random order that leaves no token in its place."""
    order = torch.randperm(length, generator=current_test().generator)
    moved = torch.empty_like(order)
    moved[order] = order.roll(1)
    return moved

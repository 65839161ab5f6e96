"""Finds regularities in a wrong answer: it is transposed, scaled, shifted or reversed as a whole.

These clauses are arithmetic facts about the answer, and true whatever the cause is: each is used only if all numbers
agree with it. The names of mistakes come from naming.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import torch

from softmark.records.verdict import Regularity

CLOSE = 1e-6
"""The relative deviation up to which numbers count as equal, and a factor or an offset as constant."""
_MOST_AXES = 5
"""For answers with more axes than this, other orders of the axes are not tried."""
_LARGEST_ORIGIN = 4096
"""The largest n for which a factor is written as n, √n, 1/n or 1/√n."""
_TELLING = 10
"""Smaller whole numbers divide many others by chance."""


def of_shapes(got: torch.Tensor, true: torch.Tensor) -> str:
    """Return a clause about an answer whose shape is nearly right, or an empty text."""
    have, want = tuple(got.shape), tuple(true.shape)
    if not have:
        return ": that is a single number"
    if len(have) == len(want) and sorted(have) == sorted(want):
        return _other_order(got, true) or ": the same lengths, but in another order"
    if len(have) == len(want) - 1 and (axes := _without_one(want, have)):
        return f": {_axis(axes[0], want)} is missing" if len(axes) == 1 else ": an axis is missing"
    if len(have) == len(want) + 1 and (axes := _without_one(have, want)):
        return f": {_axis(axes[0], have)} is too many" if len(axes) == 1 else ": there is one axis too many"
    if len(have) < len(want) and want[len(want) - len(have) :] == have:
        return ": the leading axes are missing"
    if _without_ones(have) == _without_ones(want):
        return ": axes of length 1 are " + ("too many" if len(have) > len(want) else "missing")
    if math.prod(have) == math.prod(want) and len(have) != len(want):
        return ": as many values, but arranged in other axes"
    if len(have) == len(want):
        axes = [i for i, (a, b) in enumerate(zip(have, want, strict=True)) if a != b]
        return f": axis {axes[0]} has length {have[axes[0]]}, not {want[axes[0]]}" if len(axes) == 1 else ""
    return ""


def _without_one(longer: tuple[int, ...], shorter: tuple[int, ...]) -> list[int]:
    """Return the axes without which the longer shape is the shorter one."""
    return [axis for axis in range(len(longer)) if (*longer[:axis], *longer[axis + 1 :]) == shorter]


def _axis(axis: int, shape: tuple[int, ...]) -> str:
    if shape[axis] == 1:
        return "an axis of length 1"
    return {0: "the first axis", len(shape) - 1: "the last axis"}.get(axis, f"axis {axis}")


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in sizes if size != 1)


Described = tuple[Regularity, str]
"""A regularity of wrong numbers, with the clause that says it."""
_NOT_TOLD = ("", "")


def of_values(got: torch.Tensor, true: torch.Tensor, wrong: torch.Tensor) -> tuple[str, str]:
    """Return the regularity of wrong numbers, with a clause that says it. Both are empty if the numbers are too few."""
    if true.dtype is torch.bool:
        if true.numel() < 2:
            return _NOT_TOLD
        exchanged = bool(wrong.all())
        return (Regularity.TRUTH, ": True and False are exchanged") if exchanged else (Regularity.NONE, "")
    if true.numel() == 1 and not true.is_floating_point() and not true.is_complex():
        return of_whole_number(int(got.item()), int(true.item()))
    if not true.is_floating_point() or true.numel() < 4 or not bool(torch.isfinite(got).all()):
        return _NOT_TOLD
    if not bool(torch.isfinite(true).all()):
        return _NOT_TOLD
    whole = bool((wrong | (true == 0)).all())
    described = _factor(got, true) or _offset(got, true) if whole else None
    if described is None and (clause := _other_order(got, true)):
        described = Regularity.AXES, clause
    described = described or _moved(got, true) or _sums(got, true) or _part(got, true, wrong) or _one_row(wrong)
    return described or (Regularity.NONE, "")


def of_whole_number(got: int, true: int) -> tuple[str, str]:
    """Return the regularity of a wrong whole number, with a clause that says it; both are empty if there is none."""
    if abs(got - true) == 1:
        return Regularity.OFFSET, f": it is 1 too {'large' if got > true else 'small'}"
    factor = whole_factor(got, true) if min(abs(got), abs(true)) >= _TELLING else ""
    return (Regularity.FACTOR, f": it is {factor} what is expected") if factor else _NOT_TOLD


def whole_factor(got: int, true: int) -> str:
    """Return by which factor a whole number is wrong, as "3 times" or "1/3 of"; empty if it is no small multiple."""
    if got * true <= 0 or got == true:
        return ""
    small, large = sorted((abs(got), abs(true)))
    if large % small or large // small > _LARGEST_ORIGIN:
        return ""
    return f"{large // small} times" if abs(got) == large else f"1/{large // small} of"


def _factor(got: torch.Tensor, true: torch.Tensor) -> Described | None:
    if not bool((got != 0).any()):
        return Regularity.ZERO, ": all are zero"
    factor = float((got * true).sum() / (true * true).sum())
    spread = float((got - factor * true).abs().max())
    if not spread <= CLOSE * float(got.abs().max()):
        return None
    if abs(factor + 1) <= CLOSE:
        return Regularity.SIGN, ": each has the opposite sign"
    return Regularity.FACTOR, f": each is {_as_written(factor)} what is expected"


def _as_written(factor: float) -> str:
    """Return a factor as "3 times", "√8 times", "1/5 of" or "1/√8 of" if it is one of these, else in digits."""
    if not 1 / _LARGEST_ORIGIN <= factor <= _LARGEST_ORIGIN:
        return f"{factor:.4g} times"
    for value, before, after in ((factor, "", " times"), (1 / factor, "1/", " of")):
        for size, root in ((value, ""), (value * value, "√")):
            if round(size) > 1 and round(size) <= _LARGEST_ORIGIN and abs(size / round(size) - 1) <= CLOSE:
                return f"{before}{root}{round(size)}{after}"
    return f"{factor:.4g} times"


def _offset(got: torch.Tensor, true: torch.Tensor) -> Described | None:
    difference = got - true
    offset = float(difference.mean())
    if float((difference - offset).abs().max()) <= CLOSE * abs(offset):
        return Regularity.OFFSET, f": each is {abs(offset):.4g} too {'large' if offset > 0 else 'small'}"
    return None


def _other_order(got: torch.Tensor, true: torch.Tensor) -> str:
    """Return a clause if the answer is right except for the order of its axes."""
    axes = range(true.dim())
    if not 2 <= true.dim() <= _MOST_AXES or not true.numel():
        return ""
    for order in sorted(permutations(axes), key=lambda order: sum(a != b for a, b in zip(order, axes, strict=True))):
        other = true.permute(order)
        if order == tuple(axes) or other.shape != got.shape or not _equal(got, other):
            continue
        moved = [axis for axis in axes if order[axis] != axis]
        if moved == [true.dim() - 2, true.dim() - 1]:
            return ": the answer is transposed, its last two axes are exchanged"
        return (
            f": axes {moved[0]} and {moved[1]} are exchanged" if len(moved) == 2 else ": the axes are in another order"
        )
    return ""


def _equal(got: torch.Tensor, true: torch.Tensor) -> bool:
    if got.shape != true.shape or got.is_complex() is not true.is_complex():
        return False
    ours, theirs = (x if x.is_complex() else x.double() for x in (got, true))  # booleans have no difference
    return bool((ours - theirs).abs().max() <= CLOSE * theirs.abs().max())


def _moved(got: torch.Tensor, true: torch.Tensor) -> Described | None:
    """Return a clause if the answer is right except that it is reversed, or shifted by one, along one axis."""
    for axis, one in _lines(true):
        length = true.shape[axis]
        if _equal(got, true.flip(axis)):
            return Regularity.REVERSED, f": the {one}s are in reverse order"
        for here, there, whose in ((0, 1, "next"), (1, 0, "previous")):
            shifted = _equal(got.narrow(axis, here, length - 1), true.narrow(axis, there, length - 1))
            if shifted and _changes(true, axis):
                return Regularity.SHIFTED, f": each {one} is what the {whose} one should be"
    return None


def _lines(true: torch.Tensor) -> Iterator[tuple[int, str]]:
    """Yield the axes along which an answer may be moved, each with the word for one of its places."""
    names = ("value",) if true.dim() == 1 else ("column", "row")
    for axis, name in enumerate(names, 1):
        if true.shape[-axis] > 2:
            yield -axis, name


def _changes(true: torch.Tensor, axis: int) -> bool:
    """Return whether each place along an axis differs from the next. Otherwise a shift explains nothing."""
    steps = true.diff(dim=axis).abs()
    others = [i for i in range(true.dim()) if i != true.dim() + axis]
    steps = steps.amax(dim=others) if others else steps
    return bool((steps > CLOSE * true.abs().max()).all())


def _sums(got: torch.Tensor, true: torch.Tensor) -> Described | None:
    """Return a clause if the numbers sum to 1 along a wrong axis."""
    if true.dim() < 2 or not _sum_to_one(true, -1) or _sum_to_one(got, -1):
        return None
    axes = [axis for axis in range(true.dim() - 1) if true.shape[axis] > 1 and _sum_to_one(got, axis)]
    if not axes:
        return None
    columns = axes == [true.dim() - 2]
    said = ": each column sums to 1, not each row" if columns else f": they sum to 1 along axis {axes[0]}"
    return Regularity.SUMS, said


def _sum_to_one(numbers: torch.Tensor, axis: int) -> bool:
    return bool(((numbers.sum(axis) - 1).abs() <= CLOSE).all())


def _part(got: torch.Tensor, true: torch.Tensor, wrong: torch.Tensor) -> Described | None:
    """Return a clause if all wrong values are zero, or have the opposite sign."""
    if int(wrong.sum()) < 4:
        return None
    off, right = got[wrong], true[wrong]
    if not bool((off != 0).any()):
        return Regularity.WRONG_ONES_ZERO, ": the wrong ones are all zero"
    return (Regularity.WRONG_ONES_SIGN, ": the wrong ones have the opposite sign") if _equal(off, -right) else None


def _one_row(wrong: torch.Tensor) -> Described | None:
    """Return a clause if several numbers are wrong, all in one row or one column."""
    if wrong.dim() < 2 or int(wrong.sum()) < 2:
        return None
    for axis, name in ((-2, "row"), (-1, "column")):
        others = [i for i in range(wrong.dim()) if i != wrong.dim() + axis]
        hit = wrong.any(dim=others).nonzero().flatten().tolist()
        if len(hit) == 1 and wrong.shape[axis] > 2:
            return Regularity.ONE_ROW, f": only in {name} {hit[0]}"
    return None

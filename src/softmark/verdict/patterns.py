"""Finds regularities in a wrong answer: it is transposed, scaled or shifted as a whole.

These clauses are arithmetic about the answer and true whatever the cause is. The names of mistakes come from naming.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

CLOSE = 1e-6
"""The relative deviation up to which a factor or an offset counts as constant."""


def of_shapes(got: Sequence[int], want: Sequence[int], others: Sequence[Sequence[int]] = ()) -> str:
    """Return a clause about a shape that is nearly right, or an empty text."""
    got, want = tuple(got), tuple(want)
    if not got:
        return ": that is a single number"
    if any(got == tuple(other) for other in others):
        return ": that is the shape of another output, are they exchanged?"
    if len(got) == len(want) >= 2 and got == (*want[:-2], want[-1], want[-2]):
        return ": the last two axes are exchanged"
    if len(got) == len(want) and sorted(got) == sorted(want):
        return ": the axes are in another order"
    if got == want[1:]:
        return ": the first axis is missing"
    if got[1:] == want:
        return ": there is one axis too many in front"
    if len(got) < len(want) and want[len(want) - len(got) :] == got:
        return ": the leading axes are missing"
    if _without_ones(got) == _without_ones(want):
        return ": an axis of length 1 is " + ("too many" if len(got) > len(want) else "missing")
    if _product(got) == _product(want) and len(got) != len(want):
        return ": as many values, but arranged in other axes"
    if len(got) == len(want):
        axes = [i for i, (a, b) in enumerate(zip(got, want, strict=True)) if a != b]
        return f": axis {axes[0]} has length {got[axes[0]]}, not {want[axes[0]]}" if len(axes) == 1 else ""
    return ""


def _without_ones(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in sizes if size != 1)


def _product(sizes: tuple[int, ...]) -> int:
    return int(torch.Size(sizes).numel())


def of_values(got: torch.Tensor, true: torch.Tensor, wrong: torch.Tensor) -> str:
    """Return a clause about numbers that are wrong in a regular way, or an empty text."""
    if true.dtype is torch.bool:
        return ": True and False are exchanged" if bool(wrong.all()) and true.numel() > 1 else ""
    if not true.is_floating_point() or true.numel() < 4 or not bool(torch.isfinite(got).all()):
        return ""
    if not bool(torch.isfinite(true).all()):
        return ""
    whole = bool((wrong | (true == 0)).all())
    described = _factor(got, true) or _offset(got, true) if whole else ""
    return described or _transposed(got, true) or _one_row(wrong)


def _factor(got: torch.Tensor, true: torch.Tensor) -> str:
    if not bool((got != 0).any()):
        return ": all are zero"
    factor = float((got * true).sum() / (true * true).sum())
    spread = float((got - factor * true).abs().max())
    if not spread <= CLOSE * float(got.abs().max()):
        return ""
    if abs(factor + 1) <= CLOSE:
        return ": each has the opposite sign"
    return f": each is {factor:.4g} times what is expected"


def _offset(got: torch.Tensor, true: torch.Tensor) -> str:
    difference = got - true
    offset = float(difference.mean())
    if float((difference - offset).abs().max()) <= CLOSE * abs(offset):
        return f": each is {abs(offset):.4g} too {'large' if offset > 0 else 'small'}"
    return ""


def _transposed(got: torch.Tensor, true: torch.Tensor) -> str:
    if true.dim() < 2 or true.shape[-1] != true.shape[-2] or true.shape[-1] == 1:
        return ""
    close = (got.transpose(-1, -2) - true).abs().max() <= CLOSE * true.abs().max()
    return ": the answer is transposed, its last two axes are exchanged" if bool(close) else ""


def _one_row(wrong: torch.Tensor) -> str:
    """Return a clause if several numbers are wrong, all in one row or one column."""
    if wrong.dim() < 2 or int(wrong.sum()) < 2:
        return ""
    for axis, name in ((-2, "row"), (-1, "column")):
        others = [i for i in range(wrong.dim()) if i != wrong.dim() + axis]
        hit = wrong.any(dim=others).nonzero().flatten().tolist()
        if len(hit) == 1 and wrong.shape[axis] > 2:
            return f": only in {name} {hit[0]}"
    return ""

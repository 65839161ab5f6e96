"""Compares answers and gradients where formulas lose digits: for large numbers, and for rows of equal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from softmark.verdict.agree import agree
from softmark.verdict.callee import StudentCallable
from softmark.verdict.draw import to_float32
from softmark.verdict.expected import has_weights
from softmark.verdict.gradients import gradients_agree
from softmark.verdict.values import map_tensors

_LARGE, _HUGE = 100.0, 1000.0


def agree_at_extremes(
    got: StudentCallable, want: Callable[..., Any], *args: Any, large: Sequence[int] = (), **kwargs: Any
) -> None:
    """Raise `Failed` unless answers and gradients are right for extreme numbers, made of these ordinary ones.

    The arguments at the positions in `large`, or all if none is named, are multiplied by 1000. Then the first row of
    the first real tensor gets equal numbers. A function is also asked in float32, with numbers multiplied by 100 (not a
    module or a method of one, whose weights have one dtype). So give numbers around 1, and name in `large` what the
    handout lets be large.
    """
    for extreme in (_times(_HUGE, args, large), _with_level_row(args)):
        agree(got, want, *extreme, **kwargs)
        gradients_agree(got, want, *extreme, **kwargs)
    if not has_weights(want):
        narrow_args, narrow_kwargs = to_float32((_times(_LARGE, args, large), kwargs))
        agree(got, want, *narrow_args, **narrow_kwargs)


def _times(factor: float, args: Sequence[Any], large: Sequence[int]) -> tuple[Any, ...]:
    def scaled(tensor: torch.Tensor) -> torch.Tensor:
        return factor * tensor if tensor.is_floating_point() else tensor

    chosen = large or range(len(args))
    return tuple(map_tensors(arg, scaled) if position in chosen else arg for position, arg in enumerate(args))


def _with_level_row(args: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments with equal numbers in the first row of the first real tensor."""
    found = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor) and arg.is_floating_point() and arg.dim()]
    if not found:
        return tuple(args)
    level = args[found[0]].clone()
    rows = level.view(-1, level.shape[-1])
    rows[0] = rows[0, 0].clone()
    return (*args[: found[0]], level, *args[found[0] + 1 :])

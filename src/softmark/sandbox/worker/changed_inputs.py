"""Finds out which inputs a call has changed in place. Runs in the worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

Inputs = tuple[Sequence[Any], Mapping[str, Any]]
"""Positional and named arguments."""


def copied(value: Any) -> Any:
    """Return a copy of arguments before the call, which may change tensors, arrays and containers in them.

    An object of a class of the student's is not copied: how it changes is its own affair.
    """
    if type(value) is torch.Tensor:
        return value.detach().clone()
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)([copied(item) for item in value])
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value


def changed(before: Inputs, after: Inputs) -> list[str]:
    """Return the names of the inputs that are not what they were: "argument 1", or the name of a named one."""
    names = [f"argument {position + 1}" for position in range(len(before[0]))] + list(before[1])
    old = [*before[0], *before[1].values()]
    new = [*after[0], *after[1].values()]
    return [name for name, a, b in zip(names, old, new, strict=True) if not _same(a, b)]


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) is torch.Tensor:
        if (a.shape, a.dtype, a.device) != (b.shape, b.dtype, b.device):
            return False
        return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())  # the same, NaN for NaN
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if type(a) is dict:
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if type(a) is np.ndarray:
        return (a.shape, a.dtype) == (b.shape, b.dtype) and a.tobytes() == b.tobytes()
    return bool(a == b)

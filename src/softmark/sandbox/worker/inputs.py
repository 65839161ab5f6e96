"""What a call changed of the values it was given. Runs in the worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def copied(value: Any) -> Any:
    """Values as they arrive, whose tensors and arrays the call may change."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)([copied(item) for item in value])
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return value


def changed(before: tuple[Any, Any], after: tuple[Any, Any]) -> dict[str, Any]:
    """The inputs that are not what they were, and what a tensor of the same kind is now; an object's handle stays."""
    names = [f"argument {position + 1}" for position in range(len(before[0]))] + list(before[1])
    old = [*before[0], *before[1].values()]
    new = [*after[0], *after[1].values()]
    pairs = zip(names, old, new, strict=True)
    return {name: b.detach() if _alike(a, b) else None for name, a, b in pairs if not _same(a, b)}


def _alike(a: Any, b: Any) -> bool:
    return type(a) is type(b) is torch.Tensor and a.shape == b.shape and a.dtype == b.dtype


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        return torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all())  # the same, NaN for NaN
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if hasattr(a, "tobytes"):
        return bool(a.tobytes() == b.tobytes())
    return a is b or bool(a == b)

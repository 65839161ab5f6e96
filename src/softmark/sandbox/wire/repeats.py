"""Sends a tensor that a test passes twice in one call once, so that it arrives as one tensor.

The second occurrence is replaced by None, and the request says by number which leaf it repeats. Only requests have
repeats; a worker's reply has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def sent_once(args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a call that hold its arguments: each tensor once, and the leaves that repeat one.

    Leaves of nested arguments are counted in order.
    """
    numbers: dict[int, int] = {}
    repeats: dict[int, int] = {}
    count = 0

    def once(leaf: Any) -> Any:
        nonlocal count
        number, count = count, count + 1
        first = numbers.setdefault(id(leaf), number) if isinstance(leaf, torch.Tensor) else number
        if first == number:
            return leaf
        repeats[number] = first
        return None

    sent = _map_leaves([args, kwargs], once)
    return {"args": sent[0], "kwargs": sent[1], "repeats": repeats}


def as_given(value: dict[str, Any]) -> dict[str, Any]:
    """Return a request that has arrived, with each repeated tensor in all of its places again."""
    value = dict(value)
    repeats = value.pop("repeats", None)
    if not repeats:
        return value
    leaves: list[Any] = []

    def again(leaf: Any) -> Any:
        first = repeats.get(len(leaves))
        leaves.append(leaf if first is None else leaves[first])
        return leaves[-1]

    args, kwargs = _map_leaves([value["args"], value["kwargs"]], again)
    return value | {"args": args, "kwargs": kwargs}


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_map_leaves(item, change) for item in value)
    if type(value) is dict:
        return {key: _map_leaves(item, change) for key, item in value.items()}
    return change(value)


def parts_of(value: Any) -> list[Any]:
    """Return the leaves of a nested value, in order."""
    if isinstance(value, list | tuple):
        return [part for item in value for part in parts_of(item)]
    if isinstance(value, dict):
        return [part for item in value.values() for part in parts_of(item)]
    return [value]

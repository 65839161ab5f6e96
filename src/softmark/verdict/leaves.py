"""Turns nested answers into a flat list of leaves. The values are plain, so no code of the student's runs here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from softmark.verdict.describe import Path

OF_A_LEAF = 1000
NUMBERS = (bool, int, float, complex)
_REAL = ("float16", "float32", "float64", "complex64", "complex128")


def flatten(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every leaf of nested tuples, lists and dictionaries, with its place in words, in a fixed order."""
    if isinstance(value, tuple | list):
        for i, item in enumerate(value):
            yield from flatten(item, (*path, f"output {i + 1} of {len(value)}"))
    elif isinstance(value, dict):
        for key in value:
            yield from flatten(value[key], (*path, f"entry {key!r}"))
    else:
        yield path, value


def is_numeric(leaf: Any) -> bool:
    """Return whether a leaf holds numbers that torch has. Arrays of texts, objects, dates or longer floats do not.

    Neither do an int of more than 64 bits and a tensor on the meta device.
    """
    if type(leaf) is int:
        return -(2**63) <= leaf < 2**63
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind in "biu" or leaf.dtype.name in _REAL
    return (isinstance(leaf, torch.Tensor) and not leaf.is_meta) or type(leaf) in NUMBERS


def tensor_of(leaf: Any) -> torch.Tensor:
    """Return a numeric leaf as a plain detached CPU tensor; Python floats keep their 64 bits."""
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().cpu()
    if isinstance(leaf, np.ndarray | np.generic):
        return torch.from_numpy(_signed(np.array(leaf)))
    if type(leaf) is float:
        return torch.tensor(leaf, dtype=torch.float64)
    if type(leaf) is complex:
        return torch.tensor(leaf, dtype=torch.complex128)
    return torch.tensor(leaf)


def _signed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return unsigned numbers of 16 bits and more as int64: torch has these types but does not compute with them."""
    if array.dtype.kind != "u" or array.itemsize == 1:
        return array
    if array.itemsize == 8:
        array = np.asarray(np.minimum(array, np.uint64(2**63 - 1)))  # not one of them may turn into a negative number
    return array.astype(np.int64)


def size_of(value: Any) -> int:
    """Return the bytes of an answer: those of its numbers, and a thousand for each leaf."""
    return sum(OF_A_LEAF + (tensor_of(leaf).nbytes if is_numeric(leaf) else 0) for _, leaf in flatten(value))


def map_tensors(value: Any, change: Any) -> Any:
    """Return the same nesting with `change` applied to every tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, change) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(map_tensors(item, change) for item in value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    return value


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    for _, leaf in flatten(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf

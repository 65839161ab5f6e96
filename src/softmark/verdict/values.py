"""Handles nested values: flattens them into leaves, and describes kinds, shapes, places and numbers in words.

The values are plain, so no student's code runs here. All checks use the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

Path = tuple[str, ...]
"""The place of a value in a nested answer: ("output 2 of 3", "entry 'h'")."""

_MOST_AXES = 8

SHOWN_WHOLE = 12
"""Answers of at most this many numbers are shown whole; of longer ones the worst number is shown."""


def kind(value: Any) -> str:
    """Return the kind of a value, with its article: "a tensor", "None", "a list of 3 values".

    An object that stays in the student's process has a `cls`, the name of its class. That name is not repeated, because
    a student's code chooses it while it runs.
    """
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return "a tensor on the device meta" if value.is_meta else "a tensor"
    if isinstance(value, np.ndarray | np.generic):
        return "a numpy array" if value.dtype.kind in "biufc" else f"a numpy array of {value.dtype.name:.40} values"
    if isinstance(value, tuple | list | dict):
        name = {tuple: "a tuple", list: "a list", dict: "a dictionary"}.get(type(value), "a tuple")
        return f"{name} of {plural(len(value), 'value')}" if value else f"an empty {name[2:]}"
    if type(value) is int and not -(2**63) <= value < 2**63:
        return "an int of more than 64 bits"
    names = {bool: "a bool", int: "an int", float: "a float", complex: "a complex number", str: "a text"}
    if type(value) in names:
        return names[type(value)]
    return "an object of a class of its own" if hasattr(value, "cls") else f"an object of class {type(value).__name__}"


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: "1 entry", "2 entries", "3 values"."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else several}"


def shape(sizes: Sequence[int]) -> str:
    """Return a shape as Python writes it, or only the number of axes if these are more than any homework has."""
    return str(tuple(sizes)) if len(sizes) <= _MOST_AXES else f"with {len(sizes)} axes"


def place(path: Path) -> str:
    """Return a prefix for a sentence about one of several outputs; empty if there is only one."""
    return ", ".join(path) + ": " if path else ""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def number(value: Any) -> str:
    """Return a number with six digits, enough to see a difference."""
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, complex):
        return f"{value:.6g}"
    return f"{float(value) + 0.0:.6g}"  # the sum turns -0.0 into 0.0


def index(position: Sequence[int]) -> str:
    return "[" + ", ".join(str(i) for i in position) + "]"


def whole(values: torch.Tensor) -> str:
    """Return a small tensor on one line, rows in brackets."""
    if values.dim() == 0:
        return number(values.item())
    return "[" + ", ".join(whole(row) for row in values) + "]"


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


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield the leaves of `flatten` without their places, which take most of its time."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves_in(item)
    else:
        yield value


def is_numeric(leaf: Any) -> bool:
    """Return whether a leaf holds numbers of a type that torch has.

    Arrays of texts, objects, dates or longer floats, ints of more than 64 bits, and tensors on the meta device do not.
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
        array = np.asarray(np.minimum(array, np.uint64(2**63 - 1)))  # larger numbers would become negative
    return array.astype(np.int64)


def size_of(value: Any) -> int:
    """Return the bytes of an answer: those of its numbers, and 1000 for each leaf."""
    return sum(OF_A_LEAF + (tensor_of(leaf).nbytes if is_numeric(leaf) else 0) for leaf in leaves_in(value))


def map_tensors(value: Any, change: Any, changed: dict[int, Any] | None = None) -> Any:
    """Return the same nesting with `change` applied to every tensor. One tensor in two places stays one tensor.

    `changed` holds the results for the tensors so far, by their ids.
    """
    changed = {} if changed is None else changed
    if isinstance(value, torch.Tensor):
        if id(value) not in changed:
            changed[id(value)] = change(value)
        return changed[id(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, change, changed) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(map_tensors(item, change, changed) for item in value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change, changed) for key, item in value.items()}
    return value


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    for leaf in leaves_in(value):
        if isinstance(leaf, torch.Tensor):
            yield leaf

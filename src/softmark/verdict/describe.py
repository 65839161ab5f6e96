"""Words for values, shapes and places, so that every check speaks the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

Path = tuple[str, ...]
"""The place of a value in a nested answer: ("output 2 of 3", "entry 'h'")."""

_MOST_AXES = 8

SHOWN_WHOLE = 12
"""Answers of at most this many numbers are shown whole, longer ones by their worst number."""


def kind(value: Any) -> str:
    """Return the kind of a value, with its article: "a tensor", "None", "a list of 3 values".

    An object that stayed with the student has a `cls`, what its class is called. That name is not repeated: a student's
    code chooses it while it runs.
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
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shape(sizes: Sequence[int]) -> str:
    """Return a shape as Python writes it, or only the number of axes if these are more than any homework has."""
    return str(tuple(sizes)) if len(sizes) <= _MOST_AXES else f"with {len(sizes)} axes"


def place(path: Path) -> str:
    """Return a prefix for a sentence about one of several outputs; empty if there is only one."""
    return ", ".join(path) + ": " if path else ""


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def number(value: Any) -> str:
    """Return a number with enough digits to see a difference and no more."""
    if isinstance(value, bool | int):
        return str(value)
    if isinstance(value, complex):
        return f"{value:.6g}"
    return f"{float(value):.6g}"


def index(position: Sequence[int]) -> str:
    return "[" + ", ".join(str(i) for i in position) + "]"


def whole(values: torch.Tensor) -> str:
    """Return a small tensor on one line, rows in brackets."""
    if values.dim() == 0:
        return number(values.item())
    return "[" + ", ".join(whole(row) for row in values) + "]"

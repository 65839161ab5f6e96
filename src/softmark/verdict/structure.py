"""The nesting and the types of an answer, before any number is looked at.

What may stand for what, because nothing is lost: a list for a tuple and the reverse; a numpy array for a tensor and the
reverse; an array without axes for a plain number and the reverse; a whole number for a real one. Nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from softmark.verdict.describe import Path, dtype_name, kind, place
from softmark.verdict.leaves import NUMBERS, is_numeric, tensor_of

PRECISE = (torch.float64, torch.float32)


def mistyped(got: Any, want: Any, path: Path = ()) -> str:
    """Return a sentence about the first place where nesting or type is wrong; empty if there is none."""
    if isinstance(want, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(want):
            return _expected(got, want, path)
        paths = [(*path, f"output {i + 1} of {len(want)}") for i in range(len(want))]
        return next(filter(None, map(mistyped, got, want, paths)), "")
    if isinstance(want, dict):
        return _dictionary(got, want, path)
    if is_numeric(want):
        right = (is_numeric(got) or isinstance(got, torch.Tensor)) and (
            type(got) not in NUMBERS or not getattr(want, "shape", ())
        )
    elif want is None or isinstance(want, str | bytes):
        right = type(got) is type(want)
    else:
        raise TypeError(f"the expected value holds {kind(want)}, which no answer can be compared with")
    return "" if right else _expected(got, want, path)


def _dictionary(got: Any, want: dict[Any, Any], path: Path) -> str:
    if not isinstance(got, dict):
        return _expected(got, want, path)
    missing = want.keys() - got.keys()
    if missing:
        return f"{place(path)}the entry {min(missing, key=repr)!r:.80} is missing"
    if len(got) > len(want):  # what the others are called is not said: a student's code chooses it while it runs
        only = f"only the entries {', '.join(map(repr, want))}" if want else "none"
        return f"{place(path)}{'' if path else 'returned '}{kind(got)}, expected {only}"
    sentences = (mistyped(got[key], want[key], (*path, f"entry {key!r}")) for key in want)
    return next(filter(None, sentences), "")


def _expected(got: Any, want: Any, path: Path) -> str:
    return f"{place(path)}{'' if path else 'returned '}{kind(got)}, expected {kind(want)}"


def refused_numbers(got: Any, want: Any, coarsest_input: torch.dtype) -> str:
    """Return why the kind of number is not acceptable; empty if it is.

    float32 stands for float64: how precise a result must be is what `keeps_dtype` asks. Half precision stands for
    nothing but itself, when the inputs came in it; and no integer or boolean tensor stands for real numbers.
    """
    answer, true = tensor_of(got), tensor_of(want)
    own_name = got.dtype.name if isinstance(got, np.ndarray | np.generic) else dtype_name(answer.dtype)
    said = f"returned {kind(got)}" if type(got) in NUMBERS else f"dtype {own_name}"
    if true.is_complex():
        return "" if answer.dtype in (torch.complex64, torch.complex128) else f"{said}, expected complex numbers"
    if true.is_floating_point():
        if type(got) is int or answer.dtype in PRECISE or answer.dtype is coarsest_input:
            return ""
        if answer.is_floating_point():
            return f"{said} is too coarse, the inputs are {dtype_name(coarsest_input)}"
        return f"{said}, expected floating-point numbers"
    if true.dtype is torch.bool:
        return "" if answer.dtype is torch.bool else f"{said}, expected booleans (True and False)"
    whole = not answer.is_floating_point() and not answer.is_complex() and answer.dtype is not torch.bool
    return "" if whole else f"{said}, expected integers"

"""Writes down the call behind a failure of a public test, so short that a student can read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from softmark.records.verdict import FailedCall
from softmark.verdict.callee import Lent
from softmark.verdict.context import MadeCall

_MOST_NUMBERS = 12
_LONGEST = 60
_DIGITS = 4


def written(call: MadeCall) -> FailedCall:
    """Return the call with its arguments in short. An argument without a name has its place for one."""
    named = [(name, value) for name, value in zip(_names(call), call.args, strict=True)]
    named += call.kwargs.items()
    return FailedCall(
        function=call.name,
        takes=tuple(name for name, _ in named),
        given=tuple(in_short(value) for _, value in named),
        id=call.id,
    )


def _names(call: MadeCall) -> list[str]:
    places = [f"argument {place + 1}" for place in range(len(call.args))]
    return [*call.takes[: len(places)], *places[len(call.takes) :]]


def in_short(value: Any) -> str:
    """Return a value on a short line: numbers where there are few, else what kind of value it is."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, Lent):
        return "a function"
    if isinstance(value, (tuple, list, Mapping)):
        return _entries(value)
    if isinstance(value, str | bytes | int | float | None):
        said = repr(value)
        return said if len(said) <= _LONGEST else f"{said[:_LONGEST]} … ({len(said)} characters)"
    return f"an object of class {getattr(value, 'name', type(value).__name__)}"


def _tensor(tensor: torch.Tensor) -> str:
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = tuple(tensor.shape)
    if tensor.numel() <= _MOST_NUMBERS and tensor.device.type != "meta":
        return f"{_numbers(tensor.detach().tolist())} {dtype}"
    return f"{dtype} of shape {shape}"


def _numbers(nested: Any) -> str:
    if isinstance(nested, list):
        return f"[{', '.join(map(_numbers, nested))}]"
    return f"{nested:.{_DIGITS}g}" if type(nested) is float else repr(nested)


def _entries(value: Any) -> str:
    """Return a list, tuple or dictionary with its entries if it is short, else their number."""
    if isinstance(value, Mapping):
        said = f"{{{', '.join(f'{in_short(key)}: {in_short(entry)}' for key, entry in value.items())}}}"
    else:
        left, right = "()" if isinstance(value, tuple) else "[]"
        said = f"{left}{', '.join(map(in_short, value))}{right}"
    name = "dictionary" if isinstance(value, Mapping) else "tuple" if isinstance(value, tuple) else "list"
    return said if len(said) <= _LONGEST else f"a {name} of {len(value)} entries"

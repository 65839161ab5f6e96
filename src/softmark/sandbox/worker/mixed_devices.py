"""Says on which device an operator of torch works, given tensors of the CPU and of a pretended device (pretended.py).

The rules are those of a graphics card: all tensors must be on the same device, except a tensor that torch reads as a
number, an index or a length, or that it copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

HERE, THERE = torch.device("cpu"), torch.device("meta")

_TAKE_ANY = {"copy", "_copy_from", "_copy_from_and_resize", "_foreach_copy", "fill"}
_TAKE_ANY_NUMBER = {"masked_fill", "index_fill"}
"""Operators whose last argument may be a single number of any device."""
_TAKE_NUMBERS = {"floor_divide", "rsub", "mse_loss", "huber_loss", "smooth_l1_loss", "isclose", "where"} | {
    *("__and__", "__or__", "__xor__", "__lshift__", "__rshift__")
}
"""Operators that take a single number of the CPU, besides those that torch calls pointwise."""
_INDEXED = {"index", "index_put", "_index_put_impl", "_unsafe_index", "_unsafe_index_put"}
_LENGTHS_ON_CPU = {"_pack_padded_sequence", "_pad_packed_sequence", "lstm", "gru", "rnn_tanh", "rnn_relu"}


def device_of_result(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
) -> torch.device:
    """Return the device that an operator works on. If CUDA refuses these tensors together, raise torch's exception."""
    name = func.overloadpacket.__name__.removesuffix("_")
    if name == "_pack_padded_sequence" and args[1].device == THERE:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got a tensor on meta")
    if all(tensor.device == THERE for tensor in given):
        return THERE
    if name in _TAKE_ANY:
        return args[0].device  # type: ignore[no-any-return]
    if name in _INDEXED and args[0].device != THERE and any(one.device == THERE for one in tensors_in(args[1:2])):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    exempt = {id(tensor) for tensor in _exempt(name, func, args, kwargs)}
    devices = {tensor.device for tensor in given if id(tensor) not in exempt}
    if len(devices) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, meta and cpu!"
        )
    return devices.pop()


class Generator(torch.Generator):
    """A generator of random numbers for either device. It draws all numbers on the CPU."""

    away = False

    def __new__(cls, device: Any = HERE) -> Generator:
        away = torch.device(device) == THERE
        made = super().__new__(cls, device=HERE if away else device)  # type: ignore[call-arg]
        made.away = away
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return THERE if self.away else super().device


def require_generator(generator: torch.Generator | None, place: torch.device) -> None:
    """Raise torch's exception if a generator belongs to another device than this one."""
    if generator is not None and generator.device != place:
        raise RuntimeError(f"Expected a '{place}' device type for generator but found '{generator.device}'")


def _exempt(name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the arguments of an operator that may be on another device than the rest."""
    if name in _LENGTHS_ON_CPU:
        return tensors_in(args[1:2])
    if name in _TAKE_ANY_NUMBER:
        return tensors_in(args[-1:])
    if name in _INDEXED:
        return tensors_in(args[1:2]) + [value for value in tensors_in(args[2:3]) if not value.dim()]
    if torch.Tag.pointwise not in func.tags and name not in _TAKE_NUMBERS:
        return []
    written = {id(tensor) for tensor in _written(func, args, kwargs)}
    given = tensors_in((*args, *kwargs.values()))
    return [one for one in given if one.device != THERE and not one.dim() and id(one) not in written]


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    changed = [
        args[position] if position < len(args) else kwargs.get(argument.name)
        for position, argument in enumerate(func._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return tensors_in(changed)


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """Return the tensors among the arguments of an operator."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif type(value) in (list, tuple):
            found += tensors_in(value)
    return found


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """Return an argument or a result of an operator with its tensors changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(mapped(item, change) for item in value) if type(value) in (list, tuple) else value

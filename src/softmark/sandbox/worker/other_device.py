"""A second device for machines that have none: finds tensors that code creates on, or moves to, a fixed device.

PyTorch's own "meta" device serves that purpose, at the price of importing its compiler (a second) and of failing on
honest code whose shapes depend on values. So this is a pretence: tensors keep their numbers on the CPU and carry a
mark. While the mode is on, a marked tensor says that its device is "meta"; what is made from it, or with `device=` its
device, is marked too; and an operation that mixes marked and unmarked tensors raises what CUDA would raise, except
where CUDA allows it: single numbers, indices, and copies.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

DEVICE = torch.device("meta")
_MARK = "_softmark_elsewhere"
_MOVES = {torch.Tensor.to, torch.Tensor.type_as}
_MAY_MIX = {torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.Tensor.copy_, *_MOVES}
_MOVES_AWAY = {torch.Tensor.cpu, torch.Tensor.tolist, torch.Tensor.item}
_DEVICE_OF = torch.Tensor.device.__get__


def place(tensor: torch.Tensor) -> torch.Tensor:
    """From now on, this tensor is on the other device."""
    setattr(tensor, _MARK, True)
    return tensor


def is_elsewhere(tensor: torch.Tensor) -> bool:
    return hasattr(tensor, _MARK)


class OtherDevice(TorchFunctionMode):
    """While it is on, marked tensors behave as on a device of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._mapped: dict[int, torch.UntypedStorage] = {}
        """What torch.vmap and its kin computed on the other device, by its address: they hand it out unmarked."""

    def has(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor is on the other device."""
        plain = _unwrapped(tensor)
        return is_elsewhere(plain) or (bool(self._mapped) and plain.untyped_storage().data_ptr() in self._mapped)

    def _place(self, tensor: torch.Tensor) -> None:
        plain = _unwrapped(tensor)
        if plain is not tensor:
            storage = plain.untyped_storage()
            if storage.data_ptr():  # what is empty has no address
                self._mapped[storage.data_ptr()] = storage
        place(plain)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        tensors = _tensors((args, kwargs))
        here = [tensor for tensor in tensors if not self.has(tensor)]
        there = len(here) < len(tensors)
        if func == _DEVICE_OF:
            return DEVICE if there else func(*args, **kwargs)
        target, args, kwargs = self._wanted_device(func, args, kwargs)
        if func not in _MAY_MIX and there and any(tensor.dim() > 0 for tensor in here):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, meta and cpu!"
            )
        if func is torch.Tensor.numpy and there:
            raise TypeError("can't convert a tensor of another device to numpy; use Tensor.cpu() first")
        elsewhere = target == DEVICE if target is not None else there and func not in _MOVES_AWAY
        value = func(*args, **kwargs)
        if isinstance(value, torch.Tensor) and self.has(value) != elsewhere and any(value is arg for arg in args):
            value = value.view_as(value)  # "moved" without a copy: another tensor of the same numbers
        if elsewhere:
            for tensor in _tensors(value):
                self._place(tensor)
        return value

    def _wanted_device(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[torch.device | None, tuple[Any, ...], dict[str, Any]]:
        """The device that the call names, if any, and the call with its numbers kept on the CPU."""
        target: torch.device | None = None
        if kwargs.get("device") is not None:
            target = torch.device(kwargs["device"])
            if target == DEVICE:
                kwargs["device"] = torch.device("cpu")
        if func in _MOVES:
            named = [arg for arg in args[1:] if isinstance(arg, torch.device | str)]
            like = [arg for arg in args[1:] if isinstance(arg, torch.Tensor)]
            if named:
                target = torch.device(named[0])
            elif like:
                target = DEVICE if self.has(like[0]) else torch.device("cpu")
            args = tuple(torch.device("cpu") if isinstance(arg, torch.device | str) else arg for arg in args)
        return target, args, kwargs


def _unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """What is inside a tensor of torch.vmap and its kin, which wrap it anew for every step and lose its mark."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in _tensors(item)]
    return []

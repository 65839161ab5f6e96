"""The device on which a submission's tensors are. Runs in the worker.

Values cross the wire as numbers in main memory. What a test passes in is put on the device, modules are moved to it as
soon as they are made, and what comes back must be there: a tensor that is not was created on a device of the code's own
choice, which is told as such. Three devices:

cpu         nothing is moved, and nothing can be in the wrong place
cuda:0      a graphics card, of whose memory a worker gets its share; TF32 is off and algorithms are deterministic, so
            that tolerances mean the same as on a CPU and two runs agree
pretended   a second device for machines that have none: the same code, no hardware

PyTorch's own "meta" device would find tensors that code creates on, or moves to, a fixed device. But it imports torch's
compiler (a second) and fails on honest code whose shapes depend on values. So this is a pretence: tensors keep their
numbers on the CPU and carry a mark. While the mode is on, a marked tensor says that its device is "meta"; what is made
from it, or with `device=` its device, is marked too. An operation that mixes marked and unmarked tensors raises what
CUDA would raise, except where CUDA allows it: single numbers, indices, and copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from softmark.sandbox.wire import CAPS
from softmark.sandbox.wire.protocol import UsedDevice

CPU, PRETENDED = "cpu", "pretended"


class WrongDevice(Exception):
    """An answer is on another device than what it was computed from: "cpu, expected cuda:0"."""


class Device:
    """The CPU, where everything is in its place."""

    name = CPU

    def seed(self, seed: int) -> None:
        """Put back the state that is the device's own."""

    def send(self, value: Any) -> Any:
        """Return the value with its tensors on this device."""
        return value

    def settle(self, module: nn.Module) -> None:
        """Move a module of the student's here."""

    def holds(self, tensor: torch.Tensor) -> bool:
        return True

    def fetch(self, value: Any) -> Any:
        """Return the value with its tensors in main memory."""
        return value

    @contextmanager
    def running(self) -> Iterator[None]:
        """Prepare the device while the student's code runs in this block."""
        yield

    def require(self, value: Any) -> None:
        """Raise WrongDevice if a tensor of an answer is not here."""
        for tensor in tensors_in(value):
            if not self.holds(tensor):
                raise WrongDevice(f"{tensor.device}, expected {self.name}")


class Cuda(Device):
    """The first graphics card that this process can see."""

    def __init__(self, name: str, share: float) -> None:
        self.name = name
        self._device = torch.device(name)
        torch.cuda.set_per_process_memory_fraction(share, self._device)
        self.seed(0)

    def seed(self, seed: int) -> None:
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = False
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.cuda.manual_seed(seed)

    def send(self, value: Any) -> Any:
        return map_tensors(value, lambda tensor: tensor.to(self._device))

    def settle(self, module: nn.Module) -> None:
        module.to(self._device)

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.device == self._device

    def fetch(self, value: Any) -> Any:
        return map_tensors(value, lambda tensor: tensor.cpu())


class Pretended(Device):
    """A device that is none: its tensors carry a mark."""

    name = "meta"

    def __init__(self) -> None:
        self._mode = OtherDevice()

    def send(self, value: Any) -> Any:
        return map_tensors(value, place)

    def settle(self, module: nn.Module) -> None:
        for tensor in (*module.parameters(), *module.buffers()):
            place(tensor)

    def holds(self, tensor: torch.Tensor) -> bool:
        return self._mode.has(tensor)

    @contextmanager
    def running(self) -> Iterator[None]:
        self._mode = OtherDevice()  # a new one for each call: it remembers the call's tensors
        with self._mode:
            yield


def device_of(asked: UsedDevice | None) -> Device:
    """Return the device that the trusted side asks for; None stands for the CPU."""
    if asked is None or asked.name == CPU:
        return Device()
    return Pretended() if asked.name == PRETENDED else Cuda(asked.name, asked.share)


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    map_tensors(value, found.append)
    return found


def map_tensors(value: Any, change: Callable[[torch.Tensor], Any], depth: int = CAPS.depth) -> Any:
    """Return the value with its tensors changed. What is nested deeper than the wire takes is left as it is."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if depth and type(value) in (list, tuple):
        return type(value)(map_tensors(item, change, depth - 1) for item in value)
    if depth and type(value) is dict:
        return {key: map_tensors(item, change, depth - 1) for key, item in value.items()}
    return value


DEVICE = torch.device("meta")
_MARK = "_softmark_elsewhere"
_MOVES = {torch.Tensor.to, torch.Tensor.type_as}
_MAY_MIX = {torch.Tensor.__getitem__, torch.Tensor.__setitem__, torch.Tensor.copy_, *_MOVES}
_MOVES_AWAY = {torch.Tensor.cpu, torch.Tensor.tolist, torch.Tensor.item}
_DEVICE_OF = torch.Tensor.device.__get__


def place(tensor: torch.Tensor) -> torch.Tensor:
    """Mark a tensor as one on the other device."""
    setattr(tensor, _MARK, True)
    return tensor


def is_elsewhere(tensor: torch.Tensor) -> bool:
    return hasattr(tensor, _MARK)


class OtherDevice(TorchFunctionMode):
    """While it is on, marked tensors behave as on a device of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._mapped: dict[int, torch.UntypedStorage] = {}
        """Tensors that torch.vmap and its kin computed on the other device, by address: they hand them out unmarked."""

    def has(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor is on the other device."""
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
        """Return the device that the call names, if any, and the call with its numbers kept on the CPU."""
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
    """Return the tensor inside one of torch.vmap and its kin, which wrap it anew for every step and lose its mark."""
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

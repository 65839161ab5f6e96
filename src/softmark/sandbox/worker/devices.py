"""The device on which a submission's tensors are. Runs in the worker.

Values cross the wire as numbers in main memory. The arguments of a call are put on the device, and modules are moved
there as soon as they are made. An answer must be there, too: if it is not, the code has created a tensor on a fixed
device, and the student is told so. There are three devices:

cpu         nothing is moved, and nothing can be in the wrong place
cuda:0      a graphics card, of whose memory a worker gets its share; TF32 is off and algorithms are deterministic, so
            that tolerances mean the same as on a CPU and two runs agree
pretended   a second device for machines that have none: the same code, no hardware (pretended.py)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from softmark.sandbox.wire import CAPS
from softmark.sandbox.wire.protocol import UsedDevice
from softmark.sandbox.worker import pretended
from softmark.sandbox.worker.mixed_devices import THERE

CPU, PRETENDED = "cpu", "pretended"


class WrongDevice(Exception):
    """Raised if an answer is on another device than its inputs: "cpu, expected cuda:0"."""


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
    def running(self, modules: Sequence[nn.Module] = ()) -> Iterator[None]:
        """Have the device ready inside this block, and move these modules there for as long."""
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
        return map_tensors(value, once_each(lambda tensor: tensor.to(self._device)))

    def settle(self, module: nn.Module) -> None:
        module.to(self._device)

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.device == self._device

    def fetch(self, value: Any) -> Any:
        return map_tensors(value, lambda tensor: tensor.cpu())


class Pretended(Device):
    """A device that no hardware stands behind. Outside of `running` its tensors can only be moved."""

    name = str(THERE)

    def send(self, value: Any) -> Any:
        return map_tensors(value, once_each(pretended.put))

    def settle(self, module: nn.Module) -> None:
        module.to(THERE)

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.device == THERE

    def fetch(self, value: Any) -> Any:
        return map_tensors(value, lambda tensor: pretended.fetch(tensor).requires_grad_(tensor.requires_grad))

    @contextmanager
    def running(self, modules: Sequence[nn.Module] = ()) -> Iterator[None]:
        with pretended.on(modules):
            yield


def device_of(asked: UsedDevice | None) -> Device:
    """Return the device that the trusted side asks for; None stands for the CPU."""
    if asked is None or asked.name == CPU:
        return Device()
    return Pretended() if asked.name == PRETENDED else Cuda(asked.name, asked.share)


def once_each(change: Callable[[torch.Tensor], Any]) -> Callable[[torch.Tensor], Any]:
    """Return a function that changes each tensor once: one tensor in two places stays one tensor."""
    changed: dict[int, tuple[torch.Tensor, Any]] = {}

    def once(tensor: torch.Tensor) -> Any:
        if id(tensor) not in changed:
            changed[id(tensor)] = tensor, change(tensor)  # the tensor is kept, so that its id stays its own
        return changed[id(tensor)][1]

    return once


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    map_tensors(value, found.append)
    return found


def map_tensors(value: Any, change: Callable[[torch.Tensor], Any], depth: int = CAPS.depth) -> Any:
    """Return the value with its tensors changed. Parts nested deeper than the wire allows stay as they are."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if depth and type(value) in (list, tuple):
        return type(value)(map_tensors(item, change, depth - 1) for item in value)
    if depth and type(value) is dict:
        return {key: map_tensors(item, change, depth - 1) for key, item in value.items()}
    return value

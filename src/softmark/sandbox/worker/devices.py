"""The device on which a submission's tensors are. Runs in the worker.

Values cross the wire as numbers in main memory. What a test passes in is put on the device, modules are moved to it as
soon as they are made, and what comes back must be there: a tensor that is not was created on a device of the code's own
choice, which is told as such. Three devices:

cpu         nothing is moved, and nothing can be in the wrong place
cuda:0      a graphics card, of whose memory a worker gets its share; TF32 is off and algorithms are deterministic, so
            that tolerances mean the same as on a CPU and two runs agree
pretended   the second device of other_device.py, for machines without one: the same code, no hardware
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from softmark.sandbox.wire import CAPS
from softmark.sandbox.wire.protocol import UsedDevice
from softmark.sandbox.worker.other_device import OtherDevice, place

CPU, PRETENDED = "cpu", "pretended"


class WrongDevice(Exception):
    """An answer is on another device than what it was computed from: "cpu, expected cuda:0"."""


class Device:
    """The CPU, where everything is in its place."""

    name = CPU

    def seed(self, seed: int) -> None:
        """Put back the state that is the device's own."""

    def send(self, value: Any) -> Any:
        """The value with its tensors on this device."""
        return value

    def settle(self, module: nn.Module) -> None:
        """Move a module of the student's here."""

    def holds(self, tensor: torch.Tensor) -> bool:
        return True

    def fetch(self, value: Any) -> Any:
        """The value with its tensors in main memory."""
        return value

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the student's code runs."""
        yield

    def require(self, value: Any) -> None:
        """WrongDevice if a tensor of an answer is not here."""
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
        self._mode = OtherDevice()  # each call's own: what it knows of a call's tensors means nothing to the next
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
    """The value with its tensors changed. What is nested deeper than the wire takes is left for the wire to refuse."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if depth and type(value) in (list, tuple):
        return type(value)(map_tensors(item, change, depth - 1) for item in value)
    if depth and type(value) is dict:
        return {key: map_tensors(item, change, depth - 1) for key, item in value.items()}
    return value

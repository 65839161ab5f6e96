"""Chooses the device that submissions run on, as asked or as found. Does not import torch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from softmark.records.errors import UsageError

CPU, CUDA, AUTO = "cpu", "cuda:0", "auto"
DEVICE_FILES = Path("/dev")
_CUDA_OF_TORCH = re.compile(r"^cuda\b.*= *'", re.MULTILINE)


@dataclass(frozen=True)
class ChosenDevice:
    """The device, and a line for the person at the keyboard about the choice."""

    name: str
    line: str = ""


def choose(asked: str) -> ChosenDevice:
    """Return the device for `auto`, `cpu` or `cuda`. Raise UsageError if there is no graphics card for `cuda`."""
    if asked == CPU:
        return ChosenDevice(CPU)
    lacking = _lacking()
    if not lacking:
        return ChosenDevice(CUDA)
    if asked == AUTO:
        return ChosenDevice(CPU, f"grading on the CPU: {lacking}")
    raise UsageError(
        f"no graphics card can be used: {lacking}; say --device cpu, or --device auto to take what there is"
    )


def files_for(name: str) -> tuple[str, ...]:
    """Return the device files that a process on this device needs."""
    return device_files() if name == CUDA else ()


def device_files() -> tuple[str, ...]:
    """Return the device files of NVIDIA's driver."""
    return tuple(sorted(str(file) for file in DEVICE_FILES.glob("nvidia*") if not file.is_dir()))


def _lacking() -> str:
    """Return why there is no CUDA; empty if there is, as far as can be told without starting it."""
    torch = find_spec("torch")
    version = Path(torch.origin).with_name("version.py") if torch is not None and torch.origin is not None else None
    if version is None or not _CUDA_OF_TORCH.search(version.read_text()):
        return "the installed torch is the build for the CPU"
    if not any(re.fullmatch(r"nvidia\d+", Path(file).name) for file in device_files()):
        return "there is no NVIDIA device in this system (a container needs `--gpus all`)"
    return ""

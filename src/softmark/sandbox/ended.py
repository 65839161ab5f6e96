"""Says how a student's process has ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Exit:
    """The end of a worker, as the kernel told it."""

    status: int
    cpu_seconds: float
    leftovers: int
    clean: bool

"""Restores the global state that a student's code may have changed, before each test, inside the worker.

This helps honest code (a default dtype set in part 1 must not spoil part 4), and is no wall. A test that fails in a
worker which another part has used is run again in a fresh one.
"""

from __future__ import annotations

import os
import random
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch


@dataclass(frozen=True)
class Snapshot:
    """The global state of the process just before the submission was loaded."""

    directory: str
    environment: dict[str, str]
    entries: dict[Any, Any]
    recursion_limit: int
    numpy_errors: Any

    @classmethod
    def take(cls) -> Snapshot:
        return cls(os.getcwd(), dict(os.environ), _entries(), sys.getrecursionlimit(), np.geterr())

    def restore(self, seed: int) -> None:
        """Restore everything, and set the random generators to `seed`."""
        self._go_back()
        if _entries() != self.entries:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.setrecursionlimit(self.recursion_limit)
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        np.seterr(**self.numpy_errors)
        warnings.resetwarnings()
        warnings.simplefilter("default")
        self._restore_torch()
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.default_generator.manual_seed(seed)

    def _go_back(self) -> None:
        try:
            os.chdir(self.directory)
        except OSError:  # the student's code has removed it
            os.makedirs(self.directory, exist_ok=True)
            os.chdir(self.directory)

    @staticmethod
    def _restore_torch() -> None:
        torch.set_default_dtype(torch.float32)
        if torch.get_default_device().type != "cpu":
            torch.set_default_device("cpu")
        torch.set_grad_enabled(True)
        if torch.get_num_threads() != 1:
            torch.set_num_threads(1)
        if torch.are_deterministic_algorithms_enabled():
            torch.use_deterministic_algorithms(False)
        if torch.is_anomaly_enabled():
            torch.autograd.set_detect_anomaly(False)


def _entries() -> dict[Any, Any]:
    """Return the environment as Python keeps it, in bytes. Decoding it would take longer than all the rest here."""
    return dict(getattr(os.environ, "_data", os.environ))

"""The rehearsal in the zygote: nothing of it is left for a worker to find."""

from __future__ import annotations

import os
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from softmark.sandbox.warm_up import rehearse


def _state() -> dict[str, Any]:
    return {
        "threads": os.listdir("/proc/self/task"),
        "directory": os.getcwd(),
        "path": list(sys.path),
        "environment": dict(os.environ),
        "warnings": list(warnings.filters),
        "numpy": np.geterr(),
        "torch": (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_default_device()),
        "chance": (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()),
        "streams": (sys.stdout, sys.stderr, sys.argv),
    }


class TestRehearsal:
    def test_leaves_the_process_as_it_was(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "__stdout__", sys.stdout)  # which is where the call of a test puts it back to
        monkeypatch.setattr(sys, "__stderr__", sys.stderr)
        before = _state()
        rehearse.__wrapped__()
        assert _state() == before
        assert "rehearsal" not in sys.modules
        assert torch.cdist(torch.ones(2, 3), torch.ones(4, 3)).shape == (2, 4)  # is no longer forbidden
        assert os.listdir(tmp_path) == []

"""Global state that a student's code changes is put back before each test, in the process where it happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from softmark.sandbox.student_process import StudentProcess
from tests.support.sandboxes import loaded, sandbox, value

SUBMISSION = """
import os, random, shutil, sys, warnings
import numpy as np
import torch

HOME = os.getcwd()

def state():
    return {
        "dtype": str(torch.get_default_dtype()),
        "device": str(torch.get_default_device()),
        "made on": str(torch.ones(1).device),
        "grad": torch.is_grad_enabled(),
        "threads": torch.get_num_threads(),
        "anomaly": torch.is_anomaly_enabled(),
        "directory": os.path.relpath(os.getcwd(), HOME),
        "environment": dict(os.environ),
        "numpy": np.geterr(),
        "recursion": sys.getrecursionlimit(),
        "stdout": sys.stdout is sys.__stdout__,
        "warnings": [entry[0] for entry in warnings.filters],
    }

def change(what):
    match what:
        case "dtype": torch.set_default_dtype(torch.float64)
        case "device": torch.set_default_device("meta")
        case "grad": torch.set_grad_enabled(False)
        case "threads": torch.set_num_threads(3)
        case "anomaly": torch.autograd.set_detect_anomaly(True)
        case "directory": os.makedirs("sub", exist_ok=True); os.chdir("sub")
        case "removed directory": os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")
        case "removed home": shutil.rmtree(HOME)
        case "environment": os.environ["HOME"] = "/"; del os.environ["TZ"]
        case "cleared environment": os.environ.clear()
        case "replaced environment": os.environ = {"HOME": "/"}
        case "numpy": np.seterr(all="raise")
        case "recursion": sys.setrecursionlimit(10**6)
        case "stdout": sys.stdout = None; sys.stderr = None
        case "warnings": warnings.simplefilter("error")

def draw():
    return random.random(), float(np.random.rand()), float(torch.rand(()))
"""
CHANGES = (
    *("dtype", "device", "grad", "threads", "anomaly", "directory", "environment"),
    *("cleared environment", "replaced environment", "numpy", "recursion", "stdout", "warnings"),
)


@pytest.fixture(scope="module")
def worker() -> Iterator[StudentProcess]:
    with sandbox() as place, loaded(place, SUBMISSION) as process:
        yield process


@pytest.fixture(scope="module")
def untouched(worker: StudentProcess) -> Any:
    return value(worker, "state", seed=1)


class TestRestore:
    """State between two tests."""

    @pytest.mark.parametrize("what", CHANGES)
    def test_puts_back(self, what: str, worker: StudentProcess, untouched: Any) -> None:
        """After whatever a test changed, the next test begins as the first one did."""
        value(worker, "change", what, seed=1)
        changed = value(worker, "state")
        assert changed != untouched
        assert value(worker, "state", seed=2) == untouched

    def test_finds_its_way_back(self, worker: StudentProcess, untouched: Any) -> None:
        """A test that removed the directory under its own feet spoils nothing for the next."""
        value(worker, "change", "removed directory", seed=1)
        assert value(worker, "state", seed=2) == untouched

    def test_makes_a_directory_that_is_gone(self) -> None:
        """Where nothing keeps a student's code from removing its own directory, the next test has one."""
        with sandbox("spawned") as place, loaded(place, SUBMISSION) as process:
            untouched = value(process, "state", seed=1)
            value(process, "change", "removed home", seed=1)
            assert value(process, "state", seed=2) == untouched

    def test_begins_where_a_student_expects(self, untouched: Any) -> None:
        """float32, gradients, one thread, the submission's own directory, times in UTC."""
        assert untouched["dtype"] == "torch.float32"
        assert untouched["made on"] == "cpu"
        assert untouched["grad"] is True
        assert untouched["threads"] == 1
        assert untouched["environment"]["TZ"] == "UTC"

    def test_leaves_state_alone_within_a_test(self, worker: StudentProcess) -> None:
        """A later call of the same test finds what the earlier one left."""
        value(worker, "change", "dtype", seed=1)
        assert value(worker, "state")["dtype"] == "torch.float64"


class TestSeed:
    """Random numbers."""

    def test_one_seed_gives_one_sequence(self, worker: StudentProcess) -> None:
        """Python's, numpy's and torch's generators begin anew with a test's seed, and go on within it."""
        first, second = value(worker, "draw", seed=7), value(worker, "draw")
        assert value(worker, "draw", seed=7) == first
        assert value(worker, "draw") == second
        assert all(a != b for a, b in zip(first, second, strict=True))

    def test_another_seed_gives_another(self, worker: StudentProcess) -> None:
        """Two tests draw different numbers, from each of the three generators."""
        pairs = zip(value(worker, "draw", seed=7), value(worker, "draw", seed=2**47 + 1), strict=True)
        assert all(a != b for a, b in pairs)

"""Keeps a notebook as it is while its functions are checked: what the next cell computes is the same with the check."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch


@contextmanager
def undisturbed(namespace: MutableMapping[str, Any]) -> Iterator[None]:
    """Put back after this block what a test or a student's function changes in the notebook.

    These are the variables of the notebook, the random generators, the settings of Python, NumPy, torch and matplotlib,
    and the directory. Inside the block torch has the settings of grading.
    """
    with ExitStack() as after:
        after.callback(os.chdir, os.getcwd())
        after.callback(_put_back, namespace, dict(namespace))
        after.callback(random.setstate, random.getstate())
        after.callback(np.random.set_state, np.random.get_state())
        after.enter_context(warnings.catch_warnings())
        after.enter_context(np.errstate())
        after.enter_context(torch.random.fork_rng(devices=[]))
        after.enter_context(torch.enable_grad())
        after.enter_context(_plain_tensors())
        after.enter_context(_no_figures())
        yield


def _put_back(namespace: MutableMapping[str, Any], before: dict[str, Any]) -> None:
    for name in namespace.keys() - before.keys():
        del namespace[name]
    namespace.update(before)


@contextmanager
def _plain_tensors() -> Iterator[None]:
    """Let new tensors be of float32 and on the CPU inside this block, as in grading."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    torch.set_default_dtype(torch.float32)
    if device.type != "cpu":
        torch.set_default_device("cpu")
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        if device.type != "cpu":
            torch.set_default_device(device)


@contextmanager
def _no_figures() -> Iterator[None]:
    """Close the figures that are opened inside this block, and keep matplotlib's settings."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        yield
        return
    figures = pyplot.get_fignums()
    current = pyplot.gcf().number if figures else None
    with pyplot.rc_context():
        try:
            yield
        finally:
            for number in set(pyplot.get_fignums()) - set(figures):
                pyplot.close(number)
            if pyplot.fignum_exists(current):
                pyplot.figure(current)

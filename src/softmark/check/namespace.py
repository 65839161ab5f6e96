"""A sandbox of level `none` for an open notebook: the functions are in its namespace, and there is no file.

The notebook goes on after the check, so its output and its imports stay as they are. The random generators are seeded
for each test; undisturbed.py restores them.
"""

from __future__ import annotations

import inspect
import linecache
import random
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import numpy as np
import torch

from softmark.records.limits import Level, Limits
from softmark.sandbox.in_process import InProcessWorker
from softmark.sandbox.machine import temporary_directory
from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Call, DoneReply, Load, Request
from softmark.sandbox.worker import Worker, calls, exceptions
from softmark.sandbox.worker.forbidden import Guard
from softmark.sandbox.worker.loading import SubmissionModule
from softmark.sandbox.worker.stand_ins import StandIns


class NotebookNamespace:
    """A sandbox in which every student process is the notebook itself."""

    level = Level.NONE

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._cells = _cells(namespace)

    @property
    def files(self) -> dict[str, bytes]:
        """The text of each cell that defines something, by the name that messages give the cell."""
        return {name: "".join(linecache.getlines(file)).encode() for file, name in self._cells.items()}

    def open(self, files: Mapping[str, bytes], limits: Limits) -> InProcessWorker:
        return _NotebookProcess(self._namespace, self._cells, limits)

    def close(self) -> None:
        pass


class _NotebookProcess(InProcessWorker):
    def __init__(self, namespace: Mapping[str, Any], cells: Mapping[str, str], limits: Limits) -> None:
        super().__init__(Path.cwd(), limits)
        self._namespace = namespace
        self._worker = _NotebookWorker(namespace, cells)

    def _is_own(self, frame: FrameType) -> bool:
        return frame.f_globals is self._namespace

    def _forget(self) -> None:
        """Keep what the notebook has imported, also from its own folder."""


class _NotebookWorker(Worker):
    def __init__(self, namespace: Mapping[str, Any], cells: Mapping[str, str]) -> None:
        super().__init__(temporary_directory())
        self._namespace, self._cells = namespace, cells

    def _dispatch(self, request: Request) -> DoneReply:
        if isinstance(request, Load):
            module = types.ModuleType("notebook")
            vars(module).update({name: thing for name, thing in self._namespace.items() if not name.startswith("_")})
            self._submission = SubmissionModule(module, Guard(request.rules))
            self._submission.stand_ins = StandIns(self.exchange)
            return self._submission.told(request.wanted)
        if self._submission is None or not isinstance(request, Call):
            raise RuntimeError("a call arrived before the notebook was looked at")
        if request.seed is not None:
            _seed(request.seed)
            self._submission.forget_handles()
        return calls.perform(self._submission, request)

    def _describe(self, error: BaseException) -> Raised:
        frames = tuple(
            Frame(self._cells[frame.f_code.co_filename], line, frame.f_code.co_name, "")
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_code.co_filename in self._cells
        )
        told = exceptions.describe(error, self._scratch)
        return msgspec.structs.replace(told, frames=frames)


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.default_generator.manual_seed(seed)


def _cells(namespace: Mapping[str, Any]) -> dict[str, str]:
    """Return a name for each cell that defines a function or a class, by the file name that Python has for it."""
    cells: dict[str, str] = {}
    for name, thing in namespace.items():
        methods = vars(thing).values() if inspect.isclass(thing) else (thing,)
        for function in methods:
            if inspect.isfunction(function) and function.__globals__ is namespace:
                cells.setdefault(function.__code__.co_filename, f"cell of {name}")
    return cells

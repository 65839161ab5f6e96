"""Opens student processes without walls: for a student's own machine, and on systems that lack what walls need.

Where this process can be forked, the code runs in a fork: it has torch already. Elsewhere, as on Windows and macOS, it
runs in a program of its own, which imports torch first. No module that only some systems have is imported for that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from softmark.records.limits import Level, Limits
from softmark.sandbox.clock import is_debugged
from softmark.sandbox.environment import environment
from softmark.sandbox.in_process import InProcessWorker
from softmark.sandbox.scratch import ScratchRoot
from softmark.sandbox.spawned import SpawnedWorker
from softmark.sandbox.student_process import StudentProcess


class Sandbox(Protocol):
    """Opens student processes of one level."""

    level: Level

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess: ...

    def close(self) -> None: ...


class SpawnedSandbox:
    """Starts each worker as a program: level `process` on a system without fork."""

    level = Level.PROCESS

    def __init__(self) -> None:
        self._root = ScratchRoot()

    def open(self, files: Mapping[str, bytes], limits: Limits) -> SpawnedWorker:
        directory = self._root.make(files, None)
        return SpawnedWorker(directory, limits, environment(str(directory)))

    def close(self) -> None:
        self._root.close()


class InProcess:
    """Runs the code in this process: level `none`."""

    level = Level.NONE

    def __init__(self) -> None:
        self._root = ScratchRoot()

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess:
        return InProcessWorker(self._root.make(files, None), limits)

    def close(self) -> None:
        self._root.close()


class InChild(InProcess):
    """Runs the code in a process of its own: level `none` on a student's own machine. Its prints are seen.

    While a debugger follows this process, the code runs here, because a debugger would not follow the other process.
    With `stop_at`, Python's debugger is opened in the call of this number.
    """

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__()
        self._stop_at = stop_at
        self._latest: StudentProcess | None = None

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess:
        self._latest = self._open(self._root.make(files, None), limits)
        return self._latest

    def _open(self, directory: Path, limits: Limits) -> StudentProcess:
        if not is_debugged() and forking_works():
            return _child(directory, limits, stop_at=self._stop_at)
        if is_debugged() or self._stop_at is not None:
            return InProcessWorker(directory, limits, self._stop_at)
        return SpawnedWorker(directory, limits, {**os.environ}, heard=True)

    def running(self) -> tuple[str, str]:
        """Return the name of the function that was called last, and what has been printed since the last test."""
        return ("", "") if self._latest is None else (self._latest.running(), self._latest.take_printed())


class Unheard:
    """Level `none` on a student's own machine, for edits of the student's code: what they print is not shown.

    They are in a process of its own: nothing of them stays here.
    """

    level = Level.NONE

    def __init__(self) -> None:
        self._root = ScratchRoot()

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess:
        directory = self._root.make(files, None)
        if forking_works():
            return _child(directory, limits, heard=False)
        return SpawnedWorker(directory, limits, environment(str(directory)))

    def close(self) -> None:
        self._root.close()


def forking_works() -> bool:
    """Return whether a fork server can run here: it needs pidfd, /proc and the child subreaper of Linux."""
    return hasattr(os, "pidfd_open") and Path("/proc/self/stat").exists()


def _child(directory: Path, limits: Limits, *, heard: bool = True, stop_at: int | None = None) -> StudentProcess:
    from softmark.sandbox.in_child import ChildWorker  # it can be imported only where forking works

    return ChildWorker(directory, limits, heard=heard, stop_at=stop_at)

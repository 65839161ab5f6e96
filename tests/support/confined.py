"""Runs a function in a forked child behind real walls, and tells what became of it."""

from __future__ import annotations

import os
import pickle
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from softmark.records.limits import Limits
from softmark.sandbox.walls import WallError, Walls, landlock, raise_walls

IS_ROOT = os.geteuid() == 0
LEVEL = "full" if IS_ROOT else "user"
PATIENCE = 60  # seconds; a child that takes longer hangs

# Uids nobody else uses: RLIMIT_NPROC counts per uid, and several test runs may share the machine.
STUDENT = 30_000 + os.getpid() % 7_000
INSTRUCTOR = STUDENT + 7_000

needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can give a worker a uid of its own")
needs_landlock = pytest.mark.skipif(landlock.abi() < landlock.FILES, reason="this kernel has no Landlock")
needs_signal_scope = pytest.mark.skipif(
    landlock.abi() < landlock.SIGNALS, reason="this kernel's Landlock cannot keep signals inside"
)

LEVELS = [
    pytest.param("full", marks=[needs_root, needs_landlock]),
    pytest.param("user", marks=needs_signal_scope),
]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an attempt: a value, or the exception that stopped it, or the end of the process."""

    value: Any = None
    error: str | None = None
    errno: int | None = None
    message: str = ""
    step: str | None = None
    killed_by: int | None = None

    @property
    def refused(self) -> bool:
        return self.error == "PermissionError"


def attempt(
    action: Callable[[], Any],
    level: str = LEVEL,
    before: Callable[[], Any] | None = None,
    parent: int | None = None,
    scratch_mode: int = 0o700,
    **changes: Any,
) -> Outcome:
    """Fork, raise the walls of a level, run `action`. `before` runs first; `changes` are made to the Walls."""
    owner = {"full": STUDENT, "user": INSTRUCTOR}[level] if IS_ROOT else os.getuid()
    with scratch_of(owner, scratch_mode) as scratch:
        settings: dict[str, Any] = {"scratch": scratch, "uid": owner if level == "full" else None}
        settings |= {"limits": Limits(), "cpu_backstop": 60} | changes

        def work(report: int) -> None:
            if before is not None:
                before()
            raise_walls(Walls(**settings), (report,), os.getppid() if parent is None else parent)
            _send(report, Outcome(value=action()))

        if level == "user":
            return forked(lambda report: _as_instructor(owner, report, work))
        return forked(work)


@contextmanager
def scratch_of(owner: int, mode: int = 0o700) -> Iterator[str]:
    """Yield a directory below /tmp, because the way to pytest's own temporary directories is closed to other users."""
    scratch = tempfile.mkdtemp(prefix="softmark-test-", dir="/tmp")
    os.chmod(scratch, mode)
    os.chown(scratch, owner, owner if IS_ROOT else -1)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)


def forked(work: Callable[[int], None]) -> Outcome:
    """Return the outcome that a forked child writes to the descriptor it is given, or how it ended without one."""
    reader, report = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _live(work, report)
    os.close(report)
    try:
        answer = _drain(reader)
    finally:
        os.close(reader)
        if not _has_ended(pid):
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    if answer:
        outcome: Outcome = pickle.loads(answer)
        return outcome
    return Outcome(killed_by=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None)


def _as_instructor(owner: int, report: int, work: Callable[[int], None]) -> None:
    """Become an ordinary user with a process of its own to lose, then fork the worker from there."""
    if IS_ROOT:
        os.setgroups([])
        os.setresgid(owner, owner, owner)
        os.setresuid(owner, owner, owner)
    _send(report, forked(work))


def _live(work: Callable[[int], None], report: int) -> None:
    """Run a child from its first to its last step. It must never return into pytest."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        torch.set_num_threads(1)
        work(report)
    except WallError as refusal:
        _send(report, Outcome(error="WallError", message=refusal.reason, step=refusal.step))
    except BaseException as error:
        number = error.errno if isinstance(error, OSError) else None
        _send(report, Outcome(error=type(error).__name__, errno=number, message=str(error)))
    finally:
        os._exit(0)


def _send(report: int, outcome: Outcome) -> None:
    os.write(report, pickle.dumps(outcome))


def _drain(reader: int) -> bytes:
    """Return everything up to the first complete answer or the end of file."""
    ready, _, _ = select.select([reader], [], [], PATIENCE)
    if not ready:
        print(f"no answer within {PATIENCE} s", file=sys.stderr)
        return b""
    return os.read(reader, 65536)


def _has_ended(pid: int) -> bool:
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found is not None

"""Makes student processes for tests: one zygote for a whole test run, and a sandbox of every kind on top of it."""

from __future__ import annotations

import atexit
import math
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from tempfile import gettempdir
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import pytest

from softmark.records.limits import Allowed, Level, Limits
from softmark.sandbox.isolation import ForkedSandbox
from softmark.sandbox.own_machine import InChild, InProcess, Sandbox, SpawnedSandbox
from softmark.sandbox.student_process import StudentProcess
from softmark.sandbox.walls import environment
from softmark.sandbox.wire.protocol import Call, Load, Rule
from softmark.sandbox.zygote import Zygote

IS_ROOT = os.geteuid() == 0
STRONGEST = Level.FULL if IS_ROOT else Level.USER
FILE = "hw.py"
SHORT = Limits(cpu_seconds=0.5, import_seconds=5.0, memory_mb=300, file_mb=20)

PATIENCE = 60  # seconds; what takes longer hangs

KINDS: dict[str, Callable[[], Sandbox]] = {
    "walled": lambda: ForkedSandbox(zygote(), STRONGEST),
    "process": lambda: ForkedSandbox(zygote(), Level.PROCESS),
    "spawned": SpawnedSandbox,
    "bare": InProcess,
    "own": InChild,
}


@cache
def zygote() -> Zygote:
    """Return the zygote. The first test that needs it starts it, and one worker at a time can live below it."""
    started = Zygote.spawn(environment(gettempdir()))
    atexit.register(started.close)
    return started


@contextmanager
def sandbox(kind: str = "walled") -> Iterator[Sandbox]:
    """Yield a sandbox of one of the KINDS. Changes that a sandbox without walls makes in this process are put back."""
    opened = KINDS[kind]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", sys.stdout)
        patch.setattr(sys, "stderr", sys.stderr)
        patch.setattr(sys, "path", [*sys.path])
        patch.setattr(warnings, "filters", [*warnings.filters])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def not_for_ever() -> Iterator[None]:
    """Fail, instead of hanging, if the code in this block does not come to an end."""

    def give_up(*_: object) -> NoReturn:
        raise AssertionError(f"no end within {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def loaded(place: Sandbox, source: str, rules: Sequence[Rule] = (), limits: Limits = SHORT) -> Iterator[StudentProcess]:
    """Yield a student process that has loaded a submission with this text."""
    worker = place.open({FILE: source.encode()}, limits)
    try:
        load(worker, limits.import_seconds, rules)
        yield worker
    finally:
        worker.close()


def load(worker: StudentProcess, seconds: float, rules: Sequence[Rule] = ()) -> None:
    """Have a worker load the submission."""
    worker.ask(Load(FILE, tuple(rules), id=1), Allowed.of(seconds))


_numbers: WeakKeyDictionary[StudentProcess, Iterator[int]] = WeakKeyDictionary()


def ask(
    worker: StudentProcess,
    target: Any,
    *args: Any,
    cpu_seconds: float = SHORT.cpu_seconds,
    wall_seconds: float = math.inf,
    **request: Any,
) -> Any:
    """Return one call of a worker. Parts that are not given are those of a plain call; requests are numbered from 2."""
    number = next(_numbers.setdefault(worker, count(2)))
    return worker.ask(Call(target, args=list(args), id=number, **request), Allowed.of(cpu_seconds, wall_seconds))


def value(worker: StudentProcess, target: Any, *args: Any, **request: Any) -> Any:
    """Return the value of a plain call."""
    return ask(worker, target, *args, **request).value

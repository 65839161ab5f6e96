"""The engines of a run: one with a lane for every thread, and those that replace what broke."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property

from softmark.batch.grader import EngineFailed, Grader, Lane
from softmark.grading.messages import Setup
from softmark.grading.result import Result


class Engines:
    """Started when they are needed: for a class that has not changed, none is."""

    def __init__(self, setup: Setup, lanes: int) -> None:
        self.stopped = False
        self._setup, self._lanes = setup, lanes
        self._lock = threading.RLock()
        self._all: list[Grader] = []

    @property
    def pending(self) -> Result:
        """The result of second zero."""
        return self.first[1]

    @property
    def first(self) -> tuple[Grader, Result]:
        """The engine of all lanes, and the result of second zero; whoever asks first waits until it is ready."""
        with self._lock:
            return self._first

    def another(self) -> Grader:
        """An engine of one lane."""
        with self._lock:
            grader = self._start(1)
            grader.ready()
            return grader

    def stop(self) -> None:
        """Interrupt whatever is being graded; no other is started."""
        self.stopped = True
        for grader in self._all:
            grader.interrupt()

    def close(self) -> None:
        with ExitStack() as stack:
            for grader in self._all:
                stack.push(grader)

    @cached_property
    def _first(self) -> tuple[Grader, Result]:
        grader = self._start(self._lanes)
        return grader, grader.ready()

    def _start(self, lanes: int) -> Grader:
        grader = Grader(self._setup, lanes)
        self._all.append(grader)
        if self.stopped:
            raise EngineFailed("the run is being stopped")
        return grader


class OwnLane:
    """The judge of one thread."""

    def __init__(self, engines: Engines, number: int) -> None:
        self._engines = engines
        self._lane: Callable[[], Lane] = lambda: engines.first[0].lanes[number]

    @property
    def lane(self) -> Lane:
        return self._lane()

    def replace(self) -> None:
        """It broke, or its place is not clean: go on with an engine of this thread's own."""
        grader = self._engines.another()
        self._lane = lambda: grader.lanes[0]

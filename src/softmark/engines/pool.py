"""The engines of a run: one with a lane for every thread, and those that replace what broke."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property

import msgspec

from softmark.engines.local import EngineFailed, Grader, Lane
from softmark.engines.messages import Setup
from softmark.records.result import Result


class Engines:
    """Started when they are needed: for a class that has not changed, none is."""

    def __init__(self, setup: Setup, lanes: int) -> None:
        self.stopped = False
        self._setup, self._lanes = msgspec.structs.replace(setup, lanes=lanes), lanes
        self._lock = threading.RLock()
        self._all: list[Grader] = []
        self._refused: Exception | None = None
        self._starter = ThreadPoolExecutor(1)  # an engine ends with the thread that started it, so that one stays

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

    def end(self, grader: Grader) -> None:
        """This one is not needed any more."""
        with self._lock, grader:
            self._all.remove(grader)

    def stop(self) -> None:
        """Interrupt whatever is being graded; no other is started."""
        self.stopped = True
        for grader in tuple(self._all):
            grader.interrupt()

    def close(self) -> None:
        with self._starter, ExitStack() as stack:
            for grader in self._all:
                stack.push(grader)

    @cached_property
    def _first(self) -> tuple[Grader, Result]:
        if self._refused is not None:
            raise self._refused  # every thread asks, and what was refused once need not be started for each
        grader = self._start(self._lanes)
        try:
            return grader, grader.ready()
        except Exception as error:
            self._refused = error
            raise

    def _start(self, lanes: int) -> Grader:
        grader = self._starter.submit(Grader, self._setup, lanes).result()
        self._all.append(grader)
        if self.stopped:
            grader.interrupt()
            raise EngineFailed("the run is being stopped")
        return grader


class OwnLane:
    """The judge of one thread."""

    def __init__(self, engines: Engines, number: int) -> None:
        self._engines, self._number = engines, number
        self._own: Grader | None = None

    @property
    def lane(self) -> Lane:
        return self._own.lanes[0] if self._own is not None else self._engines.first[0].lanes[self._number]

    def replace(self) -> None:
        """It broke, or its place is not clean: go on with an engine of this thread's own."""
        broken, self._own = self._own, self._engines.another()
        if broken is not None:
            self._engines.end(broken)

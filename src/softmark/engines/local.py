"""The engine of this machine: one process with a lane for each slot, and new processes for those that break.

A thread for each slot takes the next job and waits for its judge. If a judge breaks, the job's future raises
EngineError, and the slot goes on with a process of its own.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Self

from softmark.course.digest import provenance
from softmark.course.homework import Homework, load_homework
from softmark.engines.processes import EngineProcess
from softmark.engines.protocol import Engine, EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.records.limits import Limits
from softmark.records.result import Outcome, Provenance, Result, Status
from softmark.sandbox.machine import side_by_side

_STOPPED = "the grading engine was stopped"


@dataclass(frozen=True, eq=False)
class _Order:
    """A job that somebody waits for."""

    job: Job
    on_progress: Callable[[Result], None] | None
    future: Future[Result] = field(default_factory=Future)


@dataclass(frozen=True)
class _Started:
    """A process that can grade."""

    process: EngineProcess
    pending: Result


class LocalEngine:
    """An `Engine` (protocol.py) of processes on this machine. They are started when they are needed."""

    def __init__(self, spec: GradingSpec, slots: int = 1) -> None:
        self.spec, self.slots = spec, slots
        self._starter = ThreadPoolExecutor(1)  # a process ends with the thread that started it, so one thread stays
        self._latest: Future[_Started] | None = None
        self._processes: list[EngineProcess] = []
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._open: set[_Order] = set()
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            if self._open or not (self._latest is None or self._latest.done()):
                self.stop()
            for _ in self._threads:
                self._orders.put(None)
            for thread in self._threads:
                if thread.is_alive():  # an interrupt may come before one is started
                    thread.join()
            if self._latest is not None:
                wait([self._latest])
        finally:
            with self._starter:
                for process in self._processes:
                    process.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are running. Zygotes, judges and every student process are below them."""
        return tuple(process.pid for process in self._processes)

    def provenance(self) -> Provenance:
        """Return the versions on this machine and the digests of the homework's files. No process is started."""
        homework = load_homework(self.spec.homework, self.spec.root)
        return provenance(homework, self.spec.isolation, self.spec.device)

    def start(self) -> None:
        """Start the process and the threads, if that has not been done."""
        if self._latest is not None:
            return
        first = self._latest = self._starter.submit(self._launch, self.slots)
        for number in range(self.slots):
            thread = threading.Thread(target=self._serve, args=(first, number), daemon=True)
            self._threads.append(thread)
            thread.start()

    def pending(self, timeout: float | None = None) -> Result:
        """Wait for the process that was started last; raise its error if it could not start."""
        self.start()
        assert self._latest is not None
        return self._latest.result(timeout).pending

    def submit(self, job: Job, on_progress: Callable[[Result], None] | None = None) -> Future[Result]:
        """Put a job into the queue of all slots."""
        self.start()
        order = _Order(job, on_progress)
        if self._stopped:
            order.future.set_exception(EngineError(_STOPPED))
        else:
            self._open.add(order)
            self._orders.put(order)
        return order.future

    def stop(self) -> None:
        """Interrupt all processes. Jobs that wait are not begun any more."""
        self._stopped = True
        for process in tuple(self._processes):
            process.interrupt()

    def _launch(self, lanes: int) -> _Started:
        """Start a process and wait until it can grade. Runs in the starter's thread."""
        process = EngineProcess(lanes)
        self._processes.append(process)
        if self._stopped:
            process.interrupt()
        return _Started(process, process.begin(self.spec, max(lanes, self.slots)))

    def _serve(self, first: Future[_Started], number: int) -> None:
        """Grade one order after the other. Runs in the thread of a slot."""
        source: Future[_Started] | None = first
        lane = number
        while (order := self._orders.get()) is not None:
            try:
                if self._stopped:
                    raise EngineError(_STOPPED)
                if source is None or source.result().process.has_ended:
                    source, lane = self._starter.submit(self._launch, 1), 0
                    self._latest = source
                process = source.result().process
            except BaseException as failure:  # nothing can be graded; `pending` raises the same
                self._close(order, failure)
                continue
            try:
                result = process.lanes[lane].grade(order.job, order.on_progress)
                if _is_broken_off(result):
                    raise EngineError("; ".join(result.faults), result)
            except BaseException as failure:
                self._close(order, failure)
                if source is not first:  # other slots use the first process, too
                    self._processes.remove(process)
                    process.close()
                source = None
            else:
                self._close(order, result)

    def _close(self, order: _Order, outcome: Result | BaseException) -> None:
        self._open.discard(order)
        if isinstance(outcome, Result):
            order.future.set_result(outcome)
        else:
            order.future.set_exception(outcome)


def engine_for(spec: GradingSpec, slots: int = 1) -> Engine:
    """Return the engine that grades with this spec. Every command gets its engine here: now the one of this machine."""
    return LocalEngine(spec, slots)


def slots_for(homework: Homework, wanted: int, submissions: int) -> int:
    """Return how many slots are of use: as many as are wanted, if there are submissions and memory for them."""
    return side_by_side(min(wanted, submissions), Limits(**homework.limits))  # type: ignore[arg-type]


def _is_broken_off(result: Result) -> bool:
    """Return True if the judge itself failed: a test is a fault of the grader, and later tests were not run."""
    unrun = any(test.outcome is Outcome.NOT_RUN for test in result.tests)
    return result.status is Status.GRADER_ERROR and unrun

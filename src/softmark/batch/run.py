"""Grades a class: many submissions, several at a time, each recorded the moment it is finished.

A thread per lane reads submissions and asks its judge; the caller's thread, which iterates, alone writes the journal.
A judge that breaks is the grader's fault: the thread gets an engine of its own and tries that submission once more. If
that breaks too, the submission is recorded as not graded because of us, and everything else goes on.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from softmark.batch.jobs import Fingerprints, Task, only_software_differs, read
from softmark.batch.journal import Journal, Known
from softmark.course.homework import Homework
from softmark.engines.local import EngineFailed
from softmark.engines.messages import Setup
from softmark.engines.pool import Engines, OwnLane
from softmark.intake.model import Entry
from softmark.records.limits import Limits
from softmark.records.result import Graded, Outcome, Result, Status, grader_error
from softmark.sandbox.room import side_by_side

Keep = Callable[[Graded, Known], None]
"""Writes what is kept of a submission besides the journal."""

_AHEAD = 4  # results of each lane that may wait to be recorded
_A_FEW = 3  # submissions for which a hidden test may hang before it is left out for all
_POLL = 0.1  # seconds between looks at threads that are ending


@dataclass(frozen=True)
class Finished:
    """One submission of the run is done: graded just now, or found unchanged."""

    entry: Entry
    fingerprint: str
    result: Result | None
    """None: nothing has changed since it was graded, and the journal has the result."""
    other_software: bool = False
    """Whether it is graded again only because softmark or its libraries have changed."""


@dataclass(frozen=True)
class _Left:
    """A thread has ended; by this fault, if there was one."""

    fault: BaseException | None


class _Endless:
    """What did not return, such as a hidden test, and so costs its whole limit each time it is run.

    It may be the answer of one submission that makes a test hang. So a test is left out for that submission only. If it
    has hung for a few and nobody has passed it, it is left out for all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._times: Counter[str] = Counter()
        self._passed: set[str] = set()

    def note(self, what: str) -> None:
        with self._lock:
            self._times[what] += 1

    def learn(self, result: Result) -> None:
        """Note which tests a submission has passed."""
        with self._lock:
            self._passed.update(test.name for test in result.tests if test.outcome is Outcome.PASSED)

    def for_all(self) -> set[str]:
        """Return what is left out for every submission from now on."""
        with self._lock:
            often = {what for what, times in self._times.items() if times >= _A_FEW}
            return {what for what in often if what.partition("[")[0].partition("::")[2] not in self._passed}


class ClassRun:
    """One run over a class; a context manager that stops everything it started."""

    def __init__(
        self,
        entries: Sequence[Entry],
        homework: Homework,
        setup: Setup,
        journal: Journal,
        keep: Keep,
        *,
        jobs: int,
        fresh: bool = False,
    ) -> None:
        lanes = side_by_side(min(jobs, len(entries)), Limits(**homework.limits))  # type: ignore[arg-type]
        self._journal, self._keep, self._homework = journal, keep, homework
        self._entries, self._taking = iter(entries), threading.Lock()
        self._done = {} if fresh else journal.done()
        self._fingerprints = Fingerprints(homework, setup)
        self._engines = Engines(setup, lanes)
        self._endless = _Endless()
        self._items: queue.SimpleQueue[Finished | _Left] = queue.SimpleQueue()
        self._ahead = threading.Semaphore(_AHEAD * lanes)
        self._threads = [threading.Thread(target=self._work, args=(number,), daemon=True) for number in range(lanes)]
        self._at_work = 0
        journal.know((entry.id, known(entry)) for entry in entries)

    def __enter__(self) -> ClassRun:
        return self

    def __iter__(self) -> Iterator[Finished]:
        """Each submission as it is finished, in the order in which that happens; its grading is in the journal."""
        self._at_work = len(self._threads)
        for thread in self._threads:
            thread.start()  # not before __exit__ is sure to be called, even if Ctrl-C comes now
        while self._at_work:
            item = self._items.get()
            if isinstance(item, Finished):
                self._ahead.release()
                self._record(item)
                yield item
            elif item.fault is not None:
                raise item.fault
            else:
                self._at_work -= 1

    def __exit__(self, *exception: object) -> None:
        """What is finished is recorded, what is being graded is dropped."""
        try:
            if self._at_work:
                self._engines.stop()
            for thread in self._threads:
                while thread.is_alive():
                    self._ahead.release()  # it may be waiting for a reader who will not come
                    thread.join(_POLL)
            while not self._items.empty():
                item = self._items.get()
                if isinstance(item, Finished):
                    self._record(item)
        finally:
            self._engines.close()

    def _record(self, item: Finished) -> None:
        if item.result is not None:
            with self._journal.recording(item.entry.id, item.fingerprint, item.result) as counting:
                self._keep(*counting)

    def _work(self, number: int) -> None:
        """One thread's share: whatever nobody else has taken."""
        own, fault = OwnLane(self._engines, number), None
        try:
            while (entry := self._next()) is not None:
                self._ahead.acquire()
                self._items.put(self._finish(entry, own))
        except BaseException as error:  # the thread that iterates raises it
            fault = None if self._engines.stopped else error
        self._items.put(_Left(fault))

    def _next(self) -> Entry | None:
        with self._taking:
            return None if self._engines.stopped else next(self._entries, None)

    def _finish(self, entry: Entry, own: OwnLane) -> Finished:
        task = read(entry, self._homework)
        fingerprint = self._fingerprints.of(task, known(entry))
        before = self._done.get(entry.id)
        if before == fingerprint:
            return Finished(entry, fingerprint, None)
        again = before is not None and only_software_differs(before, fingerprint)
        if task.handed.refusal:
            return Finished(entry, fingerprint, task.result(self._engines.pending), again)
        return Finished(entry, fingerprint, self._judge(task, own), again)

    def _judge(self, task: Task, own: OwnLane) -> Result:
        endless = self._endless.for_all()
        result = self._attempt(task, own, endless)
        if result.status is Status.GRADER_ERROR and not _broke_off(result):
            result = self._attempt(task, own, endless)  # is it a test that is wrong, or a judge that broke at the end?
        if _broke_off(result):
            own.replace()
            result = self._attempt(task, own, endless)
            if _broke_off(result):
                own.replace()  # the next submission finds a judge in good order
        self._endless.learn(result)
        return result

    def _attempt(self, task: Task, own: OwnLane, endless: set[str]) -> Result:
        """Have it graded once. What did not return is added to `endless`, and left out if it is there already."""
        result = task.result(self._engines.pending)
        try:
            for so_far in own.lane.grade(msgspec.structs.replace(task.job, endless=tuple(endless))):
                result = so_far
        except EngineFailed as failure:
            if self._engines.stopped:
                raise
            if failure.endless:
                endless.add(failure.endless)
                self._endless.note(failure.endless)
            result = grader_error(result, str(failure))
        return result


def known(entry: Entry) -> Known:
    """What the journal keeps about a submission besides its marks."""
    return Known(
        students=entry.students,
        origin=entry.origin,
        submitted_at=None if entry.submitted_at is None else entry.submitted_at.isoformat(),
        due_at=None if entry.due_at is None else entry.due_at.isoformat(),
        late=entry.late,
        earlier=entry.earlier,
    )


def _broke_off(result: Result) -> bool:
    """Whether the grader failed on the way: not one broken test, but what came after it was not run."""
    unrun = any(test.outcome is Outcome.NOT_RUN for test in result.tests)
    return result.status is Status.GRADER_ERROR and unrun

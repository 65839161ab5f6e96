"""Grades a class: keeps an engine busy, and records each submission the moment it is finished.

An engine that breaks is no student's fault. Its submission is graded once more, and is recorded as not graded because
of the grader if the engine breaks again; everything else goes on. The engine replaces what broke. How often a
submission is tried is decided here, the same for every engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

import msgspec

from softmark.batch.class_results import ClassResults, fingerprint, only_software_differs
from softmark.engines.protocol import Engine, EngineError
from softmark.grading.job import Job, read_job
from softmark.intake.model import Entry
from softmark.records.result import Outcome, Result, Status, grader_error

_AHEAD = 4  # open futures for each slot, so that the engine need not wait while results are recorded
_A_FEW = 3  # submissions for which a hidden test may hang before it is left out for all


@dataclass(frozen=True)
class Finished:
    """One submission of the run is done: graded just now, or found unchanged."""

    entry: Entry
    result: Result | None = None
    """The result; None if nothing has changed since the submission was graded. The journal has the result then."""
    other_software: bool = False
    """It was graded again only because softmark or its libraries have changed."""


def run_class(
    submissions: Sequence[Entry], results: ClassResults, engine: Engine, fresh: bool = False
) -> Generator[Finished, None, None]:
    """Grade and record what has changed, or everything if `fresh`; yield each submission when it is finished.

    Close the generator if you stop before its end: it then records what the engine has finished. Raise UsageError or
    EngineError if the engine cannot grade.
    """
    results.save_submissions(submissions)
    done = {} if fresh else results.fingerprints()
    expected = engine.provenance()
    waiting, endless = iter(submissions), _Endless()
    underway: dict[Future[Result], _Grading] = {}
    try:
        while True:
            while len(underway) < _AHEAD * engine.slots and (entry := next(waiting, None)) is not None:
                job = read_job(entry, results.homework)
                before, now = done.get(entry.id), fingerprint(job, engine.spec, expected)
                attempt = _Grading(entry, job, before is not None and only_software_differs(before, now))
                if before == now:
                    results.restore_feedback(entry.id)
                    yield Finished(entry)
                elif job.files.refusal:
                    yield _record(attempt, job.result(engine.pending()), results, engine)
                else:
                    underway[_submitted(attempt, engine, endless)] = attempt
            if not underway:
                break
            engine.pending()  # raises if the engine cannot grade
            for future in wait(underway, return_when=FIRST_COMPLETED).done:
                attempt = underway.pop(future)
                result, again = _outcome(future, attempt, endless, engine)
                if again is not None:
                    underway[_submitted(again, engine, endless)] = again
                else:
                    yield _record(attempt, result, results, engine)
    finally:
        for future, attempt in underway.items():
            if future.done() and future.exception() is None and future.result().status is not Status.GRADER_ERROR:
                _record(attempt, future.result(), results, engine)
    results.finish()


@dataclass(frozen=True)
class _Grading:
    """A submission that is being graded, and what went wrong when it was graded before."""

    entry: Entry
    job: Job
    other_software: bool
    failed: bool = False
    """A hidden test failed by its own fault. That may pass; a second time it counts."""
    broken: bool = False
    """The engine broke."""
    endless: frozenset[str] = field(default_factory=frozenset)


class _Endless:
    """The hidden tests that did not return, and so cost their whole limit each time they are run.

    The answer of one submission may have made a test hang. So a test is left out for that submission only. If a test
    has hung for a few submissions and none has passed it, it is left out for all.
    """

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._passed: set[str] = set()

    def note(self, what: str) -> None:
        """Note that this did not return once more."""
        self._times[what] += 1

    def learn(self, result: Result) -> None:
        """Note which tests a submission has passed."""
        self._passed.update(test.name for test in result.tests if test.outcome is Outcome.PASSED)

    def for_all(self) -> set[str]:
        """Return what is left out for every submission from now on."""
        often = {what for what, times in self._times.items() if times >= _A_FEW}
        return {what for what in often if what.partition("[")[0].partition("::")[2] not in self._passed}


def _submitted(attempt: _Grading, engine: Engine, endless: _Endless) -> Future[Result]:
    left_out = tuple(sorted(attempt.endless | endless.for_all()))
    return engine.submit(msgspec.structs.replace(attempt.job, endless=left_out))


def _outcome(
    future: Future[Result], attempt: _Grading, endless: _Endless, engine: Engine
) -> tuple[Result, _Grading | None]:
    """Return the result of an attempt, and the next attempt if there is to be one."""
    try:
        result = future.result()
    except EngineError as failure:
        if failure.endless:
            endless.note(failure.endless)
        result = failure.result or grader_error(attempt.job.result(engine.pending()), str(failure))
        if not attempt.broken:
            more = {failure.endless} if failure.endless else set()
            return result, replace(attempt, broken=True, endless=attempt.endless | more)
    else:
        if result.status is Status.GRADER_ERROR and not (attempt.failed or attempt.broken):
            return result, replace(attempt, failed=True)
    endless.learn(result)
    return result, None


def _record(attempt: _Grading, result: Result, results: ClassResults, engine: Engine) -> Finished:
    graded = fingerprint(attempt.job, engine.spec, result.provenance)
    results.record(attempt.entry.id, graded, result)
    return Finished(attempt.entry, result, attempt.other_software)

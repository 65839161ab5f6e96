"""Grades one submission after another: every test in the fixed order, a Result after each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
import pytest

from softmark.course.digest import provenance
from softmark.course.pending import finished_test, pending
from softmark.course.testspecs import TestSpec, base_nodeid
from softmark.engines.messages import Job, Setup
from softmark.grading.desk import Desk
from softmark.grading.own_time import Note, OwnTime, naming, running
from softmark.grading.session import OUT_OF_TIME, NotLoadable, StudentSession
from softmark.grading.student import own_frames
from softmark.grading.trial import Trial, explained, faulty, not_judged
from softmark.intake.submitted_files import COUNTED, Handed
from softmark.records.limits import Limits
from softmark.records.result import (
    CaseResult,
    Excerpt,
    Outcome,
    Result,
    Submission,
    TestResult,
    grader_error,
    not_gradable,
)
from softmark.records.verdict import Category, Verdict
from softmark.sandbox.failures import GraderFault, SandboxLost
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.room import fitting
from softmark.sandbox.wire.protocol import UsedDevice

_NAMING_OF_A_PART = 2.0  # seconds of processor time that looking for the names of a part's mistakes may take
_ENDLESS = "did not return, and was not run again"
_OF_DEVICE_MEMORY = 0.9
"""What all lanes together may take of a graphics card's memory; the rest is the driver's."""


class Judge:
    """The tests of one homework, ready for submissions."""

    def __init__(
        self, desk: Desk, items: list[pytest.Item], sandbox: Sandbox, setup: Setup, own_time: OwnTime | None = None
    ) -> None:
        if desk.homework is None:
            raise GraderFault("tests are judged before their homework is known")
        self._desk, self._sandbox, self._setup = desk, sandbox, setup
        self._own_time = own_time or OwnTime()
        self._endless: tuple[str, ...] = ()
        self._homework = desk.homework
        self._limits = fitting(Limits(**self._homework.limits), setup.lanes)  # type: ignore[arg-type]
        self._items: dict[str, list[pytest.Item]] = {spec.nodeid: [] for spec in desk.specs}
        for item in items:
            self._items[desk.spec_of(item).nodeid].append(item)
        self._provenance = provenance(self._homework, str(sandbox.level), setup.device)

    @property
    def device(self) -> str:
        """Where submissions run."""
        return self._setup.device

    def move_to(self, sandbox: Sandbox, note: Note | None, lane: int) -> None:
        """From now on submissions run in this sandbox, and this process is the judge of that lane."""
        self._sandbox = sandbox
        self._own_time = OwnTime(self._limits.test_seconds, note, lane)

    def pending(self) -> Result:
        """The result of second zero."""
        return pending(self._homework, self._desk.specs, Submission(), self._provenance)

    def grade(self, job: Job) -> Iterator[Result]:
        """The result so far, after each test; the last one is complete."""
        start = time.monotonic()
        self._endless = job.endless
        deadline = start + self._setup.budget_seconds if self._setup.budget_seconds else None
        handed = Handed(job.main, job.files, job.cells)
        device = UsedDevice(self._setup.device, _OF_DEVICE_MEMORY / self._setup.lanes)
        whole = self._limits.of_a_submission(sum(map(len, self._items.values())))
        settings = (deadline, device, whole, self._own_time)
        session = StudentSession(self._sandbox, handed, self._homework, self._limits, *settings)
        session.naming_budget = _NAMING_OF_A_PART if job.naming else 0.0
        result = msgspec.structs.replace(
            self.pending(), submission=job.submission, notes=job.notes, staff_notes=job.staff_notes
        )
        try:
            yield result
            self._own_time.begin("the beginning of a submission")
            for so_far in self._run(session, result):
                result = so_far
                self._own_time.stop()  # the reader may take its time
                yield so_far
        except NotLoadable as refusal:
            result = not_loadable(result, refusal, session)
        except Exception as fault:  # a fault of the grader; a class goes on with the next submission
            result = grader_error(result, explained(fault))
        finally:
            unclosed = _close(session)
            self._own_time.stop()
        result = msgspec.structs.replace(result, staff_notes=(*result.staff_notes, *unclosed))
        yield self._closed(result, session, time.monotonic() - start)

    def _run(self, session: StudentSession, result: Result) -> Iterator[Result]:
        """The tests part by part. A fault of the grader in one part leaves the others their marks."""
        session.load()
        for _, group in groupby(self._desk.specs, key=lambda spec: spec.part):
            specs = tuple(group)
            try:
                for so_far in self._part(specs, session, result):
                    result = so_far
                    yield result
            except (SandboxLost, NotLoadable):
                raise
            except Exception as fault:
                result = result.with_test(*(_not_judged(spec, explained(fault)) for spec in specs))
                yield result
                session.renew()

    def _part(self, specs: Sequence[TestSpec], session: StudentSession, result: Result) -> Iterator[Result]:
        """The tests of one part; when it is finished, its mistakes are named and its tests rewritten."""
        tests = {spec: [self._left_out(item) for item in self._cases(spec) if self._hangs(item)] for spec in specs}
        for trial in self._desk.judge_all(self._in_time(specs, session), session):
            tests[trial.spec].append(trial)
            if self._setup.progress and len(tests[trial.spec]) == len(trial.spec.cases):
                result = result.with_test(_finished(trial.spec, tests[trial.spec]))
                yield result
        for spec, trials in tests.items():
            trials.sort(key=lambda trial: spec.cases.index(trial.name))  # whichever was judged first
        judged, names = [trial for trials in tests.values() for trial in trials], naming(specs[0].part)
        if names not in self._endless:
            self._own_time.begin(names)
            self._desk.name_mistakes(judged)
        elif any(trial.failed for trial in judged):  # a failure may be worth something by its name
            raise GraderFault(f"{names} {_ENDLESS}")
        yield result.with_test(*(_finished(s, trials) if trials else _not_run(s) for s, trials in tests.items()))

    def _in_time(self, specs: Sequence[TestSpec], session: StudentSession) -> Iterator[pytest.Item]:
        """The cases of tests that are begun before the time for the whole submission is used up."""
        step = -1 if self._setup.backwards else 1
        for spec in specs[::step]:
            if not session.out_of_time:
                yield from (item for item in self._cases(spec)[::step] if not self._hangs(item))

    def _cases(self, spec: TestSpec) -> list[pytest.Item]:
        return self._items[spec.nodeid]

    def _hangs(self, item: pytest.Item) -> bool:
        """Whether this test did not return before, for this submission or for too many."""
        return any(what.partition("[")[0] == running(base_nodeid(item)) for what in self._endless)

    def _left_out(self, item: pytest.Item) -> Trial:
        return faulty(self._desk.spec_of(item), item, f"it {_ENDLESS}")

    def _closed(self, result: Result, session: StudentSession, seconds: float) -> Result:
        out, err = session.printed()
        return msgspec.structs.replace(
            result,
            notes=(*result.notes, *_notes(result, session)),
            staff_notes=(*result.staff_notes, *_staff_notes(session)),
            printed=Excerpt(stdout=out, stderr=err),
            seconds=seconds,
            cpu_seconds=session.cpu_seconds,
        )


def not_loadable(result: Result, refusal: NotLoadable, session: StudentSession) -> Result:
    """The result of a submission that could not be loaded: why, and where in the student's own lines."""
    failure = refusal.failure
    own = own_frames(failure.raised.frames, session) if failure.raised is not None else ()
    reason = f"{session.handed.main} could not be loaded: {failure.fact}"
    if failure.detail:
        reason += f" ({failure.detail})"
    return not_gradable(result, reason, own)


def _finished(spec: TestSpec, trials: list[Trial]) -> TestResult:
    cases = {trial.name: trial.result() for trial in trials}
    values = [trial.leaderboard_value for trial in trials if trial.leaderboard_value is not None]
    return finished_test(spec, cases, values[-1] if values else None)


def _not_judged(spec: TestSpec, why: str) -> TestResult:
    return finished_test(spec, {name: not_judged(name, why) for name in spec.cases})


def _not_run(spec: TestSpec) -> TestResult:
    verdict = Verdict(category=Category.TIMEOUT, fact=OUT_OF_TIME)
    return finished_test(
        spec, {name: CaseResult(id=name, outcome=Outcome.FAILED, verdicts=(verdict,)) for name in spec.cases}
    )


def _notes(result: Result, session: StudentSession) -> tuple[str, ...]:
    """What a notebook's cells give to say, and how they are numbered if any is named."""
    notes = session.cells.notes
    verdicts = [verdict for test in result.tests for verdict in test.verdicts]
    places = [frame.file for frame in (*result.reason_frames, *(f for verdict in verdicts for f in verdict.frames))]
    named = notes or not set(session.handed.cells).isdisjoint(places)
    own = (*((COUNTED,) if session.handed.cells else ()), *notes) if named else ()
    return (*own, session.handed.note) if session.handed.note else own


def _close(session: StudentSession) -> tuple[str, ...]:
    """End the submission's process; returns what staff should know if that fails."""
    try:
        session.close()
    except Exception as fault:  # all that was earned has been recorded
        return (explained(fault),)
    return ()


def _staff_notes(session: StudentSession) -> Iterator[str]:
    yield from session.unfit
    for name, file, line in session.mentions:
        place = f"in {file}, line {line}" if session.handed.cells else f"on line {line}"
        yield f"mentions {name} {place} (a mention is no verdict: uses are caught when they run)"
    if session.left_behind:
        yield f"left {session.left_behind} processes behind, which were killed"

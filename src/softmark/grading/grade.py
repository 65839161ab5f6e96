"""Grades one submission with the collected tests of a homework: case by case, part by part.

`softmark grade`, plain pytest and `softmark check` use these functions, so they give the same verdicts and names.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

import msgspec
import pytest

from softmark.course.pending import finished_test, pending
from softmark.course.testspecs import TestSpec, base_nodeid, case_id
from softmark.grading.case_run import CaseRun, explained, faulty, not_judged
from softmark.grading.changed_inputs import charge_changes
from softmark.grading.closing import closed, not_loadable
from softmark.grading.collected_tests import Tests
from softmark.grading.excuses import Excuse, LostMarks, judge_again
from softmark.grading.job import Job
from softmark.grading.origins import with_origins
from softmark.grading.own_time import OwnTime, naming, running
from softmark.grading.repairs import FailedPart, RepairSearch
from softmark.grading.repeat import repeat
from softmark.grading.session import NotLoadable, StudentSession, seed_of
from softmark.grading.submission_time import OUT_OF_TIME, TimeLimits
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Limits
from softmark.records.result import (
    CaseResult,
    Outcome,
    Provenance,
    Result,
    TestResult,
    grader_error,
)
from softmark.records.verdict import Category, Repair, Verdict
from softmark.sandbox.failures import GraderFault, SandboxLost
from softmark.sandbox.own_machine import Sandbox
from softmark.sandbox.wire.protocol import UsedDevice
from softmark.verdict.context import TestContext
from softmark.verdict.mistakes import Mistake

_ENDLESS = "did not return, and was not run again"
_OF_DEVICE_MEMORY = 0.9
"""The share of a graphics card's memory for all lanes together; the rest is the driver's."""


@dataclass(frozen=True)
class Conditions:
    """The place and the limits in which submissions are graded."""

    sandbox: Sandbox
    limits: Limits
    device: str = "cpu"
    lanes: int = 1
    """The number of submissions at the same time: they share the memory of the device."""
    budget_seconds: float | None = None
    """The time on the clock that one submission may take altogether."""
    own_time: OwnTime = field(default_factory=OwnTime)
    provenance: Provenance = field(default_factory=Provenance)
    edits: Sandbox | None = None
    """The place where edits of a submission are tried; None if that is the same place."""


def judge_case(tests: Tests, item: pytest.Item, session: StudentSession) -> CaseRun:
    """Run one case. A failure counts only in a worker that ran nothing but this part; else the case is run again."""
    run = _run_case(tests, session, item)
    if (run.failed or run.context.changed) and not (tests.public or (session.pure and run.context.described)):
        session.renew()
        run = _run_case(tests, session, item)
    for error in run.errors:
        if isinstance(error, SandboxLost):
            raise error
    if any(verdict.diagnosed and not verdict.causes for verdict in run.verdicts):
        session.wrong.unexplained.add(run.spec.nodeid)
    if run.context.steady:
        session.wrong.steady.add(run.spec.nodeid)
    if run.fault is not None and run.may_be_unfit and session.answers:
        if tests.public:
            run.unfit = explained(run.fault)
        elif _reference_passes(tests, item, session):
            cause = "that came of this submission's answer: with the reference the test passes"
            run.unfit = f"{explained(run.fault)}; {cause}"
            session.wrong.unfit.append(f"{run.spec.number}: {run.unfit}")
    return run


def _run_case(tests: Tests, session: StudentSession, item: pytest.Item, slips: tuple[Mistake, ...] = ()) -> CaseRun:
    spec = tests.spec_of[base_nodeid(item)]
    shown = spec.visibility == "visible"
    session.own_time.begin(running(item.nodeid))
    session.begin(spec.part, item.nodeid, shown=shown)
    counts = tests.public or session.leaves_pure(spec.part, shown=shown)  # else a failure is judged again
    context = TestContext(
        item.nodeid,
        seed_of(item.nodeid),
        mistakes=tests.mistakes,
        # a case that also fails with stand-ins keeps its first words
        described=counts and session.wrong.describing and session.answering is None,
        naming=counts and session.wrong.naming and spec.nodeid not in session.wrong.unexplained,
        pairs=session.wrong.pairs[spec.part],
        steady=not counts or spec.nodeid in session.wrong.steady,
        before_mistake=session.own_time.begin_anew,
        slips=slips,
        keeps_call=tests.public,
    )
    run = CaseRun(spec, context)
    steps = tests.repeats.steps(item.nodeid) if tests.repeats is not None else None
    if steps is not None:
        repeat(steps, item, run, session)
    else:
        context.steps = [] if tests.repeats is not None else None
        tests.runner.run_case(item, run, session)
        if tests.repeats is not None:
            tests.repeats.learn(item.nodeid, run, session)
    run.answers = session.answers
    if tests.public:
        run.printed = session.take_printed()
    return run


def _reference_passes(tests: Tests, item: pytest.Item, session: StudentSession) -> bool:
    """Return whether a case passes with the reference. If so, it stumbled over the submission's answer."""
    homework = tests.homework
    if not homework.reference.is_file():
        return False
    if item.nodeid not in tests.right_with_reference:
        session.renew()  # a sandbox has one student process at a time
        files = SubmittedFiles(homework.file, {homework.file: homework.reference.read_bytes()})
        of_reference = session.of_another(files)
        of_reference.wrong.naming = False
        try:
            run = _run_case(tests, of_reference, item)
        finally:
            of_reference.close()
        if run.failed or run.fault is not None:
            return False
        tests.right_with_reference.add(item.nodeid)
    return True


def _judge_cases(
    tests: Tests, items: Iterator[pytest.Item], session: StudentSession, excuse: Excuse | None
) -> Iterator[CaseRun]:
    """Yield the runs of one part's cases. Failed cases that earlier parts may excuse come last."""
    failed = []
    for item in items:
        run = judge_case(tests, item, session)
        if excuse is not None and run.may_be_excused:
            failed.append((item, run))
        else:
            yield run
    if excuse is not None and failed:
        run_again = partial(_run_case, tests, session)
        yield from judge_again(failed, excuse, tests.homework, tests.mistakes, session, run_again)


def grade_part(
    tests: Tests,
    specs: Sequence[TestSpec],
    session: StudentSession,
    job: Job,
    lost: LostMarks,
    *,
    search: RepairSearch | None = None,
    progress: bool = False,
) -> Iterator[tuple[TestResult, ...]]:
    """Yield the results of one part's tests, when all have run and their mistakes are named. Note lost marks in `lost`.

    With `progress`, also yield the result of each test as soon as it has run.
    """
    cases = {spec: tests.items.get(spec.nodeid, ()) for spec in specs}
    runs = {
        spec: [faulty(spec, item, f"it {_ENDLESS}") for item in items if _is_endless(item, job)]
        for spec, items in cases.items()
    }
    step = -1 if tests.backwards else 1

    def in_time() -> Iterator[pytest.Item]:
        for spec in specs[::step]:
            told = job.until_wrong and any(run.answers_wrongly for group in runs.values() for run in group)
            if not (session.time.is_up or told):
                yield from (item for item in cases[spec][::step] if not _is_endless(item, job))

    excuse = None if tests.public else lost.excuse(tests.homework, specs[0].part)
    for run in _judge_cases(tests, in_time(), session, excuse):
        runs[run.spec].append(run)
        if progress and len(runs[run.spec]) == len(cases[run.spec]):
            yield (_test_result(run.spec, runs[run.spec]),)
    for group in runs.values():
        group.sort(key=lambda run: run.spec.cases.index(run.name))  # they may have run in another order
    part = [run for group in runs.values() for run in group]
    if not tests.public:
        charge_changes(tests.homework, specs[0].part, part)
    what = naming(specs[0].part)
    if what not in job.endless:
        session.own_time.begin(what)
        tests.name_part(part)
    elif any(run.failed for run in part):  # the name of a mistake may leave a share of the marks
        raise GraderFault(f"{what} {_ENDLESS}")
    distrusted = lost.functions(tests.homework)
    lost.note(specs[0].part, part)
    results = tuple(
        _test_result(spec, group) if group or not cases[spec] else _not_run(spec) for spec, group in runs.items()
    )
    repair = _repair(tests, runs, search, excuse, distrusted) if search is not None else None
    yield tuple(_with_repair(result, repair) for result in results)


def _repair(
    tests: Tests,
    runs: Mapping[TestSpec, Sequence[CaseRun]],
    search: RepairSearch,
    excuse: Excuse | None,
    distrusted: Collection[str],
) -> Repair | None:
    """Return the line where a small edit makes all tests of a part pass, if they have no other explanation."""
    part = next(known for known in tests.homework.parts if known.number == next(iter(runs)).part)
    judged = [run for group in runs.values() for run in group]
    items = {(spec, case_id(item)): item for spec in runs for item in tests.items.get(spec.nodeid, ())}
    if len(items) != len(judged) or not search.is_wanted:
        return None
    slips = excuse.repeatable(tests.mistakes) if excuse is not None else ()
    cases = [items[run.spec, run.name] for run in judged]
    failed = FailedPart(part, judged, cases, distrusted=frozenset(distrusted))
    if excuse is not None:
        distrusted = frozenset(distrusted) - excuse.functions.keys()
        failed = replace(failed, distrusted=distrusted, answering=partial(excuse.answering, tests.homework))
    own = {name.partition(".")[0] for name in part.functions}
    if not failed.is_unexplained or not own.isdisjoint(distrusted):
        return None
    return search.repair(failed, lambda session, item: _run_case(tests, session, item, slips))


def _with_repair(result: TestResult, repair: Repair | None) -> TestResult:
    wrong = result.outcome is Outcome.FAILED and result.verdicts
    return msgspec.structs.replace(result, repair=repair) if wrong and repair is not None else result


def _is_endless(item: pytest.Item, job: Job) -> bool:
    """Return whether the test of this case has hung before, for this submission or for several others."""
    return any(what.partition("[")[0] == running(base_nodeid(item)) for what in job.endless)


def grade_submission(tests: Tests, conditions: Conditions, job: Job, *, progress: bool = False) -> Generator[Result]:
    """Yield the result so far: before the first test, after each part (with `progress` after each test), at the end.

    A fault of the grader costs only the part in which it happens.
    """
    start = time.monotonic()
    session, lost = _session(tests, conditions, job, start), LostMarks(tests.incomplete)
    search = _search(tests, conditions, job, session)
    result = job.result(pending(tests.homework, tests.specs, job.submission, conditions.provenance))
    try:
        yield result
        conditions.own_time.begin("the beginning of a submission")
        for so_far in _graded_parts(tests, session, job, lost, result, search, progress):
            result = so_far
            conditions.own_time.stop()  # the reader's time does not count
            yield so_far
    except NotLoadable as refusal:
        result = not_loadable(result, refusal, session)
    except Exception as fault:  # a fault of the grader; a class goes on with the next submission
        result = grader_error(result, explained(fault))
    finally:
        unclosed = _close(session)
        conditions.own_time.stop()
    result = msgspec.structs.replace(result, staff_notes=(*result.staff_notes, *unclosed))
    if not tests.public:
        result = with_origins(result, job.files, tests.homework)
    yield closed(result, session, lost.assumed, time.monotonic() - start)


def _session(tests: Tests, conditions: Conditions, job: Job, start: float) -> StudentSession:
    limits, budget = conditions.limits, conditions.budget_seconds
    whole_seconds = limits.of_a_submission(sum(map(len, tests.items.values())))
    session = StudentSession(
        conditions.sandbox,
        job.files,
        tests.homework,
        TimeLimits(limits, start + budget if budget else None, whole_seconds, conditions.own_time),
        UsedDevice(conditions.device, _OF_DEVICE_MEMORY / conditions.lanes),
    )
    session.wrong.naming = job.naming
    return session


def _search(tests: Tests, conditions: Conditions, job: Job, session: StudentSession) -> RepairSearch | None:
    """Return the search for repairs; None if nobody wants it, or if edits would have to run in this very process."""
    place = conditions.edits or (conditions.sandbox if session.can_be_asked else None)
    if not job.repairs or place is None:
        return None
    return RepairSearch(tests.homework, session, place, public=tests.public)


def _graded_parts(
    tests: Tests,
    session: StudentSession,
    job: Job,
    lost: LostMarks,
    result: Result,
    search: RepairSearch | None,
    progress: bool,
) -> Iterator[Result]:
    session.load()
    for part, group in groupby(tests.specs, key=lambda spec: spec.part):
        if job.parts and part not in job.parts:
            continue
        specs = tuple(group)
        try:
            for finished in grade_part(tests, specs, session, job, lost, search=search, progress=progress):
                result = result.with_test(*finished)
                yield result
        except (SandboxLost, NotLoadable):
            raise
        except Exception as fault:
            lost.note(specs[0].part, ())
            result = result.with_test(*(_not_judged(spec, explained(fault)) for spec in specs))
            yield result
            session.renew()


def _test_result(spec: TestSpec, runs: Sequence[CaseRun]) -> TestResult:
    cases = {run.name: run.result() for run in runs}
    values = [run.leaderboard_value for run in runs if run.leaderboard_value is not None]
    return finished_test(spec, cases, values[-1] if values else None)


def _not_judged(spec: TestSpec, why: str) -> TestResult:
    return finished_test(spec, {name: not_judged(name, why) for name in spec.cases})


def _not_run(spec: TestSpec) -> TestResult:
    verdict = Verdict(Category.TIMEOUT, OUT_OF_TIME)
    case = CaseResult(id="", outcome=Outcome.FAILED, verdicts=(verdict,))
    return finished_test(spec, {name: msgspec.structs.replace(case, id=name) for name in spec.cases})


def _close(session: StudentSession) -> tuple[str, ...]:
    """End the submission's process. Return a note for staff if that fails."""
    try:
        session.close()
    except Exception as fault:  # all that was earned has been recorded
        return (explained(fault),)
    return ()

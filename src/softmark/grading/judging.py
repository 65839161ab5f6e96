"""Grades one submission after another: every test in the fixed order, a Result after each."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
import torch

from softmark.grading.desk import Desk
from softmark.grading.marks import case_id
from softmark.grading.messages import Job, Setup
from softmark.grading.result import (
    CaseResult,
    Excerpt,
    FrameData,
    Outcome,
    Provenance,
    Result,
    Status,
    Submission,
    VerdictData,
    finished_test,
    pending,
    refused,
)
from softmark.grading.session import Handed, NotLoadable, StudentSession
from softmark.grading.student import own_frames
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.limits import Limits
from softmark.sandbox.machine import fitting

_OUT_OF_TIME = "not run: the time for the whole submission was used up"


class Judge:
    """The tests of one homework, ready for submissions."""

    def __init__(self, desk: Desk, items: list[pytest.Item], sandbox: Sandbox, setup: Setup) -> None:
        if desk.homework is None:
            raise GraderFault("tests are judged before their homework is known")
        self._desk, self._sandbox, self._setup = desk, sandbox, setup
        self._homework = desk.homework
        self._limits = fitting(Limits(**self._homework.limits))  # type: ignore[arg-type]
        self._items: dict[str, list[pytest.Item]] = {spec.nodeid: [] for spec in desk.specs}
        for item in items:
            self._items[desk.spec_of(item).nodeid].append(item)
        self._provenance = self._find_provenance()

    def pending(self) -> Result:
        """The result of second zero."""
        return pending(self._homework, self._desk.specs, Submission(), self._provenance)

    def grade(self, job: Job) -> Iterator[Result]:
        """The result so far, after each test; the last one is complete."""
        start = time.monotonic()
        deadline = start + self._setup.budget_seconds if self._setup.budget_seconds else None
        handed = Handed(job.main, job.files)
        session = StudentSession(self._sandbox, handed, self._homework, self._limits, deadline)
        result = msgspec.structs.replace(self.pending(), submission=job.submission, notes=job.notes)
        try:
            yield result
            for so_far in self._run(session, result):
                result = so_far
                yield so_far
        except NotLoadable as refusal:
            result = self._not_gradable(result, refusal, session)
        except GraderFault as fault:
            result = msgspec.structs.replace(
                result, status=Status.GRADER_ERROR, staff_notes=(*result.staff_notes, str(fault))
            )
        finally:
            session.close()
        yield self._closed(result, session, time.monotonic() - start)

    def _run(self, session: StudentSession, result: Result) -> Iterator[Result]:
        session.load()
        for spec in self._desk.specs:
            cases: dict[str, CaseResult] = {}
            for item in self._items[spec.nodeid]:
                name = case_id(item)
                cases[name] = self._case(item, session)
            result = result.with_test(finished_test(spec, cases, self._desk.leaderboard_value))
            yield result

    def _case(self, item: pytest.Item, session: StudentSession) -> CaseResult:
        if session.out_of_time:
            verdict = VerdictData(category="timeout", fact=_OUT_OF_TIME)
            return CaseResult(id=case_id(item), outcome=Outcome.FAILED, verdicts=(verdict,))
        return self._desk.judge(item, session)

    def _not_gradable(self, result: Result, refusal: NotLoadable, session: StudentSession) -> Result:
        failure = refusal.failure
        own = own_frames(failure.raised.frames, session) if failure.raised is not None else ()
        reason = f"{self._homework.file} could not be loaded: {failure.fact}"
        if failure.detail:
            reason += f" ({failure.detail})"
        frames = tuple(FrameData(file=f.file, line=f.line, function=f.function, text=f.text) for f in own)
        return refused(result, reason, frames)

    def _closed(self, result: Result, session: StudentSession, seconds: float) -> Result:
        out, err = session.printed()
        return msgspec.structs.replace(
            result,
            staff_notes=(*result.staff_notes, *_staff_notes(session)),
            printed=Excerpt(stdout=out, stderr=err),
            seconds=seconds,
            cpu_seconds=session.cpu_seconds,
        )

    def _find_provenance(self) -> Provenance:
        return Provenance(
            isolation=str(self._sandbox.level),
            softmark=version("softmark"),
            torch=str(torch.__version__),
            python=platform.python_version(),
            tests_sha256=_hash(sorted(self._homework.folder.glob("*.[pt]*"))),
            reference_sha256=_hash([self._homework.reference]),
        )


def _staff_notes(session: StudentSession) -> Iterator[str]:
    for name, line in session.mentions:
        yield f"mentions {name} on line {line} (a mention is no verdict: uses are caught when they run)"
    if session.left_behind:
        yield f"left {session.left_behind} processes behind, which were killed"


def _hash(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()

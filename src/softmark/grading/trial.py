"""Runs one hidden test, one case of it, against one submission; says what came of it.

Whose fault a failure is, is decided here and nowhere else:

* `Failed` (from `agree`, a property or the student proxy) and a failing plain `assert` are the student's;
* everything else a test raises is the grader's: the reference raised, a test is broken, a process could not be had.
  A skip too: a test that may vanish is no part of a fixed list. None of that may look like a student's zero;
* but a test that has heard an answer, stumbles, and passes with the reference (desk.py) stumbles over that answer. Else
  a student could choose a fault of the grader, which costs no marks, by returning what a test does not expect.
"""

from __future__ import annotations

import contextlib
import math
import time
import traceback
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from _pytest.runner import runtestprotocol

from softmark.course.testspecs import TestSpec, case_id
from softmark.grading.setters import SetterError, Spoken
from softmark.records.points import FULL, share_of_case
from softmark.records.result import CaseResult, Outcome
from softmark.records.verdict import LONGEST_TEXT, Category, Failed, Verdict
from softmark.sandbox.failures import GraderFault, UnsendableRequest
from softmark.verdict.context import TestContext, activate

_OWN_MESSAGE = 500
_EVASIONS = (pytest.skip.Exception, pytest.xfail.Exception)


@dataclass
class Trial:
    """What is heard while one case of a test runs, once."""

    spec: TestSpec
    case: TestContext
    name: str = ""
    seconds: float = 0.0
    spoken: Spoken | None = None
    leaderboard_value: float | str | None = None
    raised: list[BaseException | None] = field(default_factory=list)
    """What each subtest raised, in order, and last the test itself (its fixtures belong to it); None: nothing."""
    subtests: list[str] = field(default_factory=list)
    unfit: bool = False
    """Whether the fault is known to come of the answer."""

    def hear(self, call: pytest.CallInfo[Any]) -> None:
        error = call.excinfo.value if call.excinfo is not None else None
        if call.when == "call" or error is not None:
            self.raised.append(error)

    @property
    def errors(self) -> list[BaseException]:
        return [error for error in self.raised if error is not None]

    @property
    def failed(self) -> bool:
        return bool(self.errors)

    @property
    def fault(self) -> BaseException | None:
        """The first thing that went wrong and that is, as it looks, no failure of the student's."""
        faults = [error for error in self.errors if not _is_students(error)]
        try:
            _share(self)
            _leaderboard_value(self)
        except SetterError as error:
            faults.append(error)
        return faults[0] if faults else None

    @property
    def may_be_unfit(self) -> bool:
        """Whether the fault may come of an answer. What the sandbox or the machine lacks does not."""
        fault = self.fault
        if isinstance(fault, GraderFault):
            return isinstance(fault, UnsendableRequest)
        return fault is not None and not isinstance(fault, OSError | MemoryError)

    @property
    def unfit_words(self) -> str:
        """The fault in words for staff, when the answer is known to have caused it."""
        fault = self.fault
        said = "" if fault is None else explained(fault)
        return f"{said}; that came of this submission's answer: with the reference the test passes"

    def result(self) -> CaseResult:
        return _judge(self)


def run(item: pytest.Item, trial: Trial) -> Trial:
    """Run the test as pytest does, fixtures and all; the desk's hooks tell the trial what happens."""
    trial.name = case_id(item)
    start = time.monotonic()
    with activate(trial.case):
        runtestprotocol(item, log=False)
    for error in trial.errors:
        _let_go(error)
    trial.seconds = time.monotonic() - start
    return trial


def faulty(spec: TestSpec, item: pytest.Item, why: str) -> Trial:
    """Return the trial of a case that was not run because of a fault of the grader."""
    return Trial(spec, TestContext(item.nodeid), name=case_id(item), raised=[GraderFault(why)])


def _let_go(error: BaseException) -> None:
    """Forget the variables of every frame that an exception passed through: they hold the student's answers."""
    unseen, seen = [error], set[int]()
    while unseen:
        error = unseen.pop()
        seen.add(id(error))
        for frame, _ in traceback.walk_tb(error.__traceback__):
            with contextlib.suppress(RuntimeError):  # it is still running
                frame.clear()
                frame.f_locals  # noqa: B018 - pytest has looked here, which keeps a copy of the variables: renew it
        unseen += [other for other in (error.__cause__, error.__context__) if other and id(other) not in seen]


def _judge(trial: Trial) -> CaseResult:
    fault = trial.fault
    if fault is not None:
        return _unfit(trial) if trial.unfit else _grader_error(trial, fault)
    share = _share(trial)
    trial.leaderboard_value = _leaderboard_value(trial)
    labels = [*trial.subtests, *[""] * len(trial.raised)]
    verdicts = tuple(
        _verdict_of_error(error, label, trial.spec)
        for error, label in zip(trial.raised, labels, strict=False)
        if error is not None
    )
    # Only double precision is promised a distance of a hundred; there is no room for it in fewer digits.
    checks = [check for check in trial.case.checks if check.double and math.isfinite(check.ratio)]
    ratios = [(check.ratio, check.category) for check in checks]
    return CaseResult(
        id=trial.name,
        outcome=Outcome.FAILED if verdicts else Outcome.PASSED,
        share=str(share),
        verdicts=verdicts,
        carried=tuple(trial.case.carried),
        seconds=trial.seconds,
        accepted=max((ratio for ratio, category in ratios if category is None), default=0.0),
        refused=min((ratio for ratio, category in ratios if category is Category.VALUE), default=None),
    )


def _share(trial: Trial) -> Fraction:
    """What the case earns: what the test set itself, else its subtests' mean, else all or nothing."""
    chosen = trial.spoken.share(trial.spec) if trial.spoken is not None else None
    if chosen is not None:
        return chosen
    *subtests, body = trial.raised
    if body is not None:
        return Fraction(str(_worth(body)))
    return share_of_case([FULL if error is None else Fraction(str(_worth(error))) for error in subtests])


def _leaderboard_value(trial: Trial) -> float | str | None:
    return None if trial.spoken is None else trial.spoken.leaderboard_value(trial.spec)


def _is_students(error: BaseException) -> bool:
    """AssertionError covers `Failed` and a test's own assert; pytest.fail is an assert in other words."""
    return isinstance(error, AssertionError | pytest.fail.Exception) and not isinstance(error, _EVASIONS)


def _worth(error: BaseException) -> float:
    """Part of the marks that the instructor gives in spite of a named mistake."""
    if isinstance(error, Failed) and error.verdict.causes:
        return min(cause.worth for cause in error.verdict.causes)
    return 0.0


def explained(error: BaseException) -> str:
    """Return why a test could not be judged, for staff; an exception's own words may be an answer, and are cut."""
    said = str(error)[:LONGEST_TEXT]
    if isinstance(error, _EVASIONS):
        return f"the hidden test skipped itself ({said}); a test that is on the list must run"
    if isinstance(error, GraderFault | SetterError):
        return said
    return f"the hidden test or the reference raised {type(error).__name__}: {said} ({_place(error)})"


def not_judged(case: str, why: str, seconds: float = 0.0) -> CaseResult:
    """Return the result of a case that the grader failed to judge; `why` is for staff."""
    fact = "this test could not be judged because of an error of the grader, not of yours"
    verdict = Verdict(category=Category.GRADER, fact=fact, staff=why)
    return CaseResult(id=case, outcome=Outcome.GRADER_ERROR, verdicts=(verdict,), seconds=seconds)


def _grader_error(trial: Trial, error: BaseException) -> CaseResult:
    return not_judged(trial.name, explained(error), trial.seconds)


def _unfit(trial: Trial) -> CaseResult:
    fact = "what your code returned does not fit what this test does with it: is it of the right type and shape?"
    verdict = Verdict(category=Category.TYPE, fact=fact, staff=trial.unfit_words)
    return CaseResult(id=trial.name, outcome=Outcome.FAILED, verdicts=(verdict,), seconds=trial.seconds)


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "no traceback"


def _verdict_of_error(error: BaseException, subtest: str, spec: TestSpec) -> Verdict:
    if isinstance(error, Failed):
        return msgspec.structs.replace(error.verdict, subtest=subtest)
    message = str(error).strip()[:_OWN_MESSAGE]
    if spec.visibility == "visible" and message:  # whoever sees all of a test need not be told first that it failed
        words, _, rest = message.partition("\n")
        return Verdict(category=Category.VALUE, fact=words, where=rest, subtest=subtest)
    return Verdict(category=Category.VALUE, fact="a check of this test does not hold", where=message, subtest=subtest)

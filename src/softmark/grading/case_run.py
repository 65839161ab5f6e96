"""Holds the outcome of one run of one case of a test, and decides whose fault a failure is.

Only this module decides that:

* `Failed` (from `agree`, a property or `student`) and a failing plain `assert` are failures of the student's.
* Every other exception of a test is a fault of the grader: the reference raised, a test is broken, a process could not
  be started. So is a skip, because a test on the fixed list must not vanish. A student must not get a zero for these.
* If a test raises another exception because of an answer, but passes with the reference, it has stumbled over the
  answer. Then the failure is the student's (grade.py). Otherwise a student could cause a fault of the grader, which
  costs no marks, by an answer that no test expects.
"""

from __future__ import annotations

import contextlib
import math
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import msgspec
import pytest

from softmark.course.testspecs import TestSpec, case_id
from softmark.grading.setters import CapturedSetters, SetterError
from softmark.records.points import FULL, share_of_case
from softmark.records.result import CaseResult, Outcome
from softmark.records.verdict import LONGEST_TEXT, Category, Cause, Failed, FailedCall, Verdict
from softmark.sandbox.failures import GraderFault, UnsendableRequest
from softmark.verdict.context import TestContext
from softmark.verdict.mistakes import Registry
from softmark.verdict.naming import common_causes

_OWN_MESSAGE = 500
_EVASIONS = (pytest.skip.Exception, pytest.xfail.Exception)


@dataclass
class CaseRun:
    """One run of one case of a test, with all exceptions and values that the run has brought."""

    spec: TestSpec
    context: TestContext
    name: str = ""
    seconds: float = 0.0
    setters: CapturedSetters | None = None
    leaderboard_value: float | str | None = None
    raised: list[BaseException | None] = field(default_factory=list)
    """The exception of each subtest, in order, and last the exception of the test itself; None if it passed."""
    subtests: list[str] = field(default_factory=list)
    unfit: str = ""
    """For staff: how the test stumbled over an answer. Empty if it did not, or if the answer is not to blame."""
    given: tuple[str, ...] = ()
    """The earlier parts for which the reference answered."""
    same_slip_as: tuple[str, ...] = ()
    """The earlier parts whose named slip the answer repeats."""
    charged: bool = False
    """True if the case earns nothing, because its part changes inputs in place."""
    answers: int = 0
    """The number of answers that the test has received."""
    printed: str = ""
    """The output of the student's code, where it is caught test by test."""
    call: FailedCall | None = None
    """The call behind the failure, where a student may know it."""
    causes: tuple[Cause, ...] | None = None
    """The causes of the wrong answers of the test, once all tests of the part have run; None before."""
    irregular: frozenset[str] = frozenset()
    """The codes of failures whose regularity is not mentioned, because the part's failures differ in it."""

    @property
    def errors(self) -> list[BaseException]:
        """All exceptions."""
        return [error for error in self.raised if error is not None]

    @property
    def failed(self) -> bool:
        """True if there is an exception."""
        return bool(self.errors)

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of its failed checks."""
        return [self.settled(error.verdict) for error in self.errors if isinstance(error, Failed)]

    def settled(self, verdict: Verdict) -> Verdict:
        """Return a verdict as the student reads it: with the causes and the regularities of the whole part."""
        if verdict.code in self.irregular:
            verdict = verdict.without_clause()
        if self.causes is None or not verdict.diagnosed:
            return verdict
        return msgspec.structs.replace(verdict, causes=self.causes, diagnosed=bool(self.causes))

    @property
    def fault(self) -> BaseException | None:
        """The first exception that does not look like a failure of the student's; None if there is none."""
        faults = [error for error in self.errors if not _is_students(error)]
        try:
            _share(self)
            _leaderboard_value(self)
        except SetterError as error:
            faults.append(error)
        return faults[0] if faults else None

    @property
    def may_be_unfit(self) -> bool:
        """True if an answer may have caused the fault. It cannot have caused a fault of the sandbox or the machine."""
        fault = self.fault
        if isinstance(fault, GraderFault):
            return isinstance(fault, UnsendableRequest)
        return fault is not None and not isinstance(fault, OSError | MemoryError)

    def forget_answers(self) -> None:
        """Forget the student's answers. The frames that an exception passed through have them in their variables."""
        for error in self.errors:
            _let_go(error)

    @property
    def lost_marks(self) -> bool:
        """True if the student's failure costs marks."""
        return bool(self.unfit) or (self.fault is None and _share(self) < FULL)

    @property
    def may_be_excused(self) -> bool:
        """True if the case has lost marks, or may lose them because inputs were changed."""
        return self.lost_marks or bool(self.context.changed)

    def charge(self, failure: Failed) -> None:
        """Make the case fail and earn nothing, whatever its test has found."""
        self.raised[-1] = failure
        self.charged = True

    @property
    def answers_wrongly(self) -> bool:
        """True if the student's failure costs marks, and is more than an exception of the student's code."""
        return self.lost_marks and any(verdict.category is not Category.ERROR for verdict in self.verdicts)

    def bettered(self, again: CaseRun, given: tuple[str, ...], same_slip_as: tuple[str, ...]) -> CaseRun:
        """Return the better one of two runs, or a mixture of both: in the other run, earlier parts were right.

        A subtest that fails in both keeps its first failure, because the second would show the reference's answers.
        """
        if again.fault is not None:
            return self
        if not self.lost_marks:
            clean = not again.failed and not again.context.changed
            return replace(again, given=given, same_slip_as=same_slip_as) if clean else self
        if not again.failed:
            better = again
        elif not self.unfit and self.subtests == again.subtests:
            pairs = zip(self.raised, again.raised, strict=True)
            better = replace(self, raised=[None if new is None else old for old, new in pairs])
        else:
            return self
        if not self.unfit and _share(better) <= _share(self):
            return self
        return replace(better, given=given, same_slip_as=same_slip_as)

    def result(self) -> CaseResult:
        """Return the result of the case."""
        return msgspec.structs.replace(self._judged(), printed=self.printed, call=self.call)

    def _judged(self) -> CaseResult:
        fault = self.fault
        if fault is None:
            return _judged(self)
        if self.unfit:
            return _unfit(self, fault)
        return not_judged(self.name, explained(fault), self.seconds)


def faulty(spec: TestSpec, item: pytest.Item, why: str) -> CaseRun:
    """Return the run of a case that was not run because of a fault of the grader."""
    return CaseRun(spec, TestContext(item.nodeid), name=case_id(item), raised=[GraderFault(why)])


def _judged(run: CaseRun) -> CaseResult:
    """Return the result of a case that ran without a fault of the grader."""
    share = _share(run)
    run.leaderboard_value = _leaderboard_value(run)
    labels = [*run.subtests, *[""] * len(run.raised)]
    verdicts = tuple(
        _verdict_of_error(error, label, run)
        for error, label in zip(run.raised, labels, strict=False)
        if error is not None
    )
    # Margins are recorded in double precision only: with fewer digits, no factor of a hundred fits between them.
    checks = [check for check in run.context.checks if check.double and math.isfinite(check.ratio)]
    ratios = [(check.ratio, check.category) for check in checks]
    return CaseResult(
        id=run.name,
        outcome=Outcome.FAILED if verdicts else Outcome.PASSED,
        share=str(share),
        verdicts=verdicts,
        unfollowed=tuple(run.context.unfollowed),
        given=run.given,
        same_slip_as=run.same_slip_as,
        seconds=run.seconds,
        accepted=max((ratio for ratio, category in ratios if category is None), default=0.0),
        refused=min((ratio for ratio, category in ratios if category is Category.VALUE), default=None),
    )


def _share(run: CaseRun) -> Fraction:
    """Return the share that the case earns: what the test set, else the mean of its subtests, else all or nothing."""
    if run.charged:
        return Fraction(0)
    chosen = run.setters.share(run.spec) if run.setters is not None else None
    if chosen is not None:
        return chosen
    *subtests, body = run.raised
    if body is not None:
        return _worth(body, run)
    return share_of_case([FULL if error is None else _worth(error, run) for error in subtests])


def _leaderboard_value(run: CaseRun) -> float | str | None:
    return None if run.setters is None else run.setters.leaderboard_value(run.spec)


def _is_students(error: BaseException) -> bool:
    """Return whether an exception is a failure of the student's.

    AssertionError covers `Failed` and a test's own assert. pytest.fail is an assert in other words.
    """
    return isinstance(error, AssertionError | pytest.fail.Exception) and not isinstance(error, _EVASIONS)


def _worth(error: BaseException, run: CaseRun) -> Fraction:
    """Return the share of the marks that a named mistake leaves."""
    causes = run.settled(error.verdict).causes if isinstance(error, Failed) else ()
    return Fraction(str(min((cause.worth for cause in causes), default=0.0)))


def explained(error: BaseException) -> str:
    """Return why a test could not be judged, for staff. An exception's message may contain an answer, and is cut."""
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


def _unfit(run: CaseRun, fault: BaseException) -> CaseResult:
    """Return the failure of a case whose test stumbled over the student's answer."""
    fact = "this test cannot use the answer of your code: does it have the right type and shape?"
    where = f"{type(fault).__name__}: {fault}" if run.spec.visibility == "visible" else ""
    verdict = Verdict(category=Category.TYPE, fact=fact, where=where, staff=run.unfit)
    return CaseResult(id=run.name, outcome=Outcome.FAILED, verdicts=(verdict,), seconds=run.seconds)


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "no traceback"


def _verdict_of_error(error: BaseException, subtest: str, run: CaseRun) -> Verdict:
    if isinstance(error, Failed):
        return msgspec.structs.replace(run.settled(error.verdict), subtest=subtest)
    message = str(error).strip()[:_OWN_MESSAGE]
    if run.spec.visibility == "visible" and message:  # students who see all of a test see that it failed
        words, _, rest = message.partition("\n")
        return Verdict(category=Category.VALUE, fact=words, where=rest, subtest=subtest)
    return Verdict(category=Category.VALUE, fact="a check of this test does not hold", where=message, subtest=subtest)


def name_part(runs: Sequence[CaseRun], registry: Registry) -> None:
    """Give each run of one part the causes that hold for its test, and the codes of failures without a regularity."""
    tests: dict[str, list[CaseRun]] = {}
    for run in runs:
        tests.setdefault(run.spec.nodeid, []).append(run)
    kinds = {(verdict.code, verdict.regularity) for run in runs for verdict in run.verdicts if verdict.regularity}
    irregular = frozenset(code for code, count in Counter(code for code, _ in kinds).items() if count > 1)
    shared = _causes(runs, runs, registry)
    for own in tests.values():
        causes = shared or _causes(own, runs, registry)
        for run in own:
            run.causes = causes
            run.irregular = irregular


def _causes(failed: Sequence[CaseRun], part: Sequence[CaseRun], registry: Registry) -> tuple[Cause, ...]:
    """Return the causes that explain these failures and that the rest of the part does not contradict."""
    excused = [run for run in part if run.given or run.same_slip_as]
    checks = [check for run in part if not (run.given or run.same_slip_as) for check in run.context.checks]
    made_again = [check for run in excused for check in run.context.checks]
    slips = {slip for run in excused for slip in run.context.slips}
    raised = [expected for run in part for expected in run.context.raised]
    verdicts = [verdict for run in failed for verdict in run.verdicts]
    causes = common_causes(verdicts, checks, registry, raised, made_again, slips)
    return tuple(cause for cause in causes if cause.direct) or causes


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

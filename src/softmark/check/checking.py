"""Runs a homework's public tests on a student's own work, in the student's own process.

The same proxy, the same checks and the same words as in grading, at isolation level `none`. Every public test counts
one. A test that meets a part which is not written yet has not failed: it was not run, and says what it waits for.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from softmark.check.earlier_parts import JudgedParts
from softmark.check.missing_imports import Foreign
from softmark.check.public_tests import TESTS, Handout
from softmark.course.homework import Homework
from softmark.course.pending import finished_test, pending
from softmark.course.testspecs import Declaration, TestSpec, base_nodeid, case_id
from softmark.engines.judging import not_loadable
from softmark.grading.apart import Apart
from softmark.grading.desk import Desk
from softmark.grading.session import NotLoadable, StudentSession
from softmark.grading.trial import Trial
from softmark.intake.submitted_files import Handed
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Limits
from softmark.records.result import CaseResult, Outcome, Result, Submission, TestResult
from softmark.records.verdict import Category, Code, Failed, Verdict
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.isolation import Sandbox
from softmark.verdict.diagnose import common_causes

# Nothing of pytest's that prints, leaves files, changes what breakpoint() does, or (unraisableexception) collects the
# garbage of all of torch twice.
_UNUSED = (
    *"terminal cacheprovider capture logging faulthandler junitxml pastebin doctest warnings debugging".split(),
    *"unraisableexception threadexception".split(),
)
_OPTIONS = (
    *("-c", os.devnull, "--noconftest", "--import-mode=importlib", "--assert=plain", "-p", "softmark.grading.plugin"),
    *(option for name in _UNUSED for option in ("-p", f"no:{name}")),
)
_STARTER_LINE = re.compile(r"raise NotImplementedError\b(?:\(\s*f?['\"]part ([\w.]+): ([\w.]+))?")


def run_public_tests(
    folder: Path,
    handout: Handout,
    handed: Handed,
    sandbox: Sandbox,
    part: str | None = None,
    foreign: Sequence[Foreign] = (),
) -> Result:
    """The result of a homework's public tests, all of them or one part's.

    `foreign` are the libraries that the student's code imports and grading lacks; the student is warned of them.
    """
    if part is not None and part not in {known.number for known in handout.parts}:
        numbers = ", ".join(known.number for known in handout.parts)
        raise UsageError(f"{handout.homework} has no part {part!r}; its parts are {numbers}.")
    tests = folder / TESTS
    if not tests.is_file():
        raise ConfigError(str(tests), 1, "there are no public tests; get the homework's folder anew")
    run = PublicTests(folder, handout, handed, sandbox, part, foreign)
    with _alone():
        pytest.main([*_OPTIONS, f"--rootdir={folder}", str(tests)], plugins=[run])
    return run.outcome()


class PublicTests(Desk):
    """The pytest plugin that runs them; it has the fixture `example` that they ask for."""

    def __init__(
        self,
        folder: Path,
        handout: Handout,
        handed: Handed,
        sandbox: Sandbox,
        part: str | None,
        foreign: Sequence[Foreign],
    ) -> None:
        super().__init__()
        self._folder, self._handout, self._handed, self._sandbox, self._part = folder, handout, handed, sandbox, part
        self._foreign = foreign
        self._broken: BaseException | str | None = None
        self._result: Result | None = None
        self._interrupted = False
        self._not_made: defaultdict[str, set[str]] = defaultdict(set)
        """For each part the mistakes that would have shown in an example that was answered right."""

    def outcome(self) -> Result:
        """The result; ConfigError if the tests themselves are broken, KeyboardInterrupt if they were stopped."""
        if self._interrupted:
            raise KeyboardInterrupt
        if isinstance(self._broken, ConfigError):
            raise self._broken
        if self._result is None or self._broken is not None:
            raise ConfigError(TESTS, 1, f"the public tests could not be run: {self._broken}; get them anew")
        return self._result

    @pytest.fixture
    def example(self) -> Callable[[object, str], None]:
        """`example(student.scores, "scores")` holds an answer against a worked example."""

        def check(got: object, name: str) -> None:
            worked = self._handout.worked(name)
            worked.check(got)
            if self._trial is not None:
                self._not_made[self._trial.spec.part].update(slip.name for slip in worked.slips)

        return check

    def pytest_configure(self, config: pytest.Config) -> None:
        self.attach(config)
        config.option.tbstyle = "value"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._broken = self._broken or report.longreprtext.strip()

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        self._broken = self._broken or excinfo.value
        return True

    def pytest_keyboard_interrupt(self) -> None:
        self._interrupted = True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self._broken is None:
            self._result = self._run(session.items)
        return True

    def judge(self, item: pytest.Item, session: StudentSession) -> Trial:
        """Once, wherever it fails: a second process is no cleaner where there is only this one."""
        self.session = session
        return self._attempt(item, session, Apart())

    def _run(self, items: list[pytest.Item]) -> Result:
        homework, by_test = self._read(items)
        submission = Submission(id=self._handed.main, name=self._handed.main, file=self._handed.main)
        result = pending(homework, self.specs, submission)
        if self._part is not None:
            result = msgspec.structs.replace(result, parts=tuple(p for p in result.parts if p.number == self._part))
        session = StudentSession(self._sandbox, self._handed, homework, Limits(**self._handout.limits))  # type: ignore[arg-type]
        judged = JudgedParts(
            homework.parts, self._builds_on, lambda part: self._tests_of(part, homework, by_test, session), self._handed
        )
        try:
            session.load()
            result = msgspec.structs.replace(result, notes=self._notes(session))
            for test in (test for part in result.parts for test in judged.tests(part.number)):
                result = result.with_test(test)
        except NotLoadable as refusal:
            result = not_loadable(result, refusal, session)
        finally:
            session.close()
        return result

    def _notes(self, session: StudentSession) -> tuple[str, ...]:
        """What failed to be imported, and what only this machine has."""
        failed = {broken.frames[0] for broken in session.cells.failed}
        places = {(frame.file, frame.line) for frame in failed}
        foreign = [found for found in self._foreign if (found.file, found.line) not in places or found.user]
        return (*session.cells.notes, *(found.sentence for found in foreign))

    def _tests_of(
        self, part: str, homework: Homework, by_test: dict[str, list[pytest.Item]], session: StudentSession
    ) -> tuple[TestResult, ...]:
        specs = [spec for spec in self._by_nodeid.values() if spec.part == part]
        trials = {spec: [self.judge(item, session) for item in by_test[spec.nodeid]] for spec in specs}
        _name_together([trial for cases in trials.values() for trial in cases], self._not_made[part])
        tests = [finished_test(spec, {trial.name: _case(trial) for trial in cases}) for spec, cases in trials.items()]
        return tuple(_settled(test, homework) for test in tests)

    def _read(self, items: list[pytest.Item]) -> tuple[Homework, dict[str, list[pytest.Item]]]:
        """The tests, and the homework with each part worth as many points as it has of them."""
        by_test: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_test.setdefault(base_nodeid(item), []).append(item)
        homework = self._handout.as_homework(self._folder, {})
        specs = [_spec(nodeid, cases, homework) for nodeid, cases in by_test.items()]
        self.specs = tuple(spec for spec in specs if self._part in (None, spec.part))
        self._by_nodeid = {spec.nodeid: spec for spec in specs}
        self._builds_on = {part.number: set(part.builds_on) for part in self._handout.parts}
        for spec in specs:
            self._builds_on[spec.part] |= _parts_named(by_test[spec.nodeid][0], homework) - {spec.part}
        counts = {part.number: sum(spec.part == part.number for spec in self.specs) for part in homework.parts}
        return self._handout.as_homework(self._folder, counts), by_test


def _spec(nodeid: str, items: Sequence[pytest.Item], homework: Homework) -> TestSpec:
    declared = Declaration(items[0], homework.root)
    number = str(declared.value("number"))
    part = homework.part_of(number)
    if part is None:
        raise declared.wrong("def", f'belongs to no part: write @number("3.1") for a test of part 3, not {number!r}')
    title = (declared.docstring.strip().splitlines() or [nodeid])[0]
    return TestSpec(
        name=nodeid.partition("::")[2],
        nodeid=nodeid,
        number=number,
        part=part.number,
        title=title,
        weight=Fraction(1),
        visibility="visible",
        tags=(),
        hide_errors=None,
        leaderboard=None,
        all_or_nothing=True,
        cases=tuple(case_id(item) for item in items),
        file=declared.file,
        line=declared.line,
    )


def _parts_named(item: pytest.Item, homework: Homework) -> set[str]:
    """The parts whose functions a test itself speaks of: a test of part 4 may hold it against the student's part 2."""
    names = item.function.__code__.co_names if isinstance(item, pytest.Function) else ()
    return {part.number for part in homework.parts if set(part.functions) & set(names)}


def _name_together(trials: Sequence[Trial], not_made: Collection[str]) -> None:
    """What explains all wrong answers of a part explains it better than what fits one of them or a right one."""
    errors = [error for trial in trials for error in trial.errors]
    failures = [error for error in errors if isinstance(error, Failed) and error.verdict.diagnosed]
    for failure in failures:
        causes = tuple(cause for cause in failure.verdict.causes if not set(cause.mistakes) & set(not_made))
        failure.verdict = msgspec.structs.replace(failure.verdict, causes=causes)
    shared = common_causes([failure.verdict for failure in failures])
    for failure in failures if shared else ():
        failure.verdict = msgspec.structs.replace(failure.verdict, causes=shared)


def _settled(test: TestResult, homework: Homework) -> TestResult:
    """A test that met an unwritten part is "not run"; what it waits for is all that it says."""
    test = msgspec.structs.replace(test, all_or_nothing=False)  # it has been scored so; there are no marks to speak of
    waits = [_waits_for(verdict, test.part, homework) for verdict in test.verdicts]
    if test.outcome is not Outcome.FAILED or not all(waits):
        return test
    code, fact = next(wait for wait in waits if wait)
    verdict = Verdict(Category.ERROR, fact, code=code)
    first, *others = (msgspec.structs.replace(c, outcome=Outcome.NOT_RUN, verdicts=()) for c in test.cases)
    cases = (msgspec.structs.replace(first, verdicts=(verdict,)), *others)
    return msgspec.structs.replace(test, cases=cases, outcome=Outcome.NOT_RUN)


def _case(trial: Trial) -> CaseResult:
    """What came of a case. A public test passes with every right answer, so what it stumbles over is a wrong one."""
    case = trial.result()
    faults = [error for error in trial.errors if not isinstance(error, AssertionError | pytest.fail.Exception)]
    if case.outcome is not Outcome.GRADER_ERROR or not faults:
        return case
    words = f"{type(faults[0]).__name__}: {faults[0]}"
    broken = isinstance(faults[0], GraderFault | ConfigError)
    fact = f"this test is broken: {words}" if broken else f"what your code returned does not fit: {words}"
    verdict = Verdict(Category.TYPE, fact)
    return msgspec.structs.replace(case, outcome=Outcome.FAILED, verdicts=(verdict,))


def _waits_for(verdict: Verdict, part: str, homework: Homework) -> tuple[Code, str] | None:
    """Return what is not written yet, as a code and in words, if there is no answer because of it.

    The student's last line says which part and function it is, if it is still a line of the starter.
    """
    found = _STARTER_LINE.match(verdict.frames[-1].text) if verdict.frames else None
    if found is None:
        return (Code.NOT_WRITTEN, "not done yet") if verdict.code == Code.NOT_WRITTEN else None
    number, name = found.groups()
    own = homework.part_of(part)
    if name is None or (number == part and own is not None and len(own.functions) == 1):
        return Code.NOT_WRITTEN, "not done yet"
    if number == part:
        return Code.NOT_WRITTEN, f"{name} is not done yet"
    return Code.WAITS, f"waits for part {number}: {name} is not done yet"


@contextmanager
def _alone() -> Iterator[None]:
    """pytest without what else is installed or set, and without traces in this process."""
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    before = {name: os.environ.get(name) for name in settings}
    module = Path(TESTS).stem
    loaded = sys.modules.pop(module, None)
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        sys.modules.pop(module, None)
        if loaded is not None:
            sys.modules[module] = loaded

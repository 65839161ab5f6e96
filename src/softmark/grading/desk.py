"""The place where one submission after another is judged by the same collected tests.

A Desk is registered with pytest. Its hooks hear what happens while a test runs (each subtest, the setters of
gradescope-utils, the test's own end); `judge` runs a test and makes a CaseResult of what was heard.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.subtests import SubtestReport

from softmark.course.homework import Homework
from softmark.course.testspecs import TestSpec, base_nodeid
from softmark.grading import trial
from softmark.grading.apart import Apart
from softmark.grading.author_files import MistakesOnDemand
from softmark.grading.naming import name_mistakes
from softmark.grading.own_time import running
from softmark.grading.plugin import DESK
from softmark.grading.resolved_names import check_names
from softmark.grading.session import StudentSession, seed_of
from softmark.grading.setters import listening
from softmark.intake.submitted_files import Handed
from softmark.sandbox.failures import SandboxLost
from softmark.verdict.context import TestContext
from softmark.verdict.mistakes import Registry

_NAMING_OF_A_CASE = 0.5  # seconds of processor time that looking for the name of one wrong answer may take


class Desk:
    """Judges hidden tests of one homework; the submission in hand is `session`."""

    def __init__(self) -> None:
        self.session: StudentSession | None = None
        self.homework: Homework | None = None
        self.specs: tuple[TestSpec, ...] = ()
        self._by_nodeid: dict[str, TestSpec] = {}
        self._mistakes: Registry | None = None
        self._parts: dict[str, str] = {}
        self._trial: trial.Trial | None = None
        self._right_with_reference: set[str] = set()
        """Tests that were run with the reference, because they stumbled over an answer, and that it passes."""

    def attach(self, config: pytest.Config) -> None:
        """Be found by the `student` fixture."""
        config.stash[DESK] = self

    def take(self, homework: Homework, specs: tuple[TestSpec, ...]) -> None:
        """Judge with these tests of this homework from now on; raise ConfigError if it names what does not exist."""
        check_names(homework)
        self.homework = homework
        self.specs = specs
        self._by_nodeid = {spec.nodeid: spec for spec in self.specs}
        self._parts = {name: part.number for part in homework.parts for name in part.functions}
        self._mistakes = MistakesOnDemand(homework)

    def spec_of(self, item: pytest.Item) -> TestSpec:
        return self._by_nodeid[base_nodeid(item)]

    def judge(self, item: pytest.Item, session: StudentSession) -> trial.Trial:
        """Run one case of one test against the submission in hand."""
        [judged] = self.judge_all([item], session)
        return judged

    def judge_all(self, items: Iterable[pytest.Item], session: StudentSession) -> Iterator[trial.Trial]:
        """The trials of one part's cases; last of those that wait for a question about earlier functions (apart.py).

        All questions that are waited for are asked in one worker, and the tests run again in another one.
        """
        self.session = session
        begun: Iterator[tuple[pytest.Item, Apart]] = ((item, Apart()) for item in items)
        while True:
            waiting = []
            for item, apart in begun:
                judged = self._judged(item, session, apart)
                if apart.waiting is None:
                    session.standings.note(judged)
                    yield judged
                else:
                    waiting.append((item, apart))
            if not waiting:
                return
            session.renew()
            for item, apart in waiting:
                session.begin(f"{self.spec_of(item).part}, apart", self.specs[0].nodeid)
                apart.settle()
            session.renew()
            begun = iter(waiting)

    def _judged(self, item: pytest.Item, session: StudentSession, apart: Apart) -> trial.Trial:
        """Run a test; if it fails in a worker that other parts have used, judge it again in a fresh one (session)."""
        judged = self._attempt(item, session, apart)
        if apart.waiting is None and judged.failed and not session.pure:
            session.renew()
            judged = self._attempt(item, session, apart)
        if apart.waiting is not None:
            return judged
        for error in judged.errors:
            if isinstance(error, SandboxLost):
                raise error
        if judged.may_be_unfit and session.answers and self._reference_passes(item, session):
            judged.unfit = True
            session.unfit.append(f"{judged.spec.number}: {judged.unfit_words}")
        return judged

    def _reference_passes(self, item: pytest.Item, session: StudentSession) -> bool:
        """Whether the test passes when the reference is handed in. If so, what it stumbled over is the answer."""
        homework = self.homework
        if homework is None or not homework.reference.is_file():
            return False
        if item.nodeid not in self._right_with_reference:
            session.renew()  # a sandbox has one student process at a time
            self.session = own = session.of_another(
                Handed(homework.file, {homework.file: homework.reference.read_bytes()})
            )
            own.naming_budget = 0.0
            try:
                judged = self._attempt(item, own, Apart())
            finally:
                own.close()
                self.session = session
            if judged.failed or judged.fault is not None:
                return False
            self._right_with_reference.add(item.nodeid)
        return True

    def name_mistakes(self, trials: list[trial.Trial]) -> None:
        """Settle what the failures of a whole part are called."""
        if self._mistakes is not None:
            name_mistakes(trials, self._mistakes)

    def _attempt(self, item: pytest.Item, session: StudentSession, apart: Apart) -> trial.Trial:
        spec = self.spec_of(item)
        budget = min(_NAMING_OF_A_CASE, session.naming_left(spec.part))
        case = TestContext(
            item.nodeid,
            seed_of(item.nodeid),
            mistakes=self._mistakes,
            budget=budget,
            parts=self._parts,
            standing_of=session.standings.of,
            apart=apart.ask,
        )
        apart.begin(case)
        session.own_time.begin(running(item.nodeid))
        session.begin(spec.part, item.nodeid, shown=spec.visibility == "visible")
        self._trial = judged = trial.Trial(spec, case)
        trial.run(item, judged)
        session.naming_spent[spec.part] += case.spent
        return judged

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        if self._trial is None:
            return (yield)
        with listening(pyfuncitem.obj) as self._trial.spoken:
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._trial is not None:
            self._trial.hear(call)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._trial is not None and isinstance(report, SubtestReport):
            self._trial.subtests.append(report._sub_test_description())


def homework_of(items: list[pytest.Item], root: Path) -> str | None:
    """The homework whose hidden tests these are; None if they are not all of one."""
    folders = {item.path.parent for item in items}
    names = {folder.name for folder in folders if folder.parent == root / "graders"}
    return names.pop() if len(folders) == len(names) == 1 else None

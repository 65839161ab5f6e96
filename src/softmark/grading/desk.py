"""The place where one submission after another is judged by the same collected tests.

A Desk is registered with pytest. Its hooks hear what happens while a test runs (each subtest, the setters of
gradescope-utils, the test's own end); `judge` runs a test and makes a CaseResult of what was heard.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.subtests import SubtestReport

from softmark.grading import trial
from softmark.grading.errors import ConfigError
from softmark.grading.homework import Homework
from softmark.grading.marks import TestSpec, base_nodeid, read_specs
from softmark.grading.plugin import DESK
from softmark.grading.result import CaseResult
from softmark.grading.session import StudentSession, seed_of
from softmark.grading.setters import listening
from softmark.verdict.case import Case
from softmark.verdict.mistakes import Registry, collecting


class Desk:
    """Judges hidden tests of one homework; the submission in hand is `session`."""

    def __init__(self) -> None:
        self.session: StudentSession | None = None
        self.homework: Homework | None = None
        self.specs: tuple[TestSpec, ...] = ()
        self.leaderboard_value: float | str | None = None
        self._by_nodeid: dict[str, TestSpec] = {}
        self._mistakes: Registry | None = None
        self._parts: dict[str, str] = {}
        self._trial: trial.Trial | None = None

    def attach(self, config: pytest.Config) -> None:
        """Be found by the `student` fixture."""
        config.stash[DESK] = self

    def take(self, homework: Homework, items: list[pytest.Item]) -> None:
        """From now on these are the tests: read what each is worth, and the homework's named mistakes."""
        self.homework = homework
        self.specs = read_specs(items, homework)
        self._by_nodeid = {spec.nodeid: spec for spec in self.specs}
        self._parts = {name: part.number for part in homework.parts for name in part.functions}
        self._mistakes = mistakes_of(homework)

    def spec_of(self, item: pytest.Item) -> TestSpec:
        return self._by_nodeid[base_nodeid(item)]

    def judge(self, item: pytest.Item, session: StudentSession) -> CaseResult:
        """Run one case of one test against the submission in hand.

        A failure in a worker that other parts have used is judged again in a fresh one (see session.py).
        """
        self.session = session
        first = self._attempt(item, session)
        if not first.failed or session.pure:
            return first.result()
        session.renew()
        return self._attempt(item, session).result()

    def _attempt(self, item: pytest.Item, session: StudentSession) -> trial.Trial:
        spec = self.spec_of(item)
        case = Case(id=item.nodeid, seed=seed_of(item.nodeid), mistakes=self._mistakes, parts=self._parts)
        session.begin(spec.part, item.nodeid)
        self._trial = trial.Trial(spec, case)
        return trial.run(item, self._trial)

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


def mistakes_of(homework: Homework) -> Registry:
    """The named mistakes of a homework; an empty registry if it names none."""
    registry = Registry()
    file = homework.folder / "mistakes.py"
    if file.exists():
        name = f"graders.{homework.name}.mistakes"
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ConfigError(str(file), 1, "it cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # where inspect looks for the source of a class
        with collecting(registry):
            spec.loader.exec_module(module)
    return registry


def homework_of(items: list[pytest.Item], root: Path) -> str | None:
    """The homework whose hidden tests these are; None if they are not all of one."""
    folders = {item.path.parent for item in items}
    names = {folder.name for folder in folders if folder.parent == root / "graders"}
    return names.pop() if len(folders) == len(names) == 1 else None

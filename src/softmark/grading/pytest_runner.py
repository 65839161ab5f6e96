"""Collects tests with pytest, and runs single cases of them inside of pytest's own loop.

Fixtures, parametrize, subtests and the decorators of gradescope-utils are the authors' API, so pytest itself must run
the tests. Only this module uses private parts of pytest: which plugins are left out, how a test runs without a report,
and how subtests report. pyproject.toml bounds the versions of pytest.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest
from _pytest.runner import runtestprotocol
from _pytest.subtests import failed_subtests_key

from softmark.course.testspecs import case_id
from softmark.grading.case_run import CaseRun
from softmark.grading.session import StudentSession
from softmark.grading.setters import captured_setters
from softmark.grading.student import Student
from softmark.verdict.context import activate

# Plugins of pytest that print, read or write files, change what a test or breakpoint() does, or run the garbage
# collector twice over all of torch's objects (unraisableexception).
_UNUSED = (
    *"terminal cacheprovider capture logging faulthandler junitxml pastebin doctest warnings debugging".split(),
    *"unraisableexception threadexception".split(),
)
_OPTIONS = (
    *("-c", os.devnull, "--noconftest", "--import-mode=importlib", "--assert=plain", "-p", "softmark.grading.plugin"),
    *(option for name in _UNUSED for option in ("-p", f"no:{name}")),
)
_SETTINGS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}

UseRunner = Callable[["PytestRunner", list[pytest.Item]], None]


class NotCollected(Exception):
    """Raised if the tests cannot be imported. `cause` is their exception."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause = cause


class PytestRunner:
    """A plugin of pytest that runs single cases, and notes the exceptions and values of each."""

    def __init__(self, config: pytest.Config) -> None:
        self._session: StudentSession | None = None
        self.subtests_of: dict[str, list[pytest.SubtestReport]] = {}
        """pytest's reports on subtests by the node id of their case, from its last run whose words somebody reads."""
        self._run: CaseRun | None = None
        config.pluginmanager.register(self, "softmark-runner")

    def run_case(self, item: pytest.Item, run: CaseRun, session: StudentSession) -> None:
        """Run a case with its fixtures, as pytest does, against a submission. Note in `run` what it raises and sets."""
        self._session, self._run = session, run
        if session.wrong.describing:
            self.subtests_of.pop(item.nodeid, None)
        item.config.stash[failed_subtests_key].clear()  # an earlier run of the case may have left entries
        run.name = case_id(item)
        run.context.body = getattr(item.obj, "__code__", None) if isinstance(item, pytest.Function) else None
        start = time.monotonic()
        try:
            with activate(run.context):
                runtestprotocol(item, log=False)
        finally:
            self._session = self._run = None
        run.forget_answers()
        run.seconds = time.monotonic() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        if self._run is None:
            return (yield)
        with captured_setters(pyfuncitem.obj) as self._run.setters:
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        error = call.excinfo.value if call.excinfo is not None else None
        if self._run is not None and (call.when == "call" or error is not None):
            self._run.raised.append(error)
        return report

    @pytest.fixture
    def student(self) -> Student:
        """Return the object by which a test calls the submission."""
        assert self._session is not None, "a case runs by run_case only"
        return Student(self._session)

    @pytest.fixture
    def subtests(self, subtests: pytest.Subtests, request: pytest.FixtureRequest) -> pytest.Subtests:
        """Return pytest's own subtests. Their reports are held back, because the case may have to be run again."""
        if self._run is not None and self._session is not None:
            reports = self.subtests_of.setdefault(request.node.nodeid, []) if self._session.wrong.describing else []
            subtests._ihook = _HeldBack(request.node.ihook, reports, self._run)  # type: ignore[assignment]
        return subtests


class _HeldBack:
    """Stands for a test's hooks, and notes the reports of subtests instead of passing them on."""

    def __init__(self, hooks: Any, reports: list[pytest.SubtestReport], run: CaseRun) -> None:
        self._hooks, self._reports, self._run = hooks, reports, run

    def pytest_runtest_logreport(self, report: pytest.SubtestReport) -> None:
        self._reports.append(report)
        self._run.subtests.append(report.head_line.removeprefix(report.location[2]).lstrip())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hooks, name)


def run_in_pytest(tests: Path, root: Path, use: UseRunner, *plugins: object) -> None:
    """Collect the tests below a path, and call `use` with a runner and the collected items inside of pytest's loop.

    Raise NotCollected if the tests cannot be imported, and any exception of `use`.
    """
    loop = _Loop(use)
    with _only_pytest(), _imported_anew(tests):
        pytest.main([*_OPTIONS, f"--rootdir={root}", str(tests)], plugins=[loop, *plugins])
    if loop.error is not None:
        raise loop.error


class _Loop:
    """The plugin that replaces pytest's own loop. It keeps exceptions, which pytest would only print."""

    def __init__(self, use: UseRunner) -> None:
        self.error: BaseException | None = None
        self._use = use

    def pytest_configure(self, config: pytest.Config) -> None:
        self._runner = PytestRunner(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport:
        """Return a report without words. Nobody reads it, and describing a failure takes longer than a test."""
        error = call.excinfo.value if call.excinfo is not None else None
        skipped = isinstance(error, pytest.skip.Exception)
        outcome: Literal["passed", "skipped", "failed"]
        outcome = "passed" if error is None else "skipped" if skipped else "failed"
        when: Any = call.when  # never "collect": a test runs
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any], report: object) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None and self.error is None:
            self.error = NotCollected(call.excinfo.value.__cause__ or call.excinfo.value)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        self.error = self.error or excinfo.value
        return True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.error = excinfo.value

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if self.error is None:
            try:
                self._use(self._runner, session.items)
            except BaseException as error:
                self.error = error
        return True


@contextlib.contextmanager
def _only_pytest() -> Iterator[None]:
    """Keep pytest from loading installed plugins and from reading options in the environment, inside this block."""
    before = {name: os.environ.get(name) for name in _SETTINGS}
    os.environ.update(_SETTINGS)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _imported_anew(tests: Path) -> Iterator[None]:
    """Have the files of tests imported anew inside this block, and put the earlier modules back afterwards."""
    before = _modules_of(tests)
    try:
        for name in before:
            del sys.modules[name]
        yield
    finally:
        for name in _modules_of(tests):
            del sys.modules[name]
        sys.modules.update(before)


def _modules_of(tests: Path) -> dict[str, ModuleType]:
    """Return the modules that were imported from a file or a folder, by name."""
    files = {name: str(getattr(module, "__file__", None)) for name, module in sys.modules.items()}
    inside = f"{tests}{os.sep}"
    return {name: sys.modules[name] for name, file in files.items() if f"{file}{os.sep}".startswith(inside)}

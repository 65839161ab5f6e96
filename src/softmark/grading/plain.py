"""Grades by plain pytest: `pytest graders/attention_scores --submission PATH`.

This is for an instructor who writes hidden tests and wants pytest's own options (-k, -x, -v). PATH is one submission as
`softmark grade` takes it: a file, a notebook, or a folder with other files beside the graded one. The tests run as the
engine runs them, part by part. Then each case is reported as passed or failed, with the words for the student and those
for staff.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from softmark.course.homework import Homework, course_root, load_homework
from softmark.course.testspecs import TestSpec, base_nodeid, case_id, read_chosen, read_specs
from softmark.grading.collected_tests import Tests, by_test, hidden_tests
from softmark.grading.grade import Conditions, grade_submission
from softmark.grading.job import Job, read_job
from softmark.grading.pytest_runner import PytestRunner
from softmark.intake.collect import collect
from softmark.intake.places import Refusal, Unreadable
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Level, Limits
from softmark.records.points import shown, total
from softmark.records.result import CaseResult, Outcome, Result
from softmark.records.verdict import CodeLine, Verdict
from softmark.sandbox.environment import environment
from softmark.sandbox.isolation import examine, open_sandbox
from softmark.sandbox.machine import fitting, temporary_directory
from softmark.sandbox.own_machine import Sandbox, forking_works
from softmark.sandbox.zygote import Zygote


class PlainPytest:
    """The plugin that grades one submission with the collected hidden tests, and reports each case."""

    def __init__(self, config: pytest.Config) -> None:
        self._runner = PytestRunner(config)
        self._one_test = any("::" in word for word in config.args)
        self._path = Path(config.getoption("--submission"))
        self._level = Level(config.getoption("--isolation"))
        self._tests: Tests | None = None
        self._sandbox: Sandbox | None = None
        self._results: Generator[Result] | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Read the submission and all tests, before -k leaves out any, and put the tests in the order of grading."""
        try:
            homework = _homework_of(items)
            specs = (read_chosen if self._one_test else read_specs)(items, homework)
            self._tests = hidden_tests(homework, specs, items, self._runner)
            self._job = _read(self._path, homework)
            self._sandbox = _open_sandbox(self._level)
        except (UsageError, ConfigError, Unreadable, Refusal) as error:
            raise pytest.UsageError(str(error)) from error
        items[:] = [item for spec in specs for item in self._tests.items[spec.nodeid]]

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Report one case. The first case of a part runs all cases of it, because their mistakes are named together."""
        if self._tests is None or self._sandbox is None:
            return False
        if self._results is None:
            tests = replace(self._tests, items=by_test(item.session.items))
            limits = fitting(Limits(**tests.homework.limits))  # type: ignore[arg-type]
            self._results = grade_submission(tests, Conditions(self._sandbox, limits), self._job)
            self._result = next(self._results)
        spec = self._tests.spec_of[base_nodeid(item)]
        while self._case(spec, item).outcome is Outcome.NOT_RUN or nextitem is None:
            result = next(self._results, None)
            if result is None:
                break
            self._result = result
        _report(item, self._case(spec, item), self._result, self._runner.subtests_of.get(item.nodeid, ()))
        return True

    def _case(self, spec: TestSpec, item: pytest.Item) -> CaseResult:
        """Return the result of a case so far."""
        test = next(test for test in self._result.tests if test.name == spec.name)
        return next(case for case in test.cases if case.id == case_id(item))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._results is None:
            return
        result = self._result
        points = f"{shown(result.total)} of {shown(total(test.max_score for test in result.tests))} points"
        for line in (f"{points}, isolation {self._level}", *result.notes, *result.staff_notes):
            terminalreporter.write_line(f"softmark: {line}")

    def pytest_unconfigure(self) -> None:
        if self._results is not None:
            self._results.close()
        if self._sandbox is not None:
            self._sandbox.close()


def _homework_of(items: list[pytest.Item]) -> Homework:
    """Return the homework of these hidden tests. Raise UsageError if they belong to several."""
    root = course_root(items[0].path.parent if items else None)
    folders = {item.path.parent for item in items}
    names = {folder.name for folder in folders if folder.parent == root / "graders"}
    if len(folders) != 1 or len(names) != 1:
        raise UsageError("--submission grades the hidden tests of one homework: name one folder of graders/")
    return load_homework(names.pop(), root)


def _read(path: Path, homework: Homework) -> Job:
    """Return the one submission at a path. Raise Refusal if it cannot be graded, UsageError if it is not one."""
    entries = collect([path], homework).entries
    if len(entries) != 1:
        raise UsageError(f"{path} holds {len(entries)} submissions: name one of them")
    job = read_job(entries[0], homework)
    if job.files.refusal:
        raise Refusal(job.files.refusal)
    return job


def _open_sandbox(level: Level) -> Sandbox:
    """Return the sandbox of a level. Raise UsageError if the level does not hold here."""
    zygote = Zygote.spawn(environment(temporary_directory())) if forking_works() and level is not Level.NONE else None
    if zygote is not None:
        finding = examine(zygote, level)
        if not finding.holds:
            raise UsageError(f"isolation level {level} does not hold here: {finding.why_not}")
    return open_sandbox(zygote, level)


def _report(item: pytest.Item, case: CaseResult, result: Result, subtests: Sequence[pytest.SubtestReport]) -> None:
    """Report the result of a case and of its subtests to pytest."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for subtest in subtests:
        item.ihook.pytest_runtest_logreport(report=subtest)
    for when in ("setup", "call", "teardown"):
        failed = when == "call" and case.outcome is not Outcome.PASSED
        report = pytest.TestReport(
            item.nodeid,
            item.location,
            dict.fromkeys(item.keywords, 1),
            "failed" if failed else "passed",
            _words(case, result) if failed else None,
            when,
            duration=case.seconds,
        )
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _words(case: CaseResult, result: Result) -> str:
    """Return the words for a case that did not pass: its verdicts, or why it was not judged."""
    if case.verdicts:
        return "\n\n".join(_lines(verdict) for verdict in case.verdicts)
    frames = map(_line_of_code, result.reason_frames)
    return "\n".join(line for line in (result.reason, *frames, *result.faults) if line)


def _lines(verdict: Verdict) -> str:
    lines = [verdict.subtest, verdict.fact, verdict.where, *map(_line_of_code, verdict.frames)]
    lines += [f"{cause.says} {cause.hint}" for cause in verdict.causes]
    return "\n".join(line for line in (*lines, verdict.staff) if line)


def _line_of_code(line: CodeLine) -> str:
    return f"  {line.place}  {line.text}"

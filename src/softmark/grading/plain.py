"""Plain pytest: `pytest graders/attention_scores --submission path.py`.

For an instructor who writes hidden tests and wants pytest's own ways (-k, -x, -v) with them. The tests run exactly as
the engine runs them; each case is reported as passed or failed, the failure in the words a student would read and
those for staff. A later part is excused for what an earlier one does wrong; where tests of the earlier part have not
run, it counts as wrong, and a line at the end says so.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import gettempdir
from typing import Literal

import pytest

from softmark.course.homework import Homework, course_root, load_homework
from softmark.course.pending import finished_test
from softmark.course.testspecs import read_chosen, read_specs
from softmark.grading.desk import Desk, homework_of
from softmark.grading.session import StudentSession
from softmark.intake.source import Refusal, Unreadable, check, read
from softmark.intake.submitted_files import Handed
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Level, Limits
from softmark.records.points import shown, total
from softmark.records.result import CaseResult, Outcome
from softmark.records.verdict import Verdict
from softmark.sandbox.isolation import Sandbox, examine, forking_works, open_sandbox
from softmark.sandbox.walls import environment
from softmark.sandbox.zygote import Zygote

_OUTCOMES: dict[Outcome, Literal["passed", "failed"]] = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.GRADER_ERROR: "failed",
}


class PlainPytest(Desk):
    """Judges the collected hidden tests, one homework's, against the file named by --submission."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__()
        self.attach(config)
        self._chosen = any("::" in word for word in config.args)
        self._file = Path(config.getoption("--submission"))
        self._level = Level(config.getoption("--isolation"))
        self._sandbox: Sandbox | None = None
        self._results: dict[str, dict[str, CaseResult]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        try:
            root = course_root(items[0].path.parent if items else None)
            name = homework_of(items, root)
            if name is None:
                raise UsageError("--submission grades the hidden tests of one homework: name one folder of graders/")
            homework = load_homework(name, root)
            read_tests = read_chosen if self._chosen else read_specs
            self.take(homework, read_tests(items, homework))
            source = read(self._file)
            check(source)
            self._open(source)
        except (UsageError, ConfigError, Unreadable, Refusal) as error:
            raise pytest.UsageError(str(error)) from error

    def _open(self, source: bytes) -> None:
        homework = self.homework
        if homework is None:
            raise UsageError("no homework was found")
        zygote = Zygote.spawn(environment(gettempdir())) if forking_works() and self._level is not Level.NONE else None
        if zygote is not None:
            finding = examine(zygote, self._level)
            if not finding.holds:
                raise UsageError(f"isolation level {self._level} does not hold here: {finding.why_not}")
        self._sandbox = open_sandbox(zygote, self._level)
        limits = Limits(**homework.limits)  # type: ignore[arg-type]
        self.session = StudentSession(self._sandbox, Handed(homework.file, {homework.file: source}), homework, limits)
        self.session.standings.cases = self._cases_of_parts(homework)

    def _cases_of_parts(self, homework: Homework) -> dict[str, int]:
        """How many cases each part has; more than there can be, where tests of the part were not even asked for."""
        weights: Counter[str] = Counter()
        cases: Counter[str] = Counter()
        for spec in self.specs:
            weights[spec.part] += spec.weight  # type: ignore[assignment]
            cases[spec.part] += len(spec.cases)
        return {p.number: cases[p.number] if weights[p.number] == p.points else sys.maxsize for p in homework.parts}

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        if self.session is None:
            return False
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        case = self.judge(item, self.session).result()
        self._results.setdefault(self.spec_of(item).nodeid, {})[case.id] = case
        for when in ("setup", "call", "teardown"):
            outcome = _OUTCOMES[case.outcome] if when == "call" else "passed"
            words = "\n\n".join(_words(verdict) for verdict in case.verdicts) if when == "call" else None
            report = pytest.TestReport(
                item.nodeid, item.location, dict.fromkeys(item.keywords, 1), outcome, words or None, when,
                duration=case.seconds,
            )  # fmt: skip
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._results:
            return
        tests = [finished_test(spec, self._results.get(spec.nodeid, {})) for spec in self.specs]
        earned, most = total(test.score for test in tests), total(test.max_score for test in tests)
        terminalreporter.write_line(f"softmark: {shown(earned)} of {shown(most)} points, isolation {self._level}")
        for part in sorted(self.session.standings.assumed if self.session is not None else ()):
            terminalreporter.write_line(f"part {part} was not run: later parts are judged as if it were wrong")

    def pytest_unconfigure(self) -> None:
        if self.session is not None:
            self.session.close()
        if self._sandbox is not None:
            self._sandbox.close()


def _words(verdict: Verdict) -> str:
    lines = [verdict.subtest, verdict.fact, verdict.where]
    lines += [f"  {frame.file}:{frame.line}  {frame.text}" for frame in verdict.frames]
    lines += [f"{cause.says} {cause.hint}" for cause in verdict.causes]
    return "\n".join(line for line in (*lines, verdict.staff) if line)

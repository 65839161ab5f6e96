"""Repeats tests for further submissions without running their own code.

Most tests only draw inputs and check answers (verdict/steps.py). The inputs and the expected answers are the same for
every submission. So when such a test has passed, its steps are kept. The next submission gets the same questions, and
its answers are compared with the same values; no fixture, drawing or reference runs again. This changes no verdict:
submissions never share answers, and a test that does anything else with the student's code runs as usual.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from softmark.course.testspecs import case_id
from softmark.grading.case_run import CaseRun
from softmark.grading.session import StudentSession
from softmark.grading.student import StudentFunction
from softmark.verdict.context import Step, activate
from softmark.verdict.expected import Expected, find

Steps = Sequence[tuple[Step, Expected]]


class Repeats:
    """The steps of the tests that can be repeated, by node id."""

    def __init__(self) -> None:
        self._steps: dict[str, tuple[Step, ...]] = {}

    def steps(self, test_id: str) -> Steps | None:
        """Return the steps of a test with the values that they expect; None if the test has to run as usual."""
        steps = self._steps.get(test_id)
        if steps is None:
            return None
        found = [(step, find(step.place)) for step in steps]
        known = [(step, expected) for step, expected in found if expected is not None]
        if len(known) < len(found):
            del self._steps[test_id]  # the values were forgotten, so the test has to compute them anew
            return None
        return known

    def learn(self, test_id: str, run: CaseRun, session: StudentSession) -> None:
        """Keep the steps of a test that has passed and has asked the student's code nothing else."""
        steps = run.context.steps or ()
        says = run.setters is not None and run.setters.heard
        if steps and len(steps) == session.answers and not (run.failed or run.subtests or says):
            self._steps[test_id] = tuple(steps)


def repeat(steps: Steps, item: pytest.Item, run: CaseRun, session: StudentSession) -> None:
    """Make the checks of a test with a submission, and note in `run` what they raise."""
    run.name = case_id(item)
    start = time.monotonic()
    try:
        with activate(run.context):
            for step, expected in steps:
                step.check(StudentFunction(session, step.function, step.function), expected)
    except Exception as error:  # the case is over, as in pytest; case_run.py decides whose fault it is
        run.raised.append(error)
    else:
        run.raised.append(None)
    run.forget_answers()
    run.seconds = time.monotonic() - start

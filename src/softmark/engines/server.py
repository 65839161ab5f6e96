"""Collects one homework's hidden tests once and judges submissions with them: the grading engine's process.

The launcher starts it as `python -I -m softmark.engines` with an environment of constants. The separation of the two
sides rests on the order of these steps:

    1. import torch, and nothing that is secret; fork the zygote (__main__.py, sandbox/zygote.py)
    2. read what is to be graded (messages.py); have softmark's own attacks made: does the isolation level hold?
    3. only now read hidden tests, reference and named mistakes, in one pytest session
    4. inside that session's loop fork a judge for every further lane (lanes.py)
    5. for each submission: load it in a worker, run every test, send the result

Student code runs in workers only. A failure of this process itself is the grader's, and the result says so.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from softmark.course.digest import provenance
from softmark.course.homework import Homework, load_homework, require_packages
from softmark.course.pending import pending
from softmark.course.testspecs import read_specs
from softmark.engines.device import files_for
from softmark.engines.lanes import LaneEnds, answer, lanes_beside
from softmark.engines.messages import Begin, EngineReady, Refused, receive, send
from softmark.grading.collected_tests import hidden_tests
from softmark.grading.grade import Conditions
from softmark.grading.own_time import Note, OwnTime
from softmark.grading.pytest_runner import NotCollected, PytestRunner, run_in_pytest
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Level, Limits
from softmark.records.result import Submission
from softmark.sandbox.failures import SandboxLost
from softmark.sandbox.isolation import examine, highest, open_sandbox
from softmark.sandbox.machine import fitting
from softmark.sandbox.own_machine import Sandbox
from softmark.sandbox.zygote import Zygote


def _not_importable(cause: BaseException, homework: Homework) -> ConfigError:
    """Return why the hidden tests could not be imported: the error, and the line of the course that it came from."""
    places = [(Path(f.filename), f.lineno or 1) for f in traceback.extract_tb(cause.__traceback__)]
    if isinstance(cause, SyntaxError):
        places.append((Path(cause.filename or ""), cause.lineno or 1))
    ours = [(file.relative_to(homework.root), line) for file, line in places if file.is_relative_to(homework.root)]
    file, line = ours[-1] if ours else (Path(homework.config), 1)
    what = cause.msg if isinstance(cause, SyntaxError) else str(cause).partition("\n")[0]
    problem = f"the hidden tests cannot be imported: {type(cause).__name__}: {what}"
    return ConfigError(file.as_posix(), line, problem)


def serve(
    zygote: Zygote | None, requests: BinaryIO, replies: BinaryIO, lanes: Sequence[LaneEnds], note: Note | None = None
) -> None:
    """Do everything between the launcher's Begin and its end of file."""
    begin = receive(requests)
    if not isinstance(begin, Begin):
        return
    spec = begin.spec
    try:
        sandbox = _sandbox(zygote, Level(spec.isolation), files_for(spec.device))
        try:
            homework = load_homework(spec.homework, spec.root)
            sys.path.insert(0, spec.course.path)  # for `from reference import …` in hidden tests
            grade_all(begin, homework, sandbox, (requests, replies), lanes, note)
        finally:
            sandbox.close()
    except (ConfigError, UsageError) as error:
        send(replies, Refused(str(error), usage=True))
    except SandboxLost as lost:
        send(replies, Refused(str(lost), usage=False))
    finally:
        if zygote is not None:
            zygote.close()


def grade_all(
    begin: Begin,
    homework: Homework,
    sandbox: Sandbox,
    wires: tuple[BinaryIO, BinaryIO],
    lanes: Sequence[LaneEnds],
    note: Note | None = None,
) -> None:
    """Collect the hidden tests once, and grade every submission that is asked for with them."""
    spec = begin.spec
    limits = Limits(**homework.limits)  # type: ignore[arg-type]
    own_time = OwnTime(limits.test_seconds, note)

    def use(runner: PytestRunner, items: list[pytest.Item]) -> None:
        own_time.stop()
        require_packages(homework)
        tests = hidden_tests(homework, read_specs(items, homework), items, runner, backwards=spec.backwards)
        conditions = Conditions(
            sandbox,
            fitting(limits, begin.lanes),
            spec.device,
            begin.lanes,
            spec.budget_seconds,
            own_time,
            provenance(homework, str(sandbox.level), spec.device),
        )
        with lanes_beside(tests, conditions, lanes, wires, note):
            first = pending(homework, tests.specs, Submission(), conditions.provenance)
            send(wires[1], EngineReady(first))
            answer(tests, conditions, *wires)

    own_time.begin("the import of the hidden tests, or of what they import,")
    try:
        run_in_pytest(homework.folder, homework.root, use)
    except NotCollected as error:
        own_time.stop()
        raise _not_importable(error.cause, homework) from error


def _sandbox(zygote: Zygote | None, asked: Level, device_files: tuple[str, ...]) -> Sandbox:
    """Return the sandbox of the level asked for. If the level does not hold, raise UsageError with the reason."""
    if zygote is not None and asked > Level.PROCESS:
        finding = examine(zygote, asked)
        if not finding.holds:
            best = highest(zygote)[-1].level
            raise UsageError(
                f"isolation level {asked} does not hold on this machine: {finding.why_not}. "
                f"It reaches {best}: say --isolation {best} if that is enough, or run `softmark doctor`."
            )
    elif zygote is None and asked > Level.PROCESS:
        raise UsageError(f"isolation level {asked} needs Linux: say --isolation process if that is enough.")
    return open_sandbox(zygote, asked, device_files)

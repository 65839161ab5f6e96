"""The grading engine: a process that collects one homework's hidden tests once and judges submissions with them.

Started by the launcher as `python -I -m softmark.engines` with an environment of constants, it does things in the order
on which the separation of the two sides rests:

    1. import torch, and nothing that is secret; fork the zygote (__main__.py, sandbox/zygote.py)
    2. read what is to be graded (messages.py); have softmark's own attacks made: does the isolation level hold?
    3. only now read hidden tests, reference and named mistakes, in one pytest session
    4. inside that session's loop fork a judge for every further lane (lanes.py)
    5. for each submission: load it in a worker, run every test, send the result

Everything a submission can do happens in workers; what can still go wrong here is the grader's fault and is said so.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from softmark.course.homework import Homework, load_homework, require_packages
from softmark.course.testspecs import read_specs
from softmark.engines.device import files_for
from softmark.engines.judging import Judge
from softmark.engines.lanes import Lane, answer, judges_beside
from softmark.engines.messages import Ready, Refused, Setup, receive, send
from softmark.grading.desk import Desk
from softmark.grading.own_time import Note, OwnTime
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Level, Limits
from softmark.sandbox.failures import SandboxLost
from softmark.sandbox.isolation import Sandbox, examine, highest, open_sandbox
from softmark.sandbox.zygote import Zygote

# Nothing of pytest's that reads or writes files, prints, or changes what a test sees.
_UNUSED = (
    *"terminal cacheprovider capture logging faulthandler junitxml pastebin doctest warnings".split(),
    *"unraisableexception threadexception".split(),
)
_PYTEST = (
    *("-c", os.devnull, "--noconftest", "--import-mode=importlib", "--assert=plain"),
    *(option for name in _UNUSED for option in ("-p", f"no:{name}")),
    *("-p", "softmark.grading.plugin"),
)


class Engine(Desk):
    """The pytest plugin that judges every submission with the tests pytest collected."""

    def __init__(
        self,
        setup: Setup,
        homework: Homework,
        sandbox: Sandbox,
        wires: tuple[BinaryIO, BinaryIO],
        lanes: Sequence[Lane],
        note: Note | None = None,
    ) -> None:
        super().__init__()
        self._setup, self._target, self._sandbox = setup, homework, sandbox
        self._requests, self._replies = wires
        self._lanes, self._note = lanes, note
        self._own_time = OwnTime(Limits(**homework.limits).test_seconds, note)  # type: ignore[arg-type]
        self.refused: Refused | None = None
        self._broken: list[ConfigError] = []

    def pytest_configure(self, config: pytest.Config) -> None:
        self.attach(config)
        config.option.tbstyle = "value"  # tracebacks are not shown; rendering them costs more than a test

    def pytest_collection(self) -> None:
        self._own_time.begin("the import of the hidden tests, or of what they import,")

    def pytest_exception_interact(self, call: pytest.CallInfo[Any], report: object) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            self._broken.append(_not_importable(call.excinfo.value, self._target))

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """A fault outside any one test: tell the launcher, who tells the instructor; no submission is to blame."""
        self.refused = Refused("".join(traceback.format_exception(excinfo.value)), usage=False)
        return True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._own_time.stop()
        try:
            if self._broken:
                raise self._broken[0]
            require_packages(self._target)
            self.take(self._target, read_specs(session.items, self._target))
        except (ConfigError, UsageError) as error:
            self.refused = Refused(str(error), usage=True)
            return True
        judge = Judge(self, session.items, self._sandbox, self._setup, self._own_time)
        own, progress = (self._requests, self._replies), self._setup.progress
        with judges_beside(judge, self._lanes, self._sandbox.level, own, self._note, progress=progress):
            send(self._replies, Ready(judge.pending()))
            answer(judge, self._requests, self._replies, progress=progress)
        return True


def _not_importable(error: BaseException, homework: Homework) -> ConfigError:
    """Why the hidden tests could not be imported: the error, and the innermost line of the course that it came from."""
    cause = error.__cause__ or error
    places = [(Path(f.filename), f.lineno or 1) for f in traceback.extract_tb(cause.__traceback__)]
    if isinstance(cause, SyntaxError):
        places.append((Path(cause.filename or ""), cause.lineno or 1))
    ours = [(file.relative_to(homework.root), line) for file, line in places if file.is_relative_to(homework.root)]
    file, line = ours[-1] if ours else (Path(homework.config), 1)
    what = cause.msg if isinstance(cause, SyntaxError) else str(cause).partition("\n")[0]
    problem = f"the hidden tests cannot be imported: {type(cause).__name__}: {what}"
    return ConfigError(file.as_posix(), line, problem)


def serve(
    zygote: Zygote | None, requests: BinaryIO, replies: BinaryIO, lanes: Sequence[Lane], note: Note | None = None
) -> None:
    """Everything between the launcher's Setup and its end of file."""
    setup = receive(requests)
    if not isinstance(setup, Setup):
        return
    try:
        sandbox = _sandbox(zygote, Level(setup.isolation), files_for(setup.device))
        try:
            homework = load_homework(setup.homework, setup.path)
            sys.path.insert(0, setup.root)  # for `from reference import …` in hidden tests
            engine = Engine(setup, homework, sandbox, (requests, replies), lanes, note)
            pytest.main([*_PYTEST, f"--rootdir={setup.root}", str(homework.folder)], plugins=[engine])
            if engine.refused is not None:
                send(replies, engine.refused)
        finally:
            sandbox.close()
    except (ConfigError, UsageError) as error:
        send(replies, Refused(str(error), usage=True))
    except SandboxLost as lost:
        send(replies, Refused(str(lost), usage=False))
    finally:
        if zygote is not None:
            zygote.close()


def _sandbox(zygote: Zygote | None, asked: Level, device_files: tuple[str, ...]) -> Sandbox:
    """The sandbox of the level asked for, or a refusal that says why not and what there is."""
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

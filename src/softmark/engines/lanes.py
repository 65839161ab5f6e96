"""Defines lanes: one engine grades several submissions at a time, each in a process of its own.

The costly steps are done once: torch is imported, hidden tests are collected, walls are tried. Then the engine forks a
judge for every lane but the first, which it serves itself. A lane has its own pair of streams to the launcher, its own
zygote (forked like the first before anything secret was read), its own scratch directories and user ids. Nothing is
shared, so a lane that breaks costs the others nothing.

A judge ends when its stream ends, when it breaks, and when the engine dies. The engine waits for its judges, and for
their zygotes to clear up after them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from softmark.engines.device import files_for
from softmark.engines.ending import end_with_the_parent
from softmark.engines.messages import Done, GradeRequest, Progress, receive, send
from softmark.grading.collected_tests import Tests
from softmark.grading.grade import Conditions, grade_submission
from softmark.grading.own_time import Note, OwnTime
from softmark.sandbox.isolation import open_sandbox
from softmark.sandbox.leftovers import await_end
from softmark.sandbox.scratch import close_open_roots
from softmark.sandbox.zygote import Zygote

_PATIENCE = 10.0  # seconds that a judge may take to end after its stream has ended


@dataclass(frozen=True)
class LaneEnds:
    """The ends that a judge beside the engine's own needs: its stream to the launcher, and a zygote."""

    launcher: socket.socket
    zygote: Zygote | None
    engines: Zygote | None
    """The engine's own zygote. A judge keeps no end of it open, so that it sees when the engine has ended."""

    @classmethod
    def of(cls, descriptor: int, zygote: Zygote | None, engines: Zygote | None) -> LaneEnds:
        return cls(socket.socket(fileno=descriptor), zygote, engines)

    def hand_over(self) -> None:
        """Close this process's ends of it."""
        self.launcher.close()
        if self.zygote is not None:
            self.zygote.hand_over()


def answer(tests: Tests, conditions: Conditions, requests: BinaryIO, replies: BinaryIO) -> None:
    """Grade every job of a stream, until it ends."""
    while isinstance(asked := receive(requests), GradeRequest):
        for result in grade_submission(tests, conditions, asked.job, progress=asked.progress):
            last = result
            if asked.progress:
                send(replies, Progress(result))
        send(replies, Done(last))


@contextlib.contextmanager
def lanes_beside(
    tests: Tests,
    conditions: Conditions,
    lanes: Sequence[LaneEnds],
    own: Sequence[BinaryIO],
    note: Note | None,
) -> Iterator[None]:
    """Run a judge for every lane beside this block. No judge may hold open `own`, the engine's own streams."""
    pids = _fork_judges(tests, conditions, lanes, own, note)
    try:
        yield
    except BaseException:
        for pid in pids:
            os.kill(pid, signal.SIGTERM)  # not reaped yet, so it is there
        raise
    finally:
        for pid in pids:
            _await_or_kill(pid)
        for lane in lanes:
            if lane.zygote is not None:
                lane.zygote.close()


def _await_or_kill(judge: int) -> None:
    """Wait until a judge has ended. Kill one that hangs in C; its zygote clears up."""
    if not await_end(judge, time.monotonic() + _PATIENCE):
        os.kill(judge, signal.SIGKILL)
    os.waitpid(judge, 0)


def _fork_judges(
    tests: Tests,
    conditions: Conditions,
    lanes: Sequence[LaneEnds],
    own: Sequence[BinaryIO],
    note: Note | None,
) -> list[int]:
    sys.stdout.flush()
    sys.stderr.flush()
    pids = []
    for number, lane in enumerate(lanes, start=1):
        engine = os.getpid()
        pid = os.fork()
        if pid == 0:
            _keep_to_a_core(number, lane.zygote)
            others = [other for other in lanes if other is not lane]
            _be_a_judge(engine, tests, conditions, lane, number, others, own, note)
        pids.append(pid)
    if lanes:
        _keep_to_a_core(0, lanes[0].engines)
    for lane in lanes:
        lane.hand_over()
    return pids


def _keep_to_a_core(number: int, zygote: Zygote | None) -> None:
    """Keep a judge, its zygote and so all its workers on one core: they take turns, and its caches stay warm.

    So a submission with many threads slows down nobody else, too. Where the system has no such call or forbids it,
    lanes are a tenth slower.
    """
    if zygote is None or not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    with contextlib.suppress(OSError):
        for pid in (os.getpid(), zygote.pid):
            os.sched_setaffinity(pid, {cores[number % len(cores)]})


def _be_a_judge(
    engine: int,
    tests: Tests,
    conditions: Conditions,
    lane: LaneEnds,
    number: int,
    others: list[LaneEnds],
    own: Sequence[BinaryIO],
    note: Note | None,
) -> None:
    status = 3
    try:
        end_with_the_parent(signal.SIGKILL)  # the engine waits for its judges, unless it is killed itself
        if os.getppid() != engine:
            os._exit(0)
        for other in others:
            other.hand_over()
        for stream in own:
            stream.close()
        if lane.engines is not None:
            lane.engines.hand_over()
        sandbox = open_sandbox(lane.zygote, conditions.sandbox.level, files_for(conditions.device))
        own_time = OwnTime(conditions.limits.test_seconds, note, number)
        conditions = replace(conditions, sandbox=sandbox, own_time=own_time)
        try:
            with lane.launcher.makefile("rb") as requests, lane.launcher.makefile("wb") as replies:
                answer(tests, conditions, requests, replies)
        finally:
            sandbox.close()
        status = 0
    except (KeyboardInterrupt, ConnectionError):
        status = 130  # nobody waits for it any more
    except BaseException:
        traceback.print_exc()
    finally:
        close_open_roots()
        os._exit(status)

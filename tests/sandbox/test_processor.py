"""Processor time: all that a submission uses is counted, and none of the trusted side's is its to use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from softmark.records.limits import Limits
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.process import ForkedWorker
from tests.support.confined import needs_landlock
from tests.support.sandboxes import SHORT, ask, loaded, sandbox, value

SUBMISSION = """
import os, signal, struct, time

def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def in_a_child(work):
    while True:
        try:
            if os.fork() == 0:
                try:
                    work()
                finally:
                    os._exit(0)
            return True
        except OSError:
            time.sleep(0.01)

def children():
    while True:
        in_a_child(lambda: compute(0.02))
        os.wait()

def grandchildren():
    def family():
        for _ in range(4):
            in_a_child(lambda: compute(0.02))
        for _ in range(4):
            os.wait()
    while True:
        in_a_child(family)
        os.wait()

def orphans():
    while True:
        in_a_child(lambda: in_a_child(lambda: compute(0.05)))

def ignored():
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    except OSError:
        pass
    while True:
        in_a_child(lambda: compute(0.02))

def not_waited_for():
    while True:
        in_a_child(lambda: compute(0.02))

def some(seconds):
    in_a_child(lambda: compute(seconds))
    os.wait()
    return 1

def closes_output():
    os.close(1)
    os.close(2)
    time.sleep(60)

def floods():
    while True:
        os.write(1, b"x" * 65536)

def crumbles():
    wire = next(number for number in range(3, 64) if is_open(number))
    os.write(wire, struct.pack("<Q", 1 << 20))
    while True:
        os.write(wire, b"x")

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

def prints(lines):
    for _ in range(lines):
        print("x" * 99, flush=True)
    return lines
"""


@pytest.fixture(scope="module")
def walled() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@needs_landlock
class TestChildren:
    """What a worker has others compute for it."""

    @pytest.mark.parametrize("how", ["children", "grandchildren", "orphans", "ignored", "not_waited_for"])
    def test_is_on_the_tests_clock(self, how: str, walled: Sandbox) -> None:
        """However short-lived they are, and whoever waits for them, their time is the test's."""
        out_of_time = pytest.raises(StudentFailure, match=r"of computing time|of them computing")
        with loaded(walled, SUBMISSION) as worker, out_of_time:
            value(worker, how)

    def test_is_known_after_the_answer(self, walled: Sandbox) -> None:
        """The next call of the same test has so much less, and the end of the worker tells of all."""
        with loaded(walled, SUBMISSION) as worker:
            before = worker.cpu_seconds()
            assert value(worker, "some", 0.03) == 1
            known = worker.cpu_seconds() - before
            ended = worker.close()
        assert known >= 0.02  # the kernel tells it in hundredths
        assert ended is not None
        assert ended.cpu_seconds >= before + 0.03


class TestTrustedSide:
    """What a worker can have the trusted side do."""

    @pytest.mark.parametrize("how", ["closes_output", "floods", "crumbles"])
    def test_is_not_kept_busy(self, how: str, walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        """It looks at a worker some dozen times in a tick, and not as often as it can."""
        with loaded(walled, SUBMISSION) as worker:
            assert isinstance(worker, ForkedWorker)
            looks, select = [], worker._selector.select
            monkeypatch.setattr(worker._selector, "select", lambda timeout: looks.append(timeout) or select(timeout))
            with pytest.raises(StudentFailure, match="no answer within"):
                value(worker, how)
        assert len(looks) < 4000  # in 3.5 s, with 20 ticks of 35 looks each in a second

    def test_a_flood_is_told_as_such(self, walled: Sandbox) -> None:
        """A program that waits because it prints more than can be read is not said to wait."""
        told = pytest.raises(StudentFailure, match="printing without end, not computing")
        with loaded(walled, SUBMISSION) as worker, told:
            value(worker, "floods")

    def test_much_output_is_no_hindrance(self, walled: Sandbox) -> None:
        """A right program that prints line by line answers, call after call."""
        with loaded(walled, SUBMISSION, limits=replace(SHORT, output_bytes=100)) as worker:
            assert [value(worker, "prints", 400) for _ in range(30)] == [400] * 30
            ended = worker.close()
            assert f"{30 * 400 * 100 - 200} bytes omitted" in worker.printed()[0]
        assert ended is not None


class TestKernelsLimit:
    """The kernel's own limit of processor time, for when the trusted side does not look."""

    def test_is_told_as_time(self, walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process that is ended by it was out of time; it did not need too much memory.

        The kernel counts in ticks, so a limit of one second may end a process on a busy machine much too early.
        """
        monkeypatch.setattr(Limits, "of_a_worker", lambda _: 3)
        with loaded(walled, SUBMISSION, limits=replace(SHORT, cpu_seconds=60)) as worker:
            with pytest.raises(StudentFailure, match="no answer within 3 s of computing time") as caught:
                ask(worker, "compute", 50, cpu_seconds=50.0)
            assert caught.value.category == "timeout"

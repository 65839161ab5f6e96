"""The clocks and counts of a student process: whatever its code does or leaves undone, the wait for it ends."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from softmark.sandbox import wire
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.isolation import Sandbox
from tests.support.sandboxes import FILE, SHORT, ask, load, loaded, not_for_ever, sandbox, value

BRIEF = 0.5  # seconds on the clock that a program which waits is given here
SLOW = """
import mmap, os, time

def compute():
    while True:
        pass

def wait():
    time.sleep(3600)

def write(sent):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, sent)
        except OSError:
            pass

def begin_and_wait(sent):
    write(sent)
    time.sleep(3600)

def begin_and_compute(sent):
    write(sent)
    while True:
        pass

def dribble(sent):
    write(sent)
    while True:
        write(b"x")
        time.sleep(0.01)

def last(x):
    return x[-1]

def answer_and_stop_reading(frame):
    write(frame)
    time.sleep(3600)

def share():
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 16_000_000))
        kept[-1].write(b"x" * 16_000_000)

def fill(number):
    for name in range(number):
        os.close(os.open(str(name), os.O_CREAT | os.O_WRONLY))
    time.sleep(3600)

def twin(x):
    os.fork()
    return x + 1
"""
FRAME = wire.pack({"id": 2, "done": {"value": "x" * 10_000, "changed": []}})
BEGINNINGS = {
    "a byte": FRAME[:1],
    "the prefix without its last byte": FRAME[: wire.PREFIX - 1],
    "the prefix": FRAME[: wire.PREFIX],
    "the prefix and a byte": FRAME[: wire.PREFIX + 1],
    "half a frame": FRAME[: len(FRAME) // 2],
    "all but the last byte": FRAME[:-1],
}


@pytest.fixture(scope="module")
def walled() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def times_out(place: Sandbox, name: str, *args: Any, says: str = "no answer within", **limits: Any) -> None:
    """Assert that the call ends as a time-out with these words, and the process with it."""
    with not_for_ever(), loaded(place, SLOW) as worker:
        with pytest.raises(StudentFailure, match=says) as caught:
            ask(worker, name, *args, **limits)
        assert caught.value.category == "timeout"
        assert not worker.alive


class TestTimeLimits:
    """Code that gives no answer."""

    def test_of_computing(self, walled: Sandbox) -> None:
        """An endless loop ends at the limit of computing time, which is named, and not at the one on the clock."""
        with not_for_ever(), loaded(walled, SLOW) as worker:
            with pytest.raises(StudentFailure, match=r"^no answer within 0\.5 s of computing time$") as caught:
                ask(worker, "compute")
            assert caught.value.category == "timeout"
            ended = worker.close()
            assert ended is not None
            assert 0.5 <= ended.cpu_seconds < 1.5

    def test_of_waiting(self, walled: Sandbox) -> None:
        """A program that sleeps ends at the limit on the clock, and is told that it did not compute."""
        times_out(walled, "wait", says="^no answer within 3 s; the program was waiting, not computing$")

    def test_of_what_is_left_on_the_clock(self, walled: Sandbox) -> None:
        """A program that sleeps ends sooner if less is left of the time for everything."""
        times_out(walled, "wait", says="waiting, not computing", cpu_seconds=100, wall_seconds=BRIEF)

    def test_of_waiting_without_walls(self) -> None:
        """A worker that was started as a program is waited for no longer."""
        with sandbox("spawned") as opened:
            times_out(opened, "wait", wall_seconds=BRIEF)
            times_out(opened, "begin_and_wait", BEGINNINGS["the prefix"], wall_seconds=BRIEF)

    def test_of_loading(self, walled: Sandbox) -> None:
        """A file that never ends loading ends at the limit of loading."""
        worker = walled.open({FILE: b"while True: pass\n"}, replace(SHORT, import_seconds=0.3))
        with not_for_ever(), pytest.raises(StudentFailure, match=r"^no answer within 0\.3 s of computing time$"):
            load(worker, 0.3)
        assert not worker.alive


class TestUnfinishedAnswers:
    """Code that begins a reply on the wire and does not end it."""

    @pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=BEGINNINGS)
    def test_are_not_waited_for(self, beginning: bytes, walled: Sandbox) -> None:
        """Code that writes a part of a frame and sleeps is timed out like code that writes nothing."""
        times_out(walled, "begin_and_wait", beginning, says="waiting, not computing", wall_seconds=BRIEF)

    def test_are_no_rest_from_computing(self, walled: Sandbox) -> None:
        """Code that writes a part of a frame and loops for ever has its computing time, and no more."""
        times_out(walled, "begin_and_compute", BEGINNINGS["the prefix"], says="of computing time")

    def test_that_grow_byte_by_byte(self, walled: Sandbox) -> None:
        """Code that adds a byte of the frame now and then does not put off the end of its time."""
        times_out(walled, "dribble", (1_000_000).to_bytes(wire.PREFIX, "little"), wall_seconds=BRIEF)

    def test_cannot_hang_a_wire_that_blocks(self, walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        """The end comes even where nobody has said of the wire that it must not block."""
        monkeypatch.setattr(socket.socket, "setblocking", lambda *_: None)
        for beginning in ("the prefix", "half a frame"):
            times_out(walled, "begin_and_wait", BEGINNINGS[beginning], wall_seconds=BRIEF)

    @pytest.mark.parametrize("blocking", [False, True], ids=["", "on a wire that blocks"])
    def test_and_questions_that_are_not_read(
        self, blocking: bool, walled: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Code that answers by itself and reads no further question does not hold up who sends a large one."""
        if blocking:
            monkeypatch.setattr(socket.socket, "setblocking", lambda *_: None)
        with not_for_ever(), loaded(walled, SLOW) as worker:
            ask(worker, "begin_and_wait", FRAME)
            with pytest.raises(StudentFailure, match="no answer within") as caught:
                ask(worker, "last", torch.zeros(4_000_000), wall_seconds=BRIEF)
            assert caught.value.category == "timeout"
            assert not worker.alive


class TestCounts:
    """What is counted while an answer is awaited."""

    def test_shared_memory_is_memory(self, walled: Sandbox) -> None:
        """Shared memory, which no limit of the kernel's counts, counts at a level that has no walls against it."""
        with not_for_ever(), sandbox("process") as place, loaded(place, SLOW) as worker:
            with pytest.raises(StudentFailure, match="needed more than 300 MB of memory") as caught:
                ask(worker, "share", cpu_seconds=20)
            assert caught.value.category == "memory"

    def test_there_is_no_shared_memory_behind_walls(self, walled: Sandbox) -> None:
        """Behind walls it cannot be had, and asking for it is told as asking for too much memory."""
        with loaded(walled, SLOW) as worker:
            with pytest.raises(StudentFailure, match="needed more memory than it is allowed") as caught:
                ask(worker, "share")
            assert caught.value.category == "memory"
            assert worker.alive

    def test_empty_files_are_files(self, walled: Sandbox) -> None:
        """Files without content are limited in number, so that clearing up does not take for ever."""
        too_many = pytest.raises(StudentFailure, match="far too many of them")
        with not_for_ever(), loaded(walled, SLOW) as worker, too_many:
            ask(worker, "fill", 150_000, cpu_seconds=60)

    def test_only_the_first_of_two_processes_answers(self, walled: Sandbox) -> None:
        """Code that forks gives one answer: that of its twin is not taken for the next question's."""
        with not_for_ever(), loaded(walled, SLOW) as worker:
            assert [value(worker, "twin", number) for number in range(10)] == list(range(1, 11))
            ended = worker.close()
            assert ended is not None
            assert ended.clean

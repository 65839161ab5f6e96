"""Nothing that a student's code starts outlives its worker, whatever it does about it and however the grader ends.

Full isolation is promised from the first Landlock on, and only its sixth version keeps signals inside. So every case
runs on the kernel as it is, with a zygote that takes the kernel for one of the first version, and at level process,
where nothing but a user id of its own keeps a student's code apart and it may leave its process group.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir

import pytest

from softmark.records.limits import Level
from softmark.sandbox import zygote
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.isolation import ForkedSandbox
from softmark.sandbox.process import ForkedWorker
from softmark.sandbox.procfs import descendants, users_of_processes
from softmark.sandbox.uids import BLOCK
from softmark.sandbox.walls import environment
from softmark.sandbox.zygote import Zygote
from tests.support.confined import needs_landlock, needs_root
from tests.support.processes import await_ends
from tests.support.sandboxes import FILE, SHORT, load, loaded, value

OLD_KERNEL = (
    "-c",
    "from softmark.sandbox import zygote\nfrom softmark.sandbox.walls import landlock\n"
    "landlock.abi = lambda: landlock.FILES\nzygote.main()",
)
LEAVES = """
import ctypes, os, signal, socket, threading, time

def child(live):
    here, there = os.pipe()
    if os.fork() == 0:
        try:
            leave_group()
            os.write(there, b".")
            live()
        finally:
            os._exit(0)
    os.read(here, 1)
    return 1

def forever():
    while True:
        pass

def kill_all():
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass

def stop_all():
    while True:
        try:
            os.kill(-1, signal.SIGSTOP)
        except OSError:
            pass

def storm():
    while True:
        try:
            os.fork()
        except OSError:
            pass

def detach():
    if os.fork() == 0:
        if os.fork() == 0:
            signal.pause()
    os._exit(0)

def leave_group():
    try:
        os.setsid()
    except OSError:
        pass

def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    forever()

def end_main_thread():
    threading.Thread(target=forever).start()
    ctypes.CDLL(None).syscall(60 if os.uname().machine == "x86_64" else 93, 0)

def stop_itself():
    os.kill(os.getpid(), signal.SIGSTOP)

def adopt():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    detach_once()
    forever()

def detach_once():
    if os.fork() == 0:
        if os.fork() == 0:
            forever()
        os._exit(0)

def flood():
    while True:
        for descriptor in range(1, 64):
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, b"x" * 4096)
            except OSError:
                pass

def unheard():
    ctypes.CDLL(None).syscall(56 if os.uname().machine == "x86_64" else 220, 0, 0, 0, 0, 0)  # clone without a signal
    forever()

def leave(how):
    return child(globals()[how])
"""
HOW = [
    *("kill_all", "stop_all", "storm", "detach", "deaf", "end_main_thread", "stop_itself", "adopt"),
    *("flood", "unheard"),
]


pytestmark = [needs_root, needs_landlock]
FREEZER = Path("/sys/fs/cgroup/freezer")


@pytest.fixture(
    scope="module",
    params=[(zygote._PROGRAM, Level.FULL), (OLD_KERNEL, Level.FULL), (zygote._PROGRAM, Level.PROCESS)],
    ids=["this kernel", "Landlock 1", "no walls"],
)
def place(request: pytest.FixtureRequest) -> Iterator[ForkedSandbox]:
    """A sandbox over a zygote of its own, which has to live through everything."""
    program, level = request.param
    started = Zygote.spawn(environment(gettempdir()), program)
    opened = ForkedSandbox(started, level)
    yield opened
    opened.close()
    started.close()


@pytest.fixture
def short_lived() -> Iterator[Zygote]:
    """A zygote that may be ended."""
    started = Zygote.spawn(environment(gettempdir()), OLD_KERNEL)
    yield started
    started.close()


def living(place: ForkedSandbox) -> set[int]:
    """Which ids of a sandbox's block some process has."""
    assert place._uids is not None
    first = place._uids._first
    return users_of_processes() & set(range(first, first + BLOCK))


class TestLeftBehind:
    """A worker that has left something running."""

    @pytest.mark.parametrize("how", HOW)
    def test_is_ended_with_its_worker(self, how: str, place: ForkedSandbox) -> None:
        """Nothing is left, the zygote says so, and the next worker answers."""
        with loaded(place, LEAVES) as worker:
            with suppress(StudentFailure):  # some hit the worker, too
                assert value(worker, "leave", how) == 1
            ended = worker.close()
        assert ended is not None
        assert ended.clean
        assert ended.leftovers >= 1
        assert descendants(place._zygote.pid) == []
        assert living(place) == set()
        with loaded(place, LEAVES) as worker:
            assert value(worker, "leave", "detach_once") == 1

    @pytest.mark.parametrize("how", ["end_main_thread", "stop_itself", "kill_all"])
    def test_the_worker_itself(self, how: str, place: ForkedSandbox) -> None:
        """A worker that stops, or goes on without its main thread, is out of time, and ended like any other."""
        with loaded(place, LEAVES) as worker:
            with pytest.raises(StudentFailure) as caught:
                value(worker, how)
            assert caught.value.category == "timeout"
            assert worker.close() == worker.close()
        assert descendants(place._zygote.pid) == []
        assert living(place) == set()


@contextmanager
def left(zygote: Zygote, how: str) -> Iterator[tuple[ForkedSandbox, ForkedWorker]]:
    """A sandbox and its worker, which has left something running and is not ended by this."""
    place = ForkedSandbox(zygote, Level.FULL)
    worker = place.open({FILE: LEAVES.encode()}, SHORT)
    load(worker, SHORT.import_seconds)
    with suppress(StudentFailure):
        value(worker, "leave", how)
    assert living(place)
    yield place, worker
    place.close()


class TestDescendants:
    """The processes below another one."""

    def test_without_a_main_thread(self) -> None:
        """A process whose main thread has ended, and another thread not, is a living one."""
        program = [sys.executable, "-c", f"{LEAVES}\nprint(flush=True)\nend_main_thread()"]
        with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            while "Z" not in Path(f"/proc/{process.pid}/stat").read_text():
                assert process.poll() is None
            found = descendants(os.getpid())
            process.kill()
        assert process.pid in found
        assert process.pid not in descendants(os.getpid())


class TestGraderThatEnds:
    """The trusted processes end, in any way, while a student's processes run."""

    @pytest.mark.parametrize("how", ["detach", "storm", "deaf"])
    def test_engine_that_is_killed(self, how: str, short_lived: Zygote) -> None:
        """When nobody holds the other end of its socket, the zygote ends the worker's processes, then itself."""
        with left(short_lived, how) as (place, _):
            ending = os.pidfd_open(short_lived.pid)
            short_lived.hand_over()
            await_ends([ending])
            assert living(place) == set()

    def test_signals_that_end_programs(self, short_lived: Zygote) -> None:
        """What a batch system, a service manager or a terminal sends to all processes leaves the zygote at work."""
        with left(short_lived, "deaf") as (place, worker):
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):
                os.kill(short_lived.pid, number)
            ended = worker.close()
            assert ended is not None
            assert ended.clean
            assert living(place) == set()

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
    def test_zygote_that_ends_or_hangs(self, number: int, short_lived: Zygote) -> None:
        """The engine waits for it in vain for a while, ends what it can end no more, and says what has happened."""
        with left(short_lived, "storm") as (place, worker):
            os.kill(short_lived.pid, number)
            short_lived._control.settimeout(0.2)
            with pytest.raises(GraderFault, match="zygote"):
                worker.close()
            assert living(place) == set()


@pytest.mark.skipif(not FREEZER.is_dir(), reason="there is no way here to make a process that cannot be killed")
class TestUnkillable:
    """A process that the kernel cannot end: one that is frozen stands for one that waits for a dead file server."""

    def test_is_not_waited_for_without_end(self) -> None:
        """It is told of, nothing further is opened beside it, and the zygote ends nevertheless."""
        program = (OLD_KERNEL[0], f"from softmark.sandbox import zygote\nzygote.PATIENCE = 0.3\n{OLD_KERNEL[1]}")
        started = Zygote.spawn(environment(gettempdir()), program)
        with left(started, "deaf") as (place, worker), frozen(worker):
            ended = worker.close()
            assert ended is not None
            assert not ended.clean
            with pytest.raises(GraderFault, match="could not be killed"):
                place.open({}, SHORT)
            started.close()


@contextmanager
def frozen(worker: ForkedWorker) -> Iterator[None]:
    """All processes of a worker stand still, and do not even die, until this ends."""
    group = FREEZER / f"softmark-test-{os.getpid()}"
    group.mkdir()
    try:
        for pid in [worker.pid, *descendants(worker.pid)]:
            (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        yield
    finally:
        (group / "freezer.state").write_text("THAWED")
        while (group / "cgroup.procs").read_text():
            pass  # they have been sent SIGKILL and are dying
        group.rmdir()

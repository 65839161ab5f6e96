"""What a worker can use up, tried for real behind the walls."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

from softmark.records.limits import Limits
from tests.support.confined import INSTRUCTOR, IS_ROOT, LEVELS, attempt, needs_signal_scope


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _fork_until_refused() -> int:
    children: list[int] = []
    try:
        while len(children) < 200:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except BlockingIOError:
        return len(children)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    raise AssertionError("200 processes and no end")


def _start_threads_until_refused() -> None:
    stay = threading.Event()
    for _ in range(200):
        threading.Thread(target=stay.wait, daemon=True).start()


class TestLimits:
    def test_memory(self, level: str) -> None:
        """3 GB are refused as Python, numpy and torch refuse memory; half a gigabyte is not."""
        assert attempt(lambda: bytearray(3 << 30), level).error == "MemoryError"
        assert "MemoryError" in str(attempt(lambda: np.ones(3 << 27), level).error)
        outcome = attempt(lambda: torch.ones(3 << 28), level)
        assert (outcome.error, "memory" in outcome.message) == ("RuntimeError", True)
        assert attempt(lambda: len(bytearray(500_000_000)), level).value == 500_000_000

    def test_file_size(self, level: str) -> None:
        """A file, on disk or in memory, stops at the allowance with an error the code can see."""

        def fill(descriptor: int) -> None:
            for _ in range(3):
                os.write(descriptor, bytes(500_000))

        small = Limits(file_mb=1)
        on_disk = attempt(lambda: fill(os.open("big", os.O_WRONLY | os.O_CREAT)), level, limits=small)
        in_memory = attempt(
            lambda: os.ftruncate(os.memfd_create("big"), 2_000_000), level, limits=small, use_seccomp=False
        )
        assert (on_disk.errno, in_memory.errno) == (errno.EFBIG, errno.EFBIG)

    def test_processes(self, level: str) -> None:
        """A fork bomb is stopped at the allowance."""
        made = attempt(_fork_until_refused, level, limits=Limits(processes=20)).value
        if level == "full":
            assert made == 19  # and the worker itself
        else:
            assert 0 < made <= 30  # other processes of the same user come and go meanwhile

    @needs_signal_scope
    def test_what_the_user_runs_besides_takes_nothing_away(self) -> None:
        """The kernel counts all threads of a user. Of somebody's who runs many the worker has its whole allowance."""
        many = (
            "import threading as t; [t.Thread(target=input).start() for _ in range(40)]; print('running', flush=True)"
        )
        with subprocess.Popen(
            [sys.executable, "-I", "-c", many],
            user=INSTRUCTOR if IS_ROOT else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as busy:
            assert busy.stdout is not None
            assert busy.stdout.readline() == b"running\n"
            made = attempt(_fork_until_refused, "user", limits=Limits(processes=20)).value
            busy.kill()
        assert made >= 10  # others of its processes may end meanwhile

    def test_threads(self, level: str) -> None:
        """Threads count as processes do."""
        outcome = attempt(_start_threads_until_refused, level, limits=Limits(processes=20))
        assert outcome.message == "can't start new thread"

    def test_open_files(self, level: str) -> None:
        """Descriptors run out at the allowance, which is small: what pipes and sockets hold counts for nobody."""

        def exhaust() -> tuple[int, int]:
            held: list[int] = []
            try:
                while True:
                    held.append(os.dup(0))
            except OSError as error:
                return len(held), error.errno or 0

        already = 4  # the standard three and the report
        assert attempt(exhaust, level).value == (64 - already, errno.EMFILE)

    def test_addresses(self, level: str) -> None:
        """A map of terabytes, whose page tables would be memory, is refused even if nothing is written to it."""
        outcome = attempt(lambda: mmap.mmap(-1, 1 << 40, mmap.MAP_PRIVATE, mmap.PROT_READ).close(), level)
        assert outcome.errno == errno.ENOMEM

    def test_many_threads_find_room(self, level: str) -> None:
        """As many threads as are allowed, each with a heap of its own, are no matter of addresses."""

        def compute() -> int:
            stay, blocks = threading.Barrier(61), []

            def work() -> None:
                blocks.append(bytearray(50_000))
                stay.wait()

            for _ in range(60):
                threading.Thread(target=work).start()
            stay.wait()
            return len(blocks)

        allowed = Limits(processes=100)
        assert attempt(compute, level, limits=allowed).value == 60

    def test_locked_memory(self, level: str) -> None:
        """No page can be kept from being reclaimed."""
        libc = ctypes.CDLL(None, use_errno=True)
        assert attempt(lambda: libc.mlockall(1), level).value == -1

    def test_timers(self, level: str) -> None:
        """Timers, each of which is the kernel's memory, run out."""

        def start() -> int:
            libc = ctypes.CDLL(None)
            return sum(libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0 for _ in range(1000))

        assert 0 < attempt(start, level).value <= 256

    def test_processor_time(self, level: str) -> None:
        """Past the backstop the kernel kills, handlers or not."""

        def spin() -> None:
            signal.signal(signal.SIGXCPU, signal.SIG_IGN)
            while True:
                pass

        assert attempt(spin, level, cpu_backstop=1).killed_by == signal.SIGKILL

    def test_cannot_be_raised(self, level: str) -> None:
        """Soft and hard limits are equal, so there is no way up; there are no core dumps."""
        kinds = ("CPU", "DATA", "AS", "STACK", "MEMLOCK", "FSIZE", "NOFILE", "NPROC", "CORE")
        pairs = attempt(lambda: [resource.getrlimit(getattr(resource, f"RLIMIT_{kind}")) for kind in kinds], level)
        assert all(soft == hard != resource.RLIM_INFINITY for soft, hard in pairs.value)
        assert pairs.value[-1] == (0, 0)


LOWER = """
import resource
from softmark.records.limits import Limits
from softmark.sandbox.walls import rlimits

kinds = [resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC]
for kind in kinds:
    resource.setrlimit(kind, (30, 30))
rlimits.impose(Limits(), 1000, own_uid=True)
print({resource.getrlimit(kind) for kind in kinds})
"""


def test_lower_limits_stay() -> None:
    """What a container or an administrator allows is never raised, though a process of root's could raise it."""
    done = subprocess.run([sys.executable, "-c", LOWER], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{(30, 30)}\n", "")

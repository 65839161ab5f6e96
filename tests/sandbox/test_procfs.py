"""What the trusted side reads about a worker's processes, against what they are known to hold."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from softmark.sandbox import procfs

MB = 1_000_000
EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]
WORKER = -1  # no process of these tests: each counts as one that a worker has forked


def stay(ready: int) -> None:
    os.write(ready, b"x")
    signal.pause()


@contextmanager
def child(work: Callable[[int], None]) -> Iterator[int]:
    """A child of this process that has come to the point where `work` calls `stay`."""
    reader, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work(ready)
        finally:
            os._exit(1)
    os.close(ready)
    try:
        assert os.read(reader, 1) == b"x"
        yield pid
    finally:
        for process in (*procfs.descendants(pid), pid):
            os.kill(process, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)


def held() -> int:
    """What is counted of the children of this process; what they had from it is not theirs."""
    return procfs.usage(os.getpid(), WORKER, procfs.private_memory(os.getpid())).memory_bytes


INHERITED = bytearray(os.urandom(1)) * (100 * MB)


def fill(ready: int) -> None:
    block = bytearray(b"x" * (100 * MB))
    stay(ready)
    del block


def write_to_inherited(ready: int) -> None:
    for page in range(0, len(INHERITED), 4096):
        INHERITED[page] = 1
    stay(ready)


def touch_here_and_there(ready: int) -> None:
    """A page of 4 kB of page tables for each page that is read, 100 MB in all."""
    block = mmap.mmap(-1, 50 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
    block.madvise(mmap.MADV_NOHUGEPAGE)
    sum(block[:: 2 << 20])
    stay(ready)


def end_the_first_thread(ready: int) -> None:
    def work() -> None:
        block = bytearray(b"x" * (100 * MB))
        first.join(1)
        stay(ready)
        del block

    first = threading.main_thread()
    threading.Thread(target=work).start()
    ctypes.CDLL(None).syscall(EXIT, 0)


def in_a_grandchild(ready: int) -> None:
    if os.fork() == 0:
        fill(ready)
    signal.pause()


class TestMemory:
    """What processes hold, in whichever way they hold it."""

    @pytest.mark.parametrize(
        "work", [fill, write_to_inherited, touch_here_and_there, end_the_first_thread, in_a_grandchild]
    )
    def test_is_counted(self, work: Callable[[int], None]) -> None:
        """A hundred megabytes are found. At most the inherited is counted beside them, if pages were written to."""
        inherited = procfs.private_memory(os.getpid())
        before = held()
        with child(work):
            assert 95 * MB < held() - before < 140 * MB + inherited

    def test_inherited_is_not(self) -> None:
        """What a child shares with its parent is not its own."""
        before = held()
        with child(stay):
            assert held() - before < 50 * MB

    def test_open_descriptors_are(self) -> None:
        """A socket may hold data in the kernel that no process is told of."""

        def open_sockets(ready: int) -> None:
            pairs = [socket.socketpair() for _ in range(50)]
            stay(ready)
            del pairs

        with child(stay):
            few = held()
        with child(open_sockets):
            assert held() > few + 100 * 200_000


class TestFamily:
    """Finding the processes below another."""

    def test_is_what_a_search_of_all_processes_finds(self) -> None:
        """Children, and children of children."""
        before = len(procfs.family(os.getpid()))
        with child(in_a_grandchild):
            assert sorted(procfs.family(os.getpid())) == sorted(procfs.descendants(os.getpid()))
            assert len(procfs.family(os.getpid())) == before + 2

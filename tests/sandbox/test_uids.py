"""User ids are one run's alone, and come back when it ends, however it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from softmark.sandbox import uids
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.uids import BLOCK, FIRST, UidLease


@pytest.fixture(autouse=True)
def two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of its own with two blocks of user ids."""
    monkeypatch.setattr(uids, "_LOCKS", tmp_path / "locks")
    monkeypatch.setattr(uids, "BLOCKS", 2)
    return tmp_path / "locks"


@contextmanager
def another_run() -> Iterator[tuple[int, int]]:
    """Another process that holds a lease: its process id, and the first uid of its block."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(UidLease().next()).encode())
            signal.pause()
        finally:
            os._exit(1)
    try:
        yield pid, int(os.read(reader, 100))
    finally:
        end(pid)
        os.close(reader)
        os.close(writer)


def end(pid: int) -> None:
    """Kill a child, if it has not been ended before, and wait until it is gone."""
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class TestUidLease:
    """A block of user ids."""

    def test_gives_each_worker_another_one(self) -> None:
        """Within a run no id comes back before the whole block was used, and none is outside of it."""
        lease = UidLease()
        first = [lease.next() for _ in range(BLOCK)]
        assert len(set(first)) == BLOCK
        assert set(first) <= set(range(FIRST, FIRST + 2 * BLOCK))
        assert lease.next() == first[0]
        lease.close()

    def test_two_processes_share_none(self) -> None:
        """Two runs at once hold different blocks, and a third is told that there are no more."""
        with another_run() as (_, theirs):
            ours = UidLease()
            assert abs(ours.next() - theirs) == BLOCK
            with pytest.raises(GraderFault, match="all 2 blocks of student user ids are in use"):
                UidLease()
            ours.close()

    def test_comes_back_when_its_run_is_killed(self) -> None:
        """The kernel returns a block whose holder was killed; nothing has to be tidied up."""
        with another_run() as (process, theirs):
            ours = UidLease()
            end(process)
            again = UidLease()
            assert again.next() == theirs
            ours.close()
            again.close()

    def test_locks_are_the_owners_alone(self, two_blocks: Path) -> None:
        """No other user may hold a lock and so starve every run on the machine."""
        UidLease().close()
        assert two_blocks.stat().st_mode & 0o777 == 0o700
        assert {entry.stat().st_mode & 0o777 for entry in two_blocks.iterdir()} == {0o600}
        assert two_blocks.stat().st_uid == os.geteuid()

"""User ids are one run's alone, and come back when it ends, however it ends."""

from __future__ import annotations

import grp
import os
import pwd
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from softmark.sandbox import uids
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.uids import BLOCK, UidLease
from tests.support.confined import needs_root

FIRST = 65_536
LOGIN_DEFS = Path("/etc/login.defs")
ALL_RANGES = uids._RANGES


@pytest.fixture(autouse=True)
def two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of its own with two blocks of user ids."""
    monkeypatch.setattr(uids, "_LOCKS", tmp_path / "locks")
    monkeypatch.setattr(uids, "_RANGES", (range(FIRST, FIRST + 2 * BLOCK), range(FIRST, FIRST)))
    for name in ("_LOGIN_DEFS", "_SUBORDINATE", "_MAPS"):
        file = tmp_path / name
        monkeypatch.setattr(uids, name, file if name == "_LOGIN_DEFS" else (file,))
    (tmp_path / "_MAPS").write_text("0 0 4294967295\n")
    return tmp_path / "locks"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files describe a machine with all the ids that a lease may choose from."""
    monkeypatch.setattr(uids, "_RANGES", ALL_RANGES)
    return tmp_path


@contextmanager
def another_run() -> Iterator[tuple[int, int]]:
    """Another process that holds a lease: its process id, and the first uid of its block."""
    with child(lambda: UidLease().next()) as told:
        yield told


@contextmanager
def child(prepare: Callable[[], int]) -> Iterator[tuple[int, int]]:
    """A process that lives on after `prepare`: its process id, and the number that came of it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, str(prepare()).encode())
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


def leased() -> int:
    """The first id of the block that a run would get now."""
    lease = UidLease()
    lease.close()
    return lease.next()


class TestUidLease:
    """A block of user ids."""

    def test_gives_each_worker_another_one(self) -> None:
        """Within a run no id comes back before the block was used, none is outside of it, and none is the spare."""
        lease = UidLease()
        first = [lease.next() for _ in range(BLOCK - 1)]
        assert len({*first, lease.spare}) == BLOCK
        assert {*first, lease.spare} <= set(range(FIRST, FIRST + 2 * BLOCK))
        assert lease.next() == first[0]
        lease.close()

    def test_two_processes_share_none(self) -> None:
        """Two runs at once hold different blocks, and a third is told that there are no more."""
        with another_run() as (_, theirs):
            ours = UidLease()
            assert abs(ours.next() - theirs) == BLOCK
            with pytest.raises(GraderFault, match=r"no user ids are free .* 2 blocks of 16 are leased by other runs"):
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


class TestNobodyElses:
    """Ids that belong to somebody are not leased."""

    @needs_root
    @pytest.mark.parametrize("kind", ["real", "effective", "saved", "group"])
    def test_of_a_living_process(self, kind: str) -> None:
        """A block is passed over as long as a process of it lives, be it by any one of its ids."""

        def become() -> int:
            taken = FIRST + 3
            if kind == "group":
                os.setresgid(taken, taken, taken)
            else:
                os.setresuid(*(taken if kind == each else 0 for each in ("real", "effective", "saved")))
            return taken

        with child(become) as (process, _):
            assert {leased() for _ in range(12)} == {FIRST + BLOCK}
            end(process)
        assert {leased() for _ in range(40)} == {FIRST, FIRST + BLOCK}

    @pytest.mark.parametrize(("database", "look_up"), [(pwd, "getpwuid"), (grp, "getgrgid")], ids=["user", "group"])
    def test_with_a_name(self, database: object, look_up: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A block is passed over if one of its ids has a name, wherever the system keeps its names."""

        def named(number: int) -> str:
            if number == FIRST + BLOCK - 1:
                return "somebody"
            raise KeyError(number)

        monkeypatch.setattr(database, look_up, named)
        assert {leased() for _ in range(12)} == {FIRST + BLOCK}

    def test_of_people_by_default(self, machine: Path) -> None:
        """Where login.defs is missing or silent, its defaults hold: no id below 60,001 or above 99,999 is leased."""
        (machine / "_LOGIN_DEFS").write_text("# UID_MIN 5\nUMASK 022\n")
        assert all(65_536 <= leased() < 100_000 for _ in range(20))

    @pytest.mark.parametrize(
        ("written", "free"),
        [
            ("UID_MIN 1000\nUID_MAX 90000\n", range(90_001, 100_000)),
            ("GID_MIN\t65000\nGID_MAX\t99000\n", range(99_001, 100_000)),
            ("SUB_UID_MIN 65536\n", range(60_706, 61_184)),
            ("SYS_UID_MIN 0x10000\nSYS_UID_MAX 0x15F90\n", range(90_001, 100_000)),
        ],
        ids=["people", "groups", "containers", "system"],
    )
    def test_of_this_machines_people(self, written: str, free: range, machine: Path) -> None:
        """The ranges that an administrator has changed are kept clear of."""
        (machine / "_LOGIN_DEFS").write_text(written)
        assert all(leased() in free for _ in range(20))

    def test_of_containers(self, machine: Path) -> None:
        """Ids that somebody may use in a user namespace (rootless containers, userns-remap) are kept clear of."""
        (machine / "_SUBORDINATE").write_text("anna:65536:30000\n1001:95536:4000\n")
        assert all(99_536 <= leased() < 100_000 for _ in range(20))

    @pytest.mark.parametrize("mapped", ["0 100000 65536\n", "0 1000 1\n1 100000 65536\n"], ids=["remapped", "rootless"])
    def test_in_a_namespace_of_16_bits(self, mapped: str, machine: Path) -> None:
        """In a container whose user namespace has 65,536 ids, one of those is leased."""
        (machine / "_MAPS").write_text(mapped)
        assert all(60_706 <= leased() < 61_184 for _ in range(20))

    @pytest.mark.parametrize(
        ("file", "text"), [("_LOGIN_DEFS", "UID_MAX 4294967294\n"), ("_MAPS", "0 1000 1\n")], ids=["people", "one id"]
    )
    def test_where_none_is_free(self, file: str, text: str, machine: Path) -> None:
        """Where every id belongs to somebody, one sentence says so and what to do; nothing is taken."""
        (machine / file).write_text(text)
        with pytest.raises(GraderFault, match="no user ids are free for student code on this machine") as caught:
            UidLease()
        assert str(caught.value).endswith("end other runs, or narrow those ranges")

    @pytest.mark.skipif(not LOGIN_DEFS.exists(), reason="this system has no login.defs")
    def test_on_this_very_machine(self, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """No id of a block is in this machine's ranges for people."""
        monkeypatch.setattr(uids, "_LOGIN_DEFS", LOGIN_DEFS)
        numbers = dict(re.findall(r"^(UID_M\w+)\s+(\d+)", LOGIN_DEFS.read_text(), re.M))
        assert leased() not in range(int(numbers.get("UID_MIN", 1000)), int(numbers.get("UID_MAX", 60_000)) + 1)

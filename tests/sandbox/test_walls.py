"""The walls as a whole: what a worker is, what it can do to others, what it sees, and when they refuse."""

from __future__ import annotations

import ctypes
import datetime
import errno
import getpass
import os
import resource
import select
import signal
import tempfile
import threading
from pathlib import Path

import pytest

from softmark.records.limits import Limits
from softmark.sandbox import walls
from softmark.sandbox.walls import landlock, rlimits, seccomp
from tests.support.confined import (
    LEVELS,
    PATIENCE,
    STUDENT,
    Outcome,
    attempt,
    forked,
    needs_root,
    needs_signal_scope,
    scratch_of,
)


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _nothing() -> str:
    return "the work was done"


def _environment_of_libc() -> dict[str, str]:
    entries = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found = {}
    position = 0
    while (entry := entries[position]) is not None:
        name, _, value = entry.decode().partition("=")
        found[name] = value
        position += 1
    return found


class TestIdentity:
    @needs_root
    def test_own_uid(self) -> None:
        """The worker is the uid it was given and nothing else: user, group, no other groups."""
        who = attempt(lambda: (os.getresuid(), os.getresgid(), os.getgroups())).value
        assert who == ((STUDENT,) * 3, (STUDENT,) * 3, [])

    def test_no_way_back_to_root(self, level: str) -> None:
        """Becoming root, by user or group id, is refused."""
        for regain in (os.setuid, os.setgid, os.seteuid):
            assert attempt(lambda regain=regain: regain(0), level).refused

    def test_no_privileges(self, level: str) -> None:
        """No capability is left in any set that matters, and none can be gained."""
        told = attempt(lambda: rlimits.status("self"), level).value
        assert {told[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
        assert told["NoNewPrivs"] == "1"
        assert told["Seccomp"] == "2"

    @needs_root
    def test_kept_capabilities(self) -> None:
        """Capabilities that an ancestor asked the kernel to keep across the change of user are emptied."""
        keep_capabilities = 8
        outcome = attempt(lambda: rlimits.status("self")["CapPrm"], before=lambda: seccomp.prctl(keep_capabilities, 1))
        assert outcome.value == "0" * 16

    def test_undumpable(self, level: str) -> None:
        """Other processes of the same user cannot look into the worker, and it leaves no core."""
        get_dumpable, set_dumpable = 3, 4
        outcome = attempt(lambda: seccomp.prctl(get_dumpable), level, before=lambda: seccomp.prctl(set_dumpable, 1))
        assert outcome.value == 0

    @needs_root
    def test_bounding_set(self) -> None:
        """Started by root, not even the set that programs could draw capabilities from is left."""
        assert attempt(lambda: rlimits.status("self")["CapBnd"]).value == "0" * 16

    def test_session(self, level: str) -> None:
        """The worker leads its own session and process group and cannot leave them."""
        assert attempt(lambda: os.getsid(0) == os.getpgid(0) == os.getpid(), level).value is True

        def leave() -> int:
            reader, writer = os.pipe()
            if os.fork() == 0:
                try:
                    os.setsid()
                except PermissionError:
                    os.write(writer, b"refused")
                os._exit(0)
            os.close(writer)
            return os.read(reader, 10)

        assert attempt(leave, level).value == b"refused"


class TestOtherProcesses:
    def test_signals(self, level: str) -> None:
        """The parent cannot be signalled, although at level `user` it is the same user's."""
        assert attempt(lambda: os.kill(os.getppid(), 0), level).refused
        assert attempt(lambda: os.kill(os.getppid(), signal.SIGURG), level).refused

    def test_limits(self, level: str) -> None:
        """The parent's limits cannot be lowered."""
        assert attempt(lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0)), level).refused

    def test_own_children(self, level: str) -> None:
        """A child of the worker can be made, signalled and awaited."""

        def raise_and_end() -> int:
            child = os.fork()
            if child == 0:
                signal.pause()
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]

        assert attempt(raise_and_end, level).value == signal.SIGKILL

    def test_no_sibling(self, level: str) -> None:
        """A process cannot be made a child of the worker's parent."""

        def clone_as_sibling() -> int:
            libc = ctypes.CDLL(None, use_errno=True)
            number = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
            pid = libc.syscall(ctypes.c_long(number), ctypes.c_ulong(0x8000 | signal.SIGCHLD), 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            return ctypes.get_errno()

        assert attempt(clone_as_sibling, level).value == errno.EPERM

    @needs_root
    def test_dies_with_its_parent(self) -> None:
        """When the parent is killed the worker is gone too, without anybody looking for it."""
        reader, writer = os.pipe()
        with scratch_of(STUDENT) as scratch:

            def wait_for_ever(report: int) -> None:
                os.dup2(writer, 1)
                walls.raise_walls(walls.Walls(scratch, STUDENT, Limits(), 60), (report,), os.getppid())
                os.write(1, b"up")
                signal.alarm(2 * PATIENCE)
                signal.pause()

            parent = os.fork()
            if parent == 0:
                os.close(reader)
                forked(wait_for_ever)
            os.close(writer)
            assert os.read(reader, 2) == b"up"
            os.kill(parent, signal.SIGKILL)
            os.waitpid(parent, 0)
            gone, _, _ = select.select([reader], [], [], PATIENCE)
        assert gone
        assert os.read(reader, 1) == b""  # end of file: nobody holds the other end
        os.close(reader)


class TestEnvironment:
    def test_constants_only(self, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The worker sees the constants and nothing of what the grader was started with or has set since."""
        monkeypatch.setenv("SOFTMARK_CANARY", "secret")
        outcome = attempt(lambda: (os.getcwd(), dict(os.environ), _environment_of_libc()), level)
        scratch, seen, seen_by_libc = outcome.value
        assert seen == seen_by_libc == walls.environment(scratch)

    def test_block_of_the_kernel(self, level: str) -> None:
        """The memory that held the original environment is blank."""
        start, size = walls._environment_block()
        assert ctypes.string_at(start, size).strip(b"\0")
        assert attempt(lambda: ctypes.string_at(start, size).strip(b"\0"), level).value == b""

    def test_what_depends_on_it(self, level: str) -> None:
        """Temporary files, home, user name and time zone follow."""

        def ask() -> list[str]:
            now = datetime.datetime.now().astimezone()
            return [tempfile.gettempdir(), os.path.expanduser("~"), getpass.getuser(), str(now.tzname())]

        tempfile.gettempdir()  # a zygote may have asked before
        temporary, home, user, zone = attempt(ask, level).value
        assert temporary == home
        assert home.startswith("/tmp/softmark-test-")
        assert (user, zone) == ("student", "UTC")

    def test_private_files(self, level: str) -> None:
        """What the worker creates is closed to other users."""

        def create() -> int:
            Path("file").write_text("")
            return os.stat("file").st_mode & 0o777

        assert attempt(create, level).value == 0o600


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


class TestDescriptors:
    def test_only_the_given(self, level: str) -> None:
        """Of all that was open only 0, 1, 2 and the given one are left, and 0 is empty."""
        leaks = [os.open("/etc/passwd", os.O_RDONLY), os.dup(0)]
        os.dup2(leaks[0], 900)
        try:
            outcome = attempt(lambda: ([number for number in range(1024) if is_open(number)], os.read(0, 1)), level)
        finally:
            for leak in (*leaks, 900):
                os.close(leak)
        (*standard, report), read = outcome.value
        assert standard == [0, 1, 2]
        assert read == b""
        assert report not in leaks

    def test_terminal(self, level: str) -> None:
        """A terminal as standard output is refused: something could be typed into it."""
        outcome = attempt(_nothing, level, before=lambda: os.dup2(os.openpty()[1], 1))
        assert (outcome.step, outcome.message) == ("descriptors", "standard output or error is a terminal")


class TestVictim:
    """Whom the kernel ends first when memory runs out."""

    def test_is_the_worker(self, level: str) -> None:
        """The worker, before everybody else, and it cannot take that back."""

        def look() -> str:
            return Path("/proc/self/oom_score_adj").read_text().strip()

        def take_back() -> None:
            ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # may be looked into: else only root may write there
            Path("/proc/self/oom_score_adj").write_text("0")

        assert attempt(look, level, use_landlock=False).value == "1000"
        assert attempt(take_back, level).refused


class TestRefusal:
    """Walls that cannot stand are refused by the name of the step, and the work is not done."""

    def check(self, outcome: Outcome, step: str, message: str) -> None:
        assert (outcome.error, outcome.step) == ("WallError", step), outcome
        assert message in outcome.message
        assert outcome.value is None

    @needs_root
    def test_root(self) -> None:
        """Neither keeping root nor being given root is possible."""
        self.check(attempt(_nothing, uid=None), "identity", "never runs as root")
        self.check(attempt(_nothing, uid=0), "identity", "0 is no user")

    @needs_signal_scope
    def test_foreign_uid_without_root(self) -> None:
        """An ordinary user who asks for another uid does not get the walls without it."""
        self.check(attempt(_nothing, "user", uid=STUDENT), "identity", "Operation not permitted")

    def test_parent(self, level: str) -> None:
        """A parent that is already another one was lost before the death signal was set."""
        self.check(attempt(_nothing, level, parent=1), "death", "that one is dead")

    def test_second_thread(self, level: str) -> None:
        """A thread beside would stay outside."""
        stay = threading.Event()
        beside = threading.Thread(target=stay.wait, daemon=True)
        self.check(attempt(_nothing, level, before=beside.start), "system", "has 2 threads")

    def test_scratch(self, level: str) -> None:
        """The scratch directory must be there, the worker's own, private, and no link."""
        self.check(attempt(_nothing, level, scratch="/no/such/place"), "place", "No such file")
        self.check(attempt(_nothing, level, scratch="/tmp"), "scratch", "belongs to user 0")
        self.check(attempt(_nothing, level, scratch_mode=0o755), "scratch", "mode 755")
        link = f"/tmp/softmark-link-{os.getpid()}"
        os.symlink("/tmp", link)
        try:
            self.check(attempt(_nothing, level, scratch=link), "scratch", "is a link")
        finally:
            os.unlink(link)

    def test_old_landlock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a uid of its own, a Landlock that lets signals out is not enough."""
        monkeypatch.setattr(landlock, "abi", lambda: 5)
        self.check(attempt(_nothing, "user"), "landlock", "version 6 is needed, this kernel has 5")

    def test_missing_descriptor(self, level: str) -> None:
        """A standard stream that is closed would be replaced by the next file opened."""
        self.check(attempt(_nothing, level, before=lambda: os.close(2)), "descriptors", "Bad file descriptor")

    def test_lower_level(self, level: str) -> None:
        """Walls asked for without Landlock and seccomp are the rest: no root, own directory, limits."""

        def look() -> tuple[bool, bool, bool]:
            limited = resource.getrlimit(resource.RLIMIT_FSIZE)[1] == 100_000_000
            return os.getuid() != 0, os.environ["HOME"] == os.getcwd(), limited

        assert attempt(look, level, use_landlock=False, use_seccomp=False).value == (True, True, True)

"""What a worker can and cannot open, tried for real behind the walls."""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys
import sysconfig
from pathlib import Path

import pytest

from softmark.sandbox.walls import landlock
from tests.support.confined import INSTRUCTOR, IS_ROOT, LEVELS, attempt, needs_landlock, needs_root

_EXIT_WITH_7 = {
    "x86_64": (62, "b83c000000bf070000000f05"),
    "aarch64": (183, "a80b80d2e00080d2010000d4"),
}


def program() -> bytes:
    """Return the smallest program there is for this machine: it needs no library, and ends with status 7."""
    machine, code = _EXIT_WITH_7[platform.machine()]
    start = 0x400000
    size = 64 + 56 + len(code) // 2
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, machine, 1, start + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, start, start, size, size, 0x1000) + bytes.fromhex(code)


PROGRAM = program()
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(64)


def write(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


class TestDeviceFiles:
    """What a graphics card needs, tried on a device file that every machine has."""

    def test_can_be_used_where_it_is_allowed(self, level: str) -> None:
        """A named device file can be opened for reading and writing; without its name it cannot."""
        assert attempt(lambda: os.close(os.open("/dev/full", os.O_RDWR)), level).refused
        assert not attempt(
            lambda: os.close(os.open("/dev/full", os.O_RDWR)), level, device_files=("/dev/full",)
        ).refused


class TestReading:
    @pytest.mark.parametrize("path", ["/etc/passwd", "/etc/hostname", "/proc/1/cmdline", "/proc/version"])
    def test_system_file(self, level: str, path: str) -> None:
        """Files that every user may read are refused all the same."""
        assert attempt(lambda: read(path), level).refused

    @pytest.mark.parametrize("path", ["/", "/etc", "/tmp", "/dev/shm", "/home", "/proc", str(REPOSITORY)])
    def test_directory(self, level: str, path: str) -> None:
        """No directory outside can be listed."""
        assert attempt(lambda: os.listdir(path), level).refused

    def test_repository(self, level: str) -> None:
        """The course's sources cannot be read, although the virtual environment may lie among them."""
        for path in (REPOSITORY / "pyproject.toml", REPOSITORY / "src/softmark/__init__.py"):
            assert attempt(lambda path=path: read(path), level).refused

    def test_own_users_secret(self, level: str, tmp_path: Path) -> None:
        """A file of the very user the worker runs as is refused: Landlock asks for no owner."""
        secret = Path("/tmp") / f"softmark-secret-{os.getpid()}"
        secret.write_text("canary")
        if IS_ROOT:
            os.chown(secret, INSTRUCTOR, INSTRUCTOR)
        try:
            assert attempt(lambda: read(str(secret)), level).refused
        finally:
            secret.unlink()

    @needs_root
    def test_root_only_file(self, tmp_path: Path) -> None:
        """A file only root can read is refused even with Landlock off: the uid is a wall of its own."""
        secret = Path("/tmp") / f"softmark-root-{os.getpid()}"
        secret.touch(mode=0o600)
        try:
            assert attempt(lambda: read(str(secret)), use_landlock=False, use_seccomp=False).refused
        finally:
            secret.unlink()

    @pytest.mark.parametrize("entry", ["environ", "maps", "mem", "cmdline", "status"])
    def test_parent_in_proc(self, level: str, entry: str) -> None:
        """Nothing of the parent can be read through /proc, not even what is open to everybody."""
        assert attempt(lambda: read(f"/proc/{os.getppid()}/{entry}"), level).refused

    @pytest.mark.parametrize(
        "entry",
        [
            *(
                "environ",
                "cmdline",
                "cgroup",
                "mountinfo",
                "mounts",
                "maps",
                "smaps",
                "limits",
                "io",
                "auxv",
                "loginuid",
            ),
            *("net/dev", "net/unix", "attr/current", "oom_score", "sched", "mem", "pagemap", "task/{pid}/status"),
        ],
    )
    def test_of_itself_in_proc(self, level: str, entry: str) -> None:
        """What the process's own entry tells of the machine: command line, mounts, cgroups, network, memory map."""
        assert attempt(lambda: read(f"/proc/self/{entry.format(pid=os.getpid())}"), level).refused

    @pytest.mark.parametrize("folder", ["", "/fd", "/task", "/ns", "/map_files", "/net"])
    def test_folder_of_itself_in_proc(self, level: str, folder: str) -> None:
        """None of its folders can be listed."""
        assert attempt(lambda: os.listdir(f"/proc/self{folder}"), level).refused

    def test_through_a_link(self, level: str) -> None:
        """A link in scratch does not lead outside; neither does /proc/self/root."""

        def follow() -> bytes:
            os.symlink("/etc/passwd", "innocent.csv")
            return read("innocent.csv")

        assert attempt(follow, level).refused
        assert attempt(lambda: read("/proc/self/root/etc/passwd"), level).refused

    def test_libraries_and_devices(self, level: str) -> None:
        """The standard library, installed packages, /dev/urandom, /dev/null and facts about the processor are open."""

        def look() -> list[int]:
            paths = [os.__file__, pytest.__file__, "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo"]
            write("/dev/null")
            paths += [f"/proc/self/{name}" for name in ("stat", "statm", "status")]
            return [len(read(path)) for path in [*paths, "/sys/devices/system/cpu/online"]]

        outcome = attempt(look, level)
        assert outcome.error is None, outcome
        assert all(size > 0 for size in outcome.value)

    def test_what_the_caller_adds(self, level: str) -> None:
        """A path given as readable can be read and not written."""
        given = ("/etc/hostname",)
        assert attempt(lambda: read("/etc/hostname"), level, readable=given).value
        assert attempt(lambda: write("/etc/hostname"), level, readable=given).refused


class TestWriting:
    @pytest.mark.parametrize("directory", ["/tmp", "/dev/shm", "/var/tmp", sysconfig.get_path("purelib")])
    def test_outside(self, level: str, directory: str) -> None:
        """World-writable directories, shared memory and installed packages cannot be written."""
        path = f"{directory}/softmark-left-behind-{os.getpid()}"
        assert attempt(lambda: write(path), level).refused
        assert attempt(lambda: os.mkdir(path), level).refused
        assert not os.path.exists(path)

    def test_scratch(self, level: str) -> None:
        """In scratch everything ordinary works: making, renaming, linking, truncating, deleting."""

        def work() -> list[str]:
            os.makedirs("a/b")
            write("a/b/one")
            os.rename("a/b/one", "two")
            os.link("two", "a/three")
            os.symlink("two", "four")
            os.truncate("two", 0)
            os.unlink("four")
            os.rmdir("a/b")
            return sorted(os.listdir("."))

        assert attempt(work, level).value == ["a", "two"]

    def test_programs_of_ones_own(self, level: str) -> None:
        """A program that is written to scratch cannot be started: Landlock refuses it, also without the other wall."""

        def run() -> int:
            with open("program", "wb") as file:
                file.write(PROGRAM)
            os.chmod("program", 0o700)
            pid = os.posix_spawn("./program", ["program"], {})
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        refused = attempt(run, level, use_seccomp=False)
        assert (refused.errno, refused.refused) == (errno.EACCES, True)
        assert attempt(run, level, use_seccomp=False, use_landlock=False).value == 7  # it would run

    def test_special_files(self, level: str) -> None:
        """No named pipe can be made for a trusted reader to hang on."""
        assert attempt(lambda: os.mkfifo("pipe"), level).refused

    def test_links_to_libraries(self, level: str) -> None:
        """A library file cannot be linked into scratch, where a careless clean-up might hand it over."""
        outcome = attempt(lambda: os.link(os.__file__, "mine.py"), level)
        assert outcome.error in ("PermissionError", "OSError"), outcome


@needs_landlock
class TestFence:
    def test_grants_no_prefix(self) -> None:
        """No rule covers the repository, the root, or a whole prefix with its programs."""
        granted = [Path(rule.path) for rule in landlock.fence().rules]
        for place in map(Path, (REPOSITORY, REPOSITORY / "graders", "/", sys.prefix, "/etc", "/tmp")):
            assert not [path for path in granted if path == place or path in place.parents]

    def test_no_rule_executes_or_writes(self) -> None:
        """Outside scratch only /dev/null can be written and nothing executed."""
        executes, writes = 1 << 0, 1 << 1
        rules = landlock.fence().rules
        assert not [rule for rule in rules if rule.rights & executes]
        assert [rule.path for rule in rules if rule.rights & writes] == ["/dev/null"]

    def test_readable_must_exist(self) -> None:
        """A readable path that is not there is an error, not a rule less."""
        with pytest.raises(FileNotFoundError):
            landlock.fence(("/no/such/directory",))

    def test_old_kernel(self) -> None:
        """A kernel of Landlock's first version is asked for nothing it does not know, and still guards files."""

        def confine_as_version_1() -> None:
            landlock.Fence(1, landlock.fence().rules).restrict(".")
            read("/etc/passwd")

        outcome = attempt(confine_as_version_1, use_landlock=False)
        assert outcome.refused, outcome

    def test_no_landlock(self) -> None:
        """Without Landlock the fence refuses to pretend."""
        outcome = attempt(lambda: landlock.Fence(0, ()).restrict("."), use_landlock=False)
        assert (outcome.error, outcome.message) == ("OSError", "this kernel has no Landlock")

"""The system call filter: as a program, evaluated for each call; and in the kernel, on real calls."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

from softmark.sandbox.walls import seccomp
from tests.support.confined import LEVELS, Outcome, attempt

ALLOW, KILL = "allow", "kill"
CONVENTIONS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
CONDITIONAL = {
    *("socketpair", "clone", "prlimit64", "ioctl", "rt_sigaction", "mmap", "prctl", "fcntl", "open", "openat"),
}
DANGEROUS = """
    socket 41 198; sendmsg 46 211; sendmmsg 307 269
    ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; pidfd_getfd 438 438; kcmp 312 272
    pidfd_send_signal 424 424; process_madvise 440 440; process_mrelease 448 448; move_pages 279 239
    setpriority 141 140; ioprio_set 251 30; sched_setscheduler 144 119; sched_setattr 314 274
    setsid 112 157; setpgid 109 154
    execve 59 221; execveat 322 281
    unshare 272 97; setns 308 268; clone3 435 435
    shmget 29 194; shmat 30 196; msgget 68 186; msgsnd 69 189; semget 64 190; semop 65 193
    mq_open 240 180; mq_timedsend 242 182; mq_timedreceive 243 183
    add_key 248 217; request_key 249 218; keyctl 250 219
    mount 165 40; umount2 166 39; pivot_root 155 41; chroot 161 51; open_tree 428 428; move_mount 429 429
    fsopen 430 430; fsconfig 431 431; fsmount 432 432; fspick 433 433; mount_setattr 442 442
    statmount 457 457; listmount 458 458
    name_to_handle_at 303 264; open_by_handle_at 304 265; inotify_add_watch 254 27; fanotify_init 300 262
    io_uring_setup 425 425; io_uring_enter 426 426; io_uring_register 427 427; bpf 321 280
    userfaultfd 323 282; perf_event_open 298 241; personality 135 92; memfd_secret 447 447
    acct 163 89; reboot 169 142; kexec_load 246 104; kexec_file_load 320 294; syslog 103 116
    init_module 175 105; finit_module 313 273; delete_module 176 106; swapon 167 224; quotactl 179 60
    fchown 93 55; fchownat 260 54; setxattr 188 5; fsetxattr 190 7
"""
"""Name, x86_64, aarch64: calls that no student may make, whatever the filter's own table says."""


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=sorted(CONVENTIONS))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def judge(machine: str, number: int, *arguments: int, convention: int | None = None) -> str | int:
    """What the filter answers to a call: a small model of the kernel's BPF machine."""
    words = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, convention or CONVENTIONS[machine], 0, *words)
    code = list(struct.iter_unpack("=HBBI", seccomp.program(machine)))
    accumulator = position = 0
    while True:
        operation, then, otherwise, value = code[position]
        position += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value, value & 0xFFFF)
        else:
            holds = {0x15: accumulator == value, 0x25: accumulator > value, 0x35: accumulator >= value}[operation]
            position += then if holds else otherwise


def number_of(machine: str, name: str) -> int:
    return next(number for called, number, _ in seccomp.refused(machine) if called == name)


class TestProgram:
    def test_refuses_the_table_and_nothing_else(self, machine: str) -> None:
        """Every unconditional call of the table gets its errno; every other known call is allowed."""
        table = {number: answer for name, number, answer in seccomp.refused(machine) if name not in CONDITIONAL}
        conditional = {number for name, number, _ in seccomp.refused(machine) if name in CONDITIONAL}
        for number in set(range(463)) - conditional:
            assert judge(machine, number) == table.get(number, ALLOW), number

    def test_unknown_calls(self, machine: str) -> None:
        """Calls newer than the table are answered as an older kernel would."""
        assert {judge(machine, number) for number in (463, 467, 1000)} == {errno.ENOSYS}

    def test_other_conventions(self, machine: str) -> None:
        """A 32-bit call ends the process, whatever its number means there; so does an x32 one."""
        assert judge(machine, 20, convention=0x40000003) == KILL
        assert judge(machine, 20, convention=0x40000028) == KILL
        assert judge("x86_64", 0x40000000 + 101) == KILL

    def test_clone(self, machine: str) -> None:
        """Processes and threads can be made; in no new namespace, and not as a sibling."""
        clone = number_of(machine, "clone")
        thread, fork = 0x3D0F00, 0x01200011
        assert judge(machine, clone, thread) == judge(machine, clone, fork) == ALLOW
        for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x8000):
            assert judge(machine, clone, fork | flag) == errno.EPERM, hex(flag)

    def test_prlimit(self, machine: str) -> None:
        """Limits of the process itself only; garbage in the unused half of a register is no way around."""
        prlimit = number_of(machine, "prlimit64")
        assert judge(machine, prlimit, 0) == ALLOW
        assert judge(machine, prlimit, 1 << 32) == ALLOW  # the kernel reads process 0 there too
        assert judge(machine, prlimit, 4711) == errno.EPERM

    def test_sigaction(self, machine: str) -> None:
        """A program may have its own way with every signal but the one that tells of a child's end."""
        action = number_of(machine, "rt_sigaction")
        refused = [number for number in range(1, 65) if judge(machine, action, number) != ALLOW]
        assert refused == [17]
        assert judge(machine, action, 17 | 1 << 32) == errno.EPERM

    def test_ioctl(self, machine: str) -> None:
        """Typing into a terminal is refused, also with the high bits set that the kernel does not look at."""
        ioctl = number_of(machine, "ioctl")
        assert judge(machine, ioctl, 0, 0x5401) == ALLOW
        for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
            assert judge(machine, ioctl, 0, request) == errno.EPERM, hex(request)

    def test_requests_of_file_systems(self, machine: str) -> None:
        """Space cannot be reserved by ioctl either, nor extents moved about: not by the types that file systems use."""
        ioctl = number_of(machine, "ioctl")
        for request in (0x40305828, 0x4030582A, 0x40305839, 0x40049409, 0x4008662A, 0xF501):
            assert judge(machine, ioctl, 3, request) == errno.EPERM, hex(request)
        assert judge(machine, ioctl, 3, 0xC00846D6) == ALLOW  # a graphics card's driver

    def test_mmap(self, machine: str) -> None:
        """Memory of the process's own and maps of files can be had; memory that no limit counts is refused."""
        mmap = number_of(machine, "mmap")
        private, anonymous, shared, stack = 0x02, 0x20, 0x01, 0x20000
        for flags in (private | anonymous, private | anonymous | stack, private, shared):
            assert judge(machine, mmap, 0, 4096, 3, flags) == ALLOW, hex(flags)
        for flags in (shared | anonymous, 0x03 | anonymous, private | anonymous | 0x100, private | anonymous | 0x40000):
            assert judge(machine, mmap, 0, 4096, 3, flags) == errno.ENOMEM, hex(flags)

    def test_memory_of_the_kernels(self, machine: str) -> None:
        """Locks and larger pipes are done without doing, a table of futexes is refused, and the rest passes."""
        fcntl, prctl = number_of(machine, "fcntl"), number_of(machine, "prctl")
        assert {judge(machine, fcntl, 3, command) for command in (6, 7, 37, 38, 1031)} == {0}
        assert {judge(machine, fcntl, 3, command) for command in (0, 1, 2, 3, 4, 5, 36, 1030, 1032)} == {ALLOW}
        assert judge(machine, prctl, 78) == errno.EPERM
        assert judge(machine, prctl, 15) == ALLOW

    def test_files_without_a_name(self, machine: str) -> None:
        """A file is opened by its name or made under one."""
        openat = number_of(machine, "openat")
        assert judge(machine, openat, -100 % 2**64, 0, os.O_RDWR | os.O_CREAT) == ALLOW
        assert judge(machine, openat, -100 % 2**64, 0, os.O_RDWR | os.O_TMPFILE) == errno.ENOTSUP

    def test_socketpair(self, machine: str) -> None:
        """Only pairs of stream sockets: a datagram one could be sent to another address."""
        pair = number_of(machine, "socketpair")
        close_on_exec = 0o2000000
        assert judge(machine, pair, 1, 1) == judge(machine, pair, 1, 1 | close_on_exec) == ALLOW
        assert {judge(machine, pair, *call) for call in ((1, 2), (1, 5), (1, 3), (16, 1), (40, 1))} == {errno.EACCES}

    def test_unknown_machine(self) -> None:
        """A machine without a table is refused by name."""
        with pytest.raises(OSError, match="no system call table for riscv64"):
            seccomp.program("riscv64")

    def test_numbers_are_the_kernels(self, machine: str) -> None:
        """Every number in the table is the one in the kernel's own header (as far as the header is recent enough)."""
        if not HEADERS[machine].exists():
            pytest.skip(f"{HEADERS[machine]} is not installed")
        defined = r"#define\s+__NR(?:3264)?_(\w+)\s+(\d+)"
        numbers = {name: int(number) for name, number in re.findall(defined, HEADERS[machine].read_text())}
        checked = [(name, number) for name, number, _ in seccomp.refused(machine) if name in numbers]
        assert len(checked) > 90
        assert [(name, number) for name, number in checked if numbers[name] != number] == []


class TestDangerousCalls:
    """System calls that are written down here, and not read from the table under test."""

    @pytest.mark.parametrize("line", DANGEROUS.strip().replace("\n", ";").split(";"), ids=lambda line: line.split()[0])
    def test_are_refused_on_both_machines(self, line: str) -> None:
        """The filter answers with an errno, whatever the arguments are."""
        _, *numbers = line.split()
        for machine, number in zip(("x86_64", "aarch64"), map(int, numbers), strict=True):
            for arguments in ((), (1, 1, 1, 1, 1, 1), (2**64 - 1,) * 6):
                assert judge(machine, number, *arguments) in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTSUP)

    def test_no_key_is_left_for_the_next_submission(self, level: str) -> None:
        """A key in the kernel's keyring would be a channel from one submission to another of the same user."""
        numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
        user_keyring = ctypes.c_long(-4)

        def leave_a_key() -> list[int]:
            libc = ctypes.CDLL(None, use_errno=True)
            add_key, keyctl = (ctypes.c_long(number) for number in numbers)
            answers = []
            for call in ((add_key, b"user", b"softmark", b"x", 1, user_keyring), (keyctl, 0, user_keyring, 0, 0, 0)):
                ctypes.set_errno(0)
                answers += [libc.syscall(*call), ctypes.get_errno()]
            return answers

        assert attempt(leave_a_key, level, use_landlock=False).value == [-1, errno.EPERM] * 2


class TestKernel:
    def test_every_call_of_the_table(self, level: str) -> None:
        """The kernel answers each refused call with the table's errno, whatever its arguments."""
        table = [call for call in seccomp.refused(platform.machine()) if call[0] not in CONDITIONAL]

        def call_them_all() -> list[str]:
            libc = ctypes.CDLL(None, use_errno=True)
            wrong = []
            for name, number, answer in table:
                ctypes.set_errno(0)
                libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0, 0)
                if ctypes.get_errno() != answer:
                    wrong.append(f"{name}: {errno.errorcode.get(ctypes.get_errno())}")
            return wrong

        assert attempt(call_them_all, level).value == []

    @pytest.mark.parametrize("family", [1, 2, 10, 16, 17, 38, 40])
    def test_socket(self, level: str, family: int) -> None:
        """No socket of any family: Unix, IPv4, IPv6, netlink, packet, crypto, virtual machine."""
        outcome = attempt(lambda: socket.socket(family, socket.SOCK_DGRAM).close(), level)
        assert outcome.errno == errno.EACCES

    def test_socketpair(self, level: str) -> None:
        """The pair that pipes and event loops are made of works."""

        def talk() -> bytes:
            ours, theirs = socket.socketpair()
            ours.sendall(b"hello")
            return theirs.recv(5)

        assert attempt(talk, level).value == b"hello"
        assert attempt(lambda: socket.socketpair(type=socket.SOCK_DGRAM), level).errno == errno.EACCES

    def test_programs(self, level: str) -> None:
        """No program can be started: not from the system, not one made in memory."""
        assert attempt(lambda: subprocess.run(["/bin/true"], check=True), level).refused

        def from_memory() -> None:
            program = os.memfd_create("program")
            os.write(program, b"#!/bin/true\n")
            os.execve(program, ["program"], {})

        assert attempt(from_memory, level).refused

    def test_temporary_files(self, level: str) -> None:
        """What libraries do instead of what is refused: files are copied, made without a name, and given a size."""

        def use() -> tuple[bytes, int]:
            with tempfile.TemporaryFile() as file:
                os.posix_fallocate(file.fileno(), 0, 10_000)
                size = os.fstat(file.fileno()).st_size
            Path("a.txt").write_bytes(b"content")
            shutil.copyfile("a.txt", "b.txt")
            return Path("b.txt").read_bytes(), size

        assert attempt(use, level).value == (b"content", 10_000)

    def test_shared_memory(self, level: str) -> None:
        """Memory that is shared is not to be had, in whichever way it is asked for, and says so as memory does."""
        assert attempt(lambda: mmap.mmap(-1, 4096).close(), level).errno == errno.ENOMEM
        assert attempt(lambda: mmap.mmap(-1, 4096, mmap.MAP_PRIVATE).close(), level) == Outcome()
        assert attempt(lambda: os.close(os.memfd_create("x")), level).refused
        assert attempt(lambda: os.close(os.open("/dev/zero", os.O_RDONLY)), level).refused

    def test_x32_call(self) -> None:
        """A call in disguise ends the process at once."""
        if platform.machine() != "x86_64":
            pytest.skip("x32 exists on x86_64 only")
        outcome = attempt(lambda: ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39)), use_landlock=False)
        assert outcome.killed_by == signal.SIGSYS

    def test_copying_files(self, level: str) -> None:
        """shutil.copy2 works, although modes and times are left as they are."""

        def copy() -> tuple[str, int]:
            Path("a.txt").write_text("content")
            shutil.copy2("a.txt", "b.txt")
            os.chmod("b.txt", 0o777)
            return Path("b.txt").read_text(), os.stat("b.txt").st_mode & 0o777

        assert attempt(copy, level).value == ("content", 0o600)

"""seccomp: which system calls a student's process can make, decided in the kernel before the call begins.

What it is. A process hands the kernel a small program in the BPF instruction set; the kernel runs it at each
system call of that process and of everything it starts, for good. It sees the call's number and its plain
arguments, nothing that a pointer points to.

Protocol, one system call: prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {instructions}); needs no_new_privs.

Kind of list. torch, BLAS and threads need most system calls, so this is a list of those that are refused. A
refused call returns an errno and kills nothing: libraries try such calls without harm, and the student gets a
PermissionError with a line number. Three holes that such lists usually have are closed:
  * a call by another convention (32-bit, x32), where the numbers mean something else, kills the process;
  * a call newer than the newest one considered here is ENOSYS, as on an older kernel;
  * arguments are compared in the width the kernel uses (the low 32 bits), so stray high bits change nothing.

The program: find the call's number in the table by bisection. If it is not there, allow the call. If it is, return
its errno; for a few calls the arguments decide. The kernel computes once, when the program is installed, which
numbers are always allowed, and does not run the program for them.

What the filter leaves to other walls: paths to Landlock, kill to a uid of the worker's own or to Landlock's signal
scope, amounts to rlimits. Most calls that need a capability are not in the table, because a worker has none. Some
are there as a second lock, because that part of the kernel has had many holes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from dataclasses import dataclass
from errno import EACCES, ENOMEM, ENOSYS, ENOTSUP, EPERM
from functools import cache

_NEWEST = 462  # mseal, Linux 6.10: from 424 on the numbers are the same on every architecture
_IGNORED = 0  # "errno 0": the call is not made and says it succeeded

# Errno, then "name x86_64 aarch64"; a dash where the architecture has no such call.
_TABLE: tuple[tuple[int, str], ...] = (
    # The network, every family of it: a named Unix socket is the way to a container daemon or a desktop. Pairs of
    # stream sockets are allowed (see _CONDITIONS): they are connected from the start and cannot be connected
    # elsewhere. Their buffers keep their first size. They cannot carry descriptors either: no process would hold a
    # file whose descriptor is in a buffer, so nobody would count it.
    (EACCES, "socket 41 198; socketpair 53 199; setsockopt 54 208"),
    (EPERM, "sendmsg 46 211; sendmmsg 307 269"),
    # Other processes: their memory, descriptors, limits and priorities.
    (EPERM, "ptrace 101 117; process_vm_readv 310 270; process_vm_writev 311 271; process_madvise 440 440"),
    (EPERM, "process_mrelease 448 448; kcmp 312 272; pidfd_getfd 438 438; pidfd_send_signal 424 424"),
    (EPERM, "migrate_pages 256 238; move_pages 279 239; prlimit64 302 261; setpriority 141 140"),
    (EPERM, "ioprio_set 251 30; sched_setscheduler 144 119; sched_setparam 142 118; sched_setattr 314 274"),
    # The cores that a process runs on. The call reports success without effect: libraries make it for their threads.
    (_IGNORED, "sched_setaffinity 203 122"),
    # Ignoring the ends of children: the kernel would add the processor time of such a child to no process.
    (EPERM, "rt_sigaction 13 134"),
    # Leaving the session or process group. Since no process can, one kill of the worker's group reaches all of them.
    (EPERM, "setsid 112 157; setpgid 109 154"),
    # New programs: homework needs no more than forks, and a fork stays behind the same walls.
    (EPERM, "execve 59 221; execveat 322 281"),
    # Namespaces. clone's flags are looked at; clone3 keeps them in memory, so it "does not exist" and libc
    # uses clone.
    (EPERM, "unshare 272 97; setns 308 268; clone 56 220"),
    (ENOSYS, "clone3 435 435"),
    # Objects that outlive their process: System V shared memory, queues and semaphores; POSIX queues; keys.
    (EPERM, "shmget 29 194; shmat 30 196; shmctl 31 195; shmdt 67 197; msgget 68 186; msgsnd 69 189"),
    (EPERM, "msgrcv 70 188; msgctl 71 187; semget 64 190; semop 65 193; semtimedop 220 192; semctl 66 191"),
    (EPERM, "mq_open 240 180; mq_unlink 241 181; mq_timedsend 242 182; mq_timedreceive 243 183"),
    (EPERM, "mq_notify 244 184; mq_getsetattr 245 185"),
    (EPERM, "add_key 248 217; request_key 249 218; keyctl 250 219"),
    # Memory that no limit of a process counts (see _CONDITIONS). Shared memory stays when the process has released it
    # with madvise(MADV_DONTNEED). A page in a pipe may keep a large page alive. A table of futexes, file locks and
    # rules of Landlock take memory of the kernel, without a limit. A file lock reports success without effect: the
    # worker has only its own files to lock.
    (ENOMEM, "mmap 9 222"),
    (EPERM, "memfd_create 319 279; prctl 157 167"),
    (EPERM, "landlock_create_ruleset 444 444; landlock_add_rule 445 445; landlock_restrict_self 446 446"),
    (ENOSYS, "splice 275 76; tee 276 77; vmsplice 278 75; sendfile 40 71"),
    (_IGNORED, "fcntl 72 25"),
    # Disk space that is taken without being written, and files that never had a name (see disk.py). Without these calls
    # libraries write, or make a file and unlink it.
    (ENOTSUP, "fallocate 285 47; open 2 -; openat 257 56"),
    (ENOSYS, "openat2 437 437"),  # its flags are in memory
    # Mounts, and files by another way than opening their path; watching a directory would tell the names in it.
    (EPERM, "mount 165 40; umount2 166 39; pivot_root 155 41; chroot 161 51; open_tree 428 428"),
    (EPERM, "move_mount 429 429; fsopen 430 430; fsconfig 431 431; fsmount 432 432; fspick 433 433"),
    (EPERM, "mount_setattr 442 442; statmount 457 457; listmount 458 458"),
    (EPERM, "name_to_handle_at 303 264; open_by_handle_at 304 265; fanotify_init 300 262; inotify_add_watch 254 27"),
    (EPERM, "fanotify_mark 301 263; quotactl 179 60; quotactl_fd 443 443; swapon 167 224; swapoff 168 225"),
    # Parts of the kernel that had many holes, and that no homework uses.
    (EPERM, "io_uring_setup 425 425; io_uring_enter 426 426; io_uring_register 427 427; bpf 321 280"),
    (EPERM, "io_setup 206 0; io_submit 209 2"),  # the contexts are the whole machine's, 65,536 of them
    (EPERM, "userfaultfd 323 282; perf_event_open 298 241; personality 135 92; memfd_secret 447 447"),
    (EPERM, "modify_ldt 154 -; iopl 172 -; ioperm 173 -; uselib 134 -; lookup_dcookie 212 18"),
    # The machine.
    (EPERM, "acct 163 89; reboot 169 142; kexec_load 246 104; kexec_file_load 320 294; syslog 103 116"),
    (EPERM, "init_module 175 105; finit_module 313 273; delete_module 176 106; vhangup 153 58"),
    # Terminals: typing into one (TIOCSTI, TIOCLINUX). File systems: one request takes as much space as fallocate does.
    # All other requests pass.
    (EPERM, "ioctl 16 29"),
    # Owner, mode, times of files, which Landlock does not govern: without a uid of its own the worker could
    # spoil its user's files. Changing modes and times reports success without effect, so that shutil.copy works.
    (EPERM, "chown 92 -; fchown 93 55; lchown 94 -; fchownat 260 54"),
    (_IGNORED, "chmod 90 -; fchmod 91 52; fchmodat 268 53; fchmodat2 452 452"),
    (_IGNORED, "utime 132 -; utimes 235 -; futimesat 261 -; utimensat 280 88"),
    (ENOTSUP, "setxattr 188 5; lsetxattr 189 6; fsetxattr 190 7; removexattr 197 14"),
    (ENOTSUP, "lremovexattr 198 15; fremovexattr 199 16"),
)

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_CLONE_PARENT = 0x00008000  # a child that would be the worker's sibling: a child of the zygote
_AF_UNIX, _SOCK_STREAM, _SOCKET_TYPE = 1, 1, 0xF
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_SIGCHLD = 17
_REQUEST_TYPE = 0xFF00
_OF_FILE_SYSTEMS = (0x5800, 0x6600, 0x9400, 0xF500)  # 'X', 'f', and those of Btrfs and F2FS
_MAP_SHARED_ANONYMOUS, _MAP_GROWSDOWN, _MAP_HUGETLB = 0x21, 0x100, 0x40000  # the last two are not in RLIMIT_DATA
_PR_FUTEX_HASH = 78
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETPIPE_SZ = 6, 7, 37, 38, 1031
_UNNAMED = 0o20000000  # what O_TMPFILE has beside O_DIRECTORY
_WHOLE = 0xFFFFFFFF


@dataclass(frozen=True)
class _Argument:
    """A call is refused if `(argument & mask == value)` is `refuse_if`."""

    argument: int
    mask: int
    value: int
    refuse_if: bool


# A call named here is refused if any of its conditions says so, and allowed otherwise.
_CONDITIONS: dict[str, tuple[_Argument, ...]] = {
    "socketpair": (
        _Argument(0, _WHOLE, _AF_UNIX, refuse_if=False),
        _Argument(1, _SOCKET_TYPE, _SOCK_STREAM, refuse_if=False),
    ),
    "clone": (_Argument(0, _NEW_NAMESPACES | _CLONE_PARENT, 0, refuse_if=False),),
    "prlimit64": (_Argument(0, _WHOLE, 0, refuse_if=False),),  # process 0, itself: libc's getrlimit
    "rt_sigaction": (_Argument(0, _WHOLE, _SIGCHLD, refuse_if=True),),
    "ioctl": (
        _Argument(1, _WHOLE, _TIOCSTI, refuse_if=True),
        _Argument(1, _WHOLE, _TIOCLINUX, refuse_if=True),
        *(_Argument(1, _REQUEST_TYPE, kind, refuse_if=True) for kind in _OF_FILE_SYSTEMS),
    ),
    "mmap": tuple(
        _Argument(3, flags, flags, refuse_if=True) for flags in (_MAP_SHARED_ANONYMOUS, _MAP_GROWSDOWN, _MAP_HUGETLB)
    ),
    "prctl": (_Argument(0, _WHOLE, _PR_FUTEX_HASH, refuse_if=True),),
    "fcntl": tuple(
        _Argument(1, _WHOLE, command, refuse_if=True)
        for command in (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW, _F_SETPIPE_SZ)
    ),
    "open": (_Argument(1, _UNNAMED, _UNNAMED, refuse_if=True),),
    "openat": (_Argument(2, _UNNAMED, _UNNAMED, refuse_if=True),),
}


@dataclass(frozen=True)
class _Architecture:
    audit_name: int  # how the kernel names the calling convention
    column: int  # in _TABLE
    foreign_from: int | None  # numbers from here on are another convention in disguise


_MACHINES = {
    "x86_64": _Architecture(0xC000003E, 0, foreign_from=0x40000000),  # x32
    "aarch64": _Architecture(0xC00000B7, 1, foreign_from=None),
}

# BPF: load a word of the call's description, mask it, compare and jump, return an answer.
_LOAD, _AND, _IF_EQUAL, _IF_ABOVE, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
_NUMBER_AT, _CONVENTION_AT, _ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data; low halves come first
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_INSTRUCTION = struct.Struct("=HBBI")  # struct sock_filter

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)


def prctl(option: int, first: int = 0, second: int = 0) -> int:
    """Call prctl(2), with zeros for unused arguments, as the kernel requires; raise OSError if it fails."""
    result = int(_libc.prctl(option, first, second, 0, 0))
    if result < 0:
        failure = ctypes.get_errno()
        raise OSError(failure, f"prctl {option}: {os.strerror(failure)}")
    return result


@cache
def program(machine: str = platform.machine()) -> bytes:
    """Return the compiled filter for a machine, the same for all workers; raise OSError if there is no table for it."""
    if machine not in _MACHINES:
        raise OSError(f"there is no system call table for {machine}; known: {', '.join(_MACHINES)}")
    target = _MACHINES[machine]
    code = [
        _instruction(_LOAD, _CONVENTION_AT),
        _instruction(_IF_EQUAL, target.audit_name, then=1),
        _instruction(_RETURN, _KILL_PROCESS),
        _instruction(_LOAD, _NUMBER_AT),
    ]
    if target.foreign_from is not None:
        code += _answer_if(_IF_AT_LEAST, target.foreign_from, _KILL_PROCESS)
    code += _answer_if(_IF_ABOVE, _NEWEST, _ERRNO | ENOSYS)
    return b"".join([*code, *_search(sorted(refused(machine), key=lambda call: call[1]))])


def refused(machine: str) -> list[tuple[str, int, int]]:
    """Return name, number and errno of each call that one machine refuses, always or sometimes."""
    column = _MACHINES[machine].column
    calls = []
    for errno, text in _TABLE:
        for name, *numbers in map(str.split, text.split(";")):
            if numbers[column] != "-":
                calls.append((name, int(numbers[column]), errno))
    return calls


def install(compiled: bytes) -> None:
    """Put the filter on this process, for good; raise OSError if the kernel refuses it."""
    instructions = ctypes.create_string_buffer(compiled, len(compiled))
    header = struct.pack("@HP", len(compiled) // _INSTRUCTION.size, ctypes.addressof(instructions))
    described = ctypes.create_string_buffer(header, len(header))  # struct sock_fprog
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(described))


def _search(calls: list[tuple[str, int, int]]) -> list[bytes]:
    """Return code that bisects `calls`, sorted by number, for the call's number, and answers or allows it."""
    if len(calls) > 4:
        middle = len(calls) // 2
        below, above = _search(calls[:middle]), _search(calls[middle:])
        return [_instruction(_IF_AT_LEAST, calls[middle][1], then=len(below)), *below, *above]
    code: list[bytes] = []
    for name, number, errno in calls:
        if name in _CONDITIONS:
            judgement = _judge(_CONDITIONS[name], _ERRNO | errno)
            code += [_instruction(_IF_EQUAL, number, otherwise=len(judgement)), *judgement]
        else:
            code += _answer_if(_IF_EQUAL, number, _ERRNO | errno)
    return [*code, _instruction(_RETURN, _ALLOW)]


def _judge(conditions: tuple[_Argument, ...], answer: int) -> list[bytes]:
    """Return code that looks at the arguments of a call, and answers or allows it."""
    verdict: list[bytes] = []
    for condition in conditions:
        if_equal, if_not = (0, 1) if condition.refuse_if else (1, 0)
        verdict += [
            _instruction(_LOAD, _ARGUMENTS_AT + 8 * condition.argument),
            _instruction(_AND, condition.mask),
            _instruction(_IF_EQUAL, condition.value, then=if_equal, otherwise=if_not),
            _instruction(_RETURN, answer),
        ]
    return [*verdict, _instruction(_RETURN, _ALLOW)]


def _answer_if(comparison: int, value: int, answer: int) -> list[bytes]:
    return [_instruction(comparison, value, otherwise=1), _instruction(_RETURN, answer)]


def _instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Pack an instruction: its code, the instructions to skip if a comparison holds, and if not, and the operand."""
    return _INSTRUCTION.pack(code, then, otherwise, value)

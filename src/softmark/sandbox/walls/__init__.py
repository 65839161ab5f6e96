"""The walls: a freshly forked worker raises them around itself before it looks at a submission, with no way back.

Who calls it. The zygote (trusted, torch imported, nothing secret ever read) forks; the child calls
`raise_walls`, and loads the student's file only if that returns. If a step fails, `raise_walls` raises a
WallError that names the step, and the caller must end the process: a worker with half its walls runs nothing.
No step falls back to a weaker wall. A caller that wants a lower isolation level switches Landlock or seccomp
off in `Walls`.

The steps, in this order:

    system       Linux, one thread: a second thread would stay outside Landlock
    victim       when memory runs out, the kernel ends this process and its children before any other. It cannot undo
                 this, because later walls close /proc/self/oom_score_adj
    session      a session of its own: no terminal, and one kill reaches the process group
    descriptors  all are closed but the given ones and 0, 1, 2; 0 is /dev/null; 1 and 2 must not be terminals
    place        umask 077, the scratch directory becomes the current one
    limits       soft = hard, see rlimits.py; set before the user changes
    identity     no supplementary groups; the real, effective and saved uid and gid are its own, and never root's.
                 Capabilities are emptied, and an attempt to become root again must fail
    scratch      the scratch directory is no link, belongs to this user and is closed to others
    death        SIGKILL when the zygote dies; set after the user has changed, because that clears it. It fails if the
                 zygote is dead already
    privileges   no_new_privs: setuid programs are powerless; the next two need it
    landlock     files, signals and abstract sockets, see landlock.py
    seccomp      system calls, see seccomp.py
    environment  constants only; the memory that held the zygote's own is overwritten
    undumpable   no core, no attaching, no reading of its memory by another process of the same user
    inspection   asks the kernel which walls hold, and tries to open / and a socket, which must fail

A caller must bring: a scratch directory of mode 700 owned by the worker's user, below directories that this
user may pass through; files or pipes as 1 and 2; descriptors to keep that are pipes or connected stream
sockets; a uid that nothing else on the machine runs as. The zygote must have been started with constants as
its environment and command line: the worker inherits its heap, and no wall removes a secret from there.
"""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from signal import SIGKILL

from softmark.records.limits import Limits
from softmark.sandbox.environment import environment
from softmark.sandbox.walls import landlock, rlimits, seccomp
from softmark.sandbox.walls.seccomp import prctl

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_HIGHEST_DESCRIPTOR = 1 << 20  # the kernel's default nr_open
_ENV_START = 47  # position after the command name in /proc/self/stat; the end is the next one

_libc = ctypes.CDLL(None, use_errno=True)


class WallError(Exception):
    """A wall does not stand. The process must end without having run a line of the submission."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step
        self.reason = reason


@dataclass(frozen=True)
class Walls:
    """The description of one worker's walls. Plain data: it travels from the grader to the zygote."""

    scratch: str
    uid: int | None
    """The user and group that the worker becomes. None: it keeps its own, which must not be root's."""
    limits: Limits
    cpu_backstop: int
    """Seconds of processor time after which the kernel ends the process. The grader normally does so long before."""
    use_landlock: bool = True
    use_seccomp: bool = True
    readable: tuple[str, ...] = ()
    """Files and directories the submission may read beside the libraries."""
    device_files: tuple[str, ...] = ()
    """Device files it may use: those of a graphics card's driver."""


def prepare(walls: Walls) -> None:
    """Compute, in the zygote, the file rules, the filter and an address that all its workers inherit."""
    _environment_block()
    _capabilities()
    if walls.use_landlock:
        landlock.fence(walls.readable, walls.device_files)
    if walls.use_seccomp:
        seccomp.program()


def raise_walls(walls: Walls, keep_fds: tuple[int, ...], parent: int) -> None:
    """Lock this process in for good; `parent` is the process that forked it. Raise WallError if a wall fails."""
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("system", _require_one_linux_thread),
        ("victim", _be_the_first_victim),
        ("session", _leave_terminal),
        ("descriptors", lambda: _close_descriptors({1, 2, *keep_fds})),
        ("place", lambda: _settle(walls.scratch)),
        ("limits", lambda: _limit(walls)),
        ("identity", lambda: _become(walls.uid)),
        ("scratch", lambda: _check_scratch(walls.scratch)),
        ("death", lambda: _die_with(parent)),
        ("privileges", _gain_nothing),
        ("landlock", lambda: _restrict_files(walls)),
        ("seccomp", lambda: _filter_calls(walls)),
        ("environment", lambda: _replace_environment(walls.scratch)),
        ("undumpable", _forbid_dumps),
        ("inspection", lambda: _inspect(walls)),
    )
    for step, build in steps:
        try:
            build()
        except Exception as failure:
            raise WallError(step, str(failure) or type(failure).__name__) from failure


def _insist(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RuntimeError(otherwise)


def _require_one_linux_thread() -> None:
    _insist(sys.platform == "linux", f"these walls are made of Linux, this is {sys.platform}")
    threads = len(os.listdir("/proc/self/task"))
    _insist(threads == 1, f"the process has {threads} threads; raise the walls right after the fork")


def _be_the_first_victim() -> None:
    prctl(_PR_SET_DUMPABLE, 1)  # without it, only root may write to the file; `_forbid_dumps` takes it back
    with open("/proc/self/oom_score_adj", "wb", buffering=0) as adjustment:
        adjustment.write(b"1000")


def _leave_terminal() -> None:
    if os.getsid(0) != os.getpid():
        os.setsid()


def _close_descriptors(keep: Collection[int]) -> None:
    for number in keep:
        os.fstat(number)  # raises if it is closed: the next file that is opened would get its number
    _insist(not os.isatty(1) and not os.isatty(2), "standard output or error is a terminal")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    kept = sorted({0, *keep})
    for below, above in zip(kept, (*kept[1:], _HIGHEST_DESCRIPTOR), strict=True):
        os.closerange(below + 1, above)
    left = {int(name) for name in os.listdir("/proc/self/fd")}.difference(kept)
    _insist(len(left) == 1, f"descriptors {sorted(left)} could not be closed")  # the one left is that of listdir


def _settle(scratch: str) -> None:
    os.umask(0o077)
    os.chdir(scratch)


def _limit(walls: Walls) -> None:
    own_uid, drivers = walls.uid is not None, bool(walls.device_files)
    rlimits.impose(walls.limits, walls.cpu_backstop, own_uid=own_uid, drivers=drivers)


def _become(uid: int | None) -> None:
    _empty_bounding_set()
    if uid is not None:
        _insist(uid > 0, f"{uid} is no user for a student's code")
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        _insist(os.getgroups() == [], "supplementary groups are left")
        _insist(os.getresgid() == (uid, uid, uid), f"the group ids are {os.getresgid()}, not {uid}")
    own = os.getuid() if uid is None else uid
    _insist(own != 0, "student code never runs as root: give the worker a uid of its own")
    _insist(os.getresuid() == (own, own, own), f"the user ids are {os.getresuid()}, not {own}")
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _insist(_libc.capset(header, bytes(24)) == 0, "the capabilities could not be emptied")
    _must_fail("becoming root again", lambda: os.setresuid(0, 0, 0))
    _must_fail("joining root's group", lambda: os.setresgid(0, 0, 0))


def _empty_bounding_set() -> None:
    """Empty the bounding set, so that no program can hand out capabilities. Do nothing without the right to do so."""
    try:
        for capability in range(_capabilities()):
            prctl(_PR_CAPBSET_DROP, capability)
    except PermissionError:
        return


@cache
def _capabilities() -> int:
    """Return how many capabilities this kernel has."""
    return int(Path("/proc/sys/kernel/cap_last_cap").read_text()) + 1


def _check_scratch(scratch: str) -> None:
    named, here = os.lstat(scratch), os.stat(".")
    mode = stat.S_IMODE(here.st_mode)
    _insist(os.path.samestat(named, here), f"{scratch} is a link or was replaced")
    _insist(here.st_uid == os.getuid(), f"{scratch} belongs to user {here.st_uid}, not {os.getuid()}")
    _insist(mode == 0o700, f"{scratch} has mode {mode:o}, not 700")


def _die_with(parent: int) -> None:
    prctl(_PR_SET_PDEATHSIG, SIGKILL)
    _insist(os.getppid() == parent, f"the parent is process {os.getppid()}, not {parent}: that one is dead")


def _gain_nothing() -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _restrict_files(walls: Walls) -> None:
    if not walls.use_landlock:
        return
    needed = landlock.FILES if walls.uid is not None else landlock.SIGNALS
    there = landlock.abi()
    _insist(there >= needed, f"Landlock version {needed} is needed, this kernel has {there}")
    landlock.fence(walls.readable, walls.device_files).restrict(walls.scratch)


def _filter_calls(walls: Walls) -> None:
    if walls.use_seccomp:
        seccomp.install(seccomp.program())


def _replace_environment(scratch: str) -> None:
    """Replace the environment in all three places: in the C library, in Python, and in the kernel's own block."""
    start, size = _environment_block()
    constants = environment(scratch)
    _libc.clearenv()
    for name in list(os.environ):
        del os.environ[name]
    for name, value in constants.items():
        os.environ[name] = value
    ctypes.memset(start, 0, size)  # /proc/self/environ shows this block; nothing points there any more
    time.tzset()
    tempfile.tempdir = None  # Python must not use the zygote's /tmp


@cache
def _environment_block() -> tuple[int, int]:
    """Return where the kernel put the environment of this process or its ancestor, and its size."""
    numbers = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
    start, end = int(numbers[_ENV_START]), int(numbers[_ENV_START + 1])
    return start, end - start


def _forbid_dumps() -> None:
    prctl(_PR_SET_DUMPABLE, 0)


def _inspect(walls: Walls) -> None:
    """Ask the kernel which restrictions this process has, and try to do what must fail."""
    told = rlimits.status("self")
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        _insist(int(told[name], 16) == 0, f"the process has capabilities: {name} {told[name]}")
    _insist(told["NoNewPrivs"] == "1", "no_new_privs is not set")
    if walls.use_landlock:
        _must_fail("opening /", lambda: os.close(os.open("/", os.O_RDONLY)))
    if walls.use_seccomp:
        _must_fail("making a socket", lambda: socket.socket(socket.AF_UNIX).close())


def _must_fail(what: str, attempt: Callable[[], None]) -> None:
    try:
        attempt()
    except PermissionError:
        return
    raise RuntimeError(f"{what} was possible")

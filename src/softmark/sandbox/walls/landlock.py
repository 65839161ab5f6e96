"""Landlock: which files a student's process can open, from inside the kernel and without being root.

What it is. A process hands the kernel a list of directories with rights and says "from now on only these, for
me and for everything I start". It cannot be undone, only tightened. Everything not on the list is EACCES,
whoever owns it: /etc, /tmp, /dev/shm, /home, the course's repository, every other process's /proc entry.

Protocol, three system calls (no C library wraps them; numbers 444 to 446 are the same on every architecture):

    landlock_create_ruleset(attributes, size, 0) -> ruleset     which kinds of access are governed at all
    landlock_add_rule(ruleset, 1, (rights, O_PATH descriptor))  allow rights at and below a path; repeated
    landlock_restrict_self(ruleset, flags)                      needs no_new_privs; binds the calling thread

The kernel's version of the interface ("ABI") says what it can govern: 1 files, 2 linking across directories,
3 truncate, 4 TCP, 5 ioctl on devices, 6 signals and abstract sockets to processes outside, 7 choice of what
is logged. We govern everything the kernel knows of up to 7 and grant what is listed below; what the kernel
does not know is masked out. So a caller must ask which ABI there is: FILES (1) suffices for a worker that has
a uid of its own, SIGNALS (6) is needed for one that has not.

What is granted:
  * read:       the interpreter's and the system's libraries, time zones, and the few facts about processor
                and memory that BLAS, OpenMP and torch look up. Of the process's own /proc entry, the three
                files that tell its use of time and memory. Not the whole folder: mounts, cgroups, command line
                and memory map tell about the machine, and nothing that homework uses reads them.
  * read-write: the scratch directory (files, directories, links; no sockets, pipes or devices); /dev/null.
  * a graphics card, where submissions are graded on one: its driver's device files, and the files that describe
                them.
  * execute:    nothing. Homework starts no programs, and a copied program or ld.so would be one.
  * TCP, abstract sockets, signals to outsiders: nothing.

What it does not govern: asking whether a path exists and how large it is (stat), watching a directory, changing
modes, owners and times of files, UDP and named Unix sockets, prlimit. seccomp.py refuses all of these but stat.
A secret directory of mode 700 closes stat to a worker that has a uid of its own.

The work has two halves. `fence` finds the paths once, in the trusted ancestor. `Fence.restrict` opens them and
binds the process, in the worker. It opens them there because /proc/self is another directory in every process.
"""

from __future__ import annotations

import ctypes
import os
import site
import struct
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache

FILES = 1
"""The ABI that governs files: enough for a worker with a uid of its own."""
SIGNALS = 6
"""The ABI that also keeps signals and abstract sockets inside: needed for a worker that shares its uid."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_LOG_NOTHING = 1  # from ABI 7: a student's million refused opens must not fill the machine's audit log

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK = 1 << 6, 1 << 7, 1 << 8, 1 << 9
_MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

_READ = _READ_FILE | _READ_DIR
_SCRATCH = _READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER

_SYSTEM = (
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"),
    *("/etc/localtime", "/usr/share/zoneinfo"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm/overcommit_memory"),
    *("/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage"),
    *("/dev/random", "/dev/urandom"),  # not /dev/zero: mapped shared, it is memory that nothing counts
)

_OF_ITSELF = ("stat", "statm", "status")
"""The files that a process may read of its own /proc entry. The last wall reads `status`, to see which walls hold."""

_OF_DRIVERS = ("/proc/driver/nvidia", "/proc/devices", "/sys/module/nvidia", "/sys/bus/pci/devices")
"""The files that NVIDIA's libraries look up before they open a device."""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class PathRule:
    """Rights at and below one path."""

    path: str
    rights: int
    may_be_unreachable: bool = False
    """True if it is no error that the worker's user cannot reach the path. It cannot be read then, with or without a
    rule."""


@dataclass(frozen=True)
class Fence:
    """The rules that are known before the fork, for a kernel of version `abi`; the same for all workers."""

    abi: int
    rules: tuple[PathRule, ...]

    def restrict(self, scratch: str) -> None:
        """Bind this process, for good, to the rules and to `scratch`. OSError if the kernel refuses."""
        if self.abi < FILES:
            raise OSError("this kernel has no Landlock")
        governed = _governed_files(self.abi)
        ruleset = _create_ruleset(self.abi, governed)
        try:
            for rule in self.rules:
                _add(ruleset, rule, governed)
            for name in _OF_ITSELF:
                _add(ruleset, PathRule(f"/proc/self/{name}", _READ_FILE), governed)
            _add(ruleset, PathRule(scratch, _SCRATCH), governed)
            _syscall(_RESTRICT_SELF, ruleset, _LOG_NOTHING if self.abi >= 7 else 0)
        finally:
            os.close(ruleset)


@cache
def abi() -> int:
    """Return the kernel's Landlock version; 0 if it has none, has it switched off, or a container forbids asking."""
    try:
        return _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    except OSError:
        return 0


@cache
def fence(readable: tuple[str, ...] = (), device_files: tuple[str, ...] = ()) -> Fence:
    """Return the rules for this machine and interpreter, for `readable` and for `device_files`. Both must exist."""
    facts = _OF_DRIVERS if device_files else ()
    present = sorted({os.path.realpath(path) for path in (*_SYSTEM, *facts, *_libraries()) if os.path.exists(path)})
    outermost = [path for path in present if not any(_beneath(path, other) for other in present)]
    return Fence(
        abi(),
        (
            *(PathRule(path, _read(path), may_be_unreachable=True) for path in outermost),
            *(PathRule(path, _read(path)) for path in (os.path.realpath(path, strict=True) for path in readable)),
            *(PathRule(path, _READ_FILE | _WRITE_FILE | _IOCTL_DEV) for path in device_files),
            PathRule("/dev/null", _READ_FILE | _WRITE_FILE | _TRUNCATE),
        ),
    )


def _libraries() -> set[str]:
    """Return the directories of the interpreter's libraries and of installed packages, never a whole prefix.

    A virtual environment usually lies inside the course's repository, and sys.path of an editable install names the
    repository's source. A worker may read neither of them.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    found = {os.path.join(prefix, name) for prefix in prefixes for name in ("lib", sys.platlibdir)}
    found |= {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found |= set(site.getsitepackages())
    found |= {path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")}
    return found


def _beneath(path: str, other: str) -> bool:
    return path != other and os.path.commonpath((path, other)) == other


def _read(path: str) -> int:
    return _READ if os.path.isdir(path) else _READ_FILE


def _governed_files(version: int) -> int:
    """Return all the kinds of access to files that a kernel of this version can govern."""
    known = _MAKE_SYM * 2 - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if version >= since:
            known |= right
    return known


def _create_ruleset(version: int, governed: int) -> int:
    """Make an empty ruleset: it governs every kind of access that this kernel can govern, and allows nothing yet."""
    attributes = struct.pack("=Q", governed)
    if version >= 4:
        attributes += struct.pack("=Q", _BIND_TCP | _CONNECT_TCP)
    if version >= SIGNALS:
        attributes += struct.pack("=Q", _ABSTRACT_SOCKETS | _SIGNALS)
    return _syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)


def _add(ruleset: int, rule: PathRule, governed: int) -> None:
    try:
        place = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except PermissionError:
        if rule.may_be_unreachable:
            return
        raise
    try:
        _syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rule.rights & governed, place), 0)
    finally:
        os.close(place)


def _syscall(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        failure = ctypes.get_errno()
        raise OSError(failure, f"Landlock system call {number}: {os.strerror(failure)}")
    return result

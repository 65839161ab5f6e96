"""Leases user ids for student processes: each worker gets an id that nothing else on the machine uses.

Two runs on one machine must never share a uid, because the leftovers of a worker are found and killed by its uid. A run
leases a block of ids by holding an exclusive lock on a file in a directory that only root can write; the kernel
releases the lock when the run ends, however it ends. Within its block a run takes a new id for every worker, so that a
worker does not own the files that an earlier one has left behind. One id of the block is a spare that no process has
(see leftovers.py).

A block must meet three conditions. It lies in a range that no convention gives to people, services or containers, and
outside of the ranges that /etc/login.defs, /etc/subuid and /etc/subgid of this machine give to them. None of its ids
has a name, as user or as group. No living process has one of its ids; a process that a killed run has left behind
might.
"""

from __future__ import annotations

import fcntl
import grp
import os
import pwd
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from softmark.sandbox import procfs
from softmark.sandbox.failures import GraderFault

BLOCK = 16
_LOCKS = Path("/run/softmark")
_RANGES = (
    range(65_536, 100_000),  # above 16 bits, below what containers are given
    range(60_706, 61_184),  # in a user namespace of 16 bits: systemd leaves these free
    range(61_184, 65_520),  # systemd gives these to services while they run
)
_LOGIN_DEFS = Path("/etc/login.defs")
_SUBORDINATE = (Path("/etc/subuid"), Path("/etc/subgid"))
_MAPS = (Path("/proc/self/uid_map"), Path("/proc/self/gid_map"))
_GIVEN = {  # the defaults of login.defs: first and last id
    "UID": (1000, 60_000),
    "GID": (1000, 60_000),
    "SYS_UID": (101, 999),
    "SYS_GID": (101, 999),
    "SUB_UID": (100_000, 600_100_000),
    "SUB_GID": (100_000, 600_100_000),
}


class UidLease:
    """A block of user ids that this run alone uses."""

    def __init__(self) -> None:
        _LOCKS.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock, self._first = _acquire()
        self._used = 0

    @property
    def spare(self) -> int:
        """Return the id of the block that no process has."""
        return self._first + BLOCK - 1

    def next(self) -> int:
        uid = self._first + self._used % (BLOCK - 1)
        self._used += 1
        return uid

    def close(self) -> None:
        os.close(self._lock)


def _acquire() -> tuple[int, int]:
    """Return the descriptor that holds the lock of a free block, and the block's first id."""
    running = procfs.users_of_processes()
    leased = taken = 0
    for first in _blocks():
        if not running.isdisjoint(range(first, first + BLOCK)) or _has_a_name(first):
            taken += 1
            continue
        descriptor = os.open(_LOCKS / f"uids-{first}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            leased += 1
            continue
        return descriptor, first
    raise GraderFault(
        f"no user ids are free for student code on this machine: of the ids between {_RANGES[1].start} and "
        f"{_RANGES[0].stop}, {leased} blocks of {BLOCK} are leased by other runs, {taken} have a name or a running "
        "process, and the rest lies outside this user namespace or inside the ranges of /etc/login.defs, /etc/subuid "
        "and /etc/subgid; end other runs, or narrow those ranges"
    )


def _blocks() -> Iterator[int]:
    """Yield the first id of every block outside of all given ranges: the best range first, each in random order."""
    given = [*_given_by_login_defs(), *_given_to_containers()]
    for ids in _RANGES:
        firsts = range(ids.start, ids.stop - BLOCK + 1, BLOCK)
        for first in random.SystemRandom().sample(firsts, len(firsts)):
            last = first + BLOCK - 1
            if _mapped(first, last) and not any(low <= last and first <= high for low, high in given):
                yield first


def _has_a_name(first: int) -> bool:
    """Return whether a user or a group with a name has one of a block's ids."""
    for number in range(first, first + BLOCK):
        for look_up in (pwd.getpwuid, grp.getgrgid):
            with suppress(KeyError):
                look_up(number)
                return True
    return False


def _given_by_login_defs() -> Iterator[tuple[int, int]]:
    """Yield the ranges that /etc/login.defs gives to people, to the system and to containers, first and last id."""
    written: dict[str, int] = {}
    with suppress(FileNotFoundError):
        lines = re.findall(r"^\s*(\w+)\s+(0[xX][0-9a-fA-F]+|\d+)", _LOGIN_DEFS.read_text(errors="replace"), re.M)
        written = {name: int(number, 16 if "x" in number.lower() else 10) for name, number in lines}
    for kind, (lowest, highest) in _GIVEN.items():
        yield written.get(f"{kind}_MIN", lowest), written.get(f"{kind}_MAX", highest)


def _given_to_containers() -> Iterator[tuple[int, int]]:
    """Yield the ranges that somebody may use in user namespaces, from lines of the form name:first:count."""
    for file in _SUBORDINATE:
        with suppress(FileNotFoundError):
            for first, count in re.findall(r"^[^:\n]*:(\d+):(\d+)\s*$", file.read_text(errors="replace"), re.M):
                yield int(first), int(first) + int(count) - 1


def _mapped(first: int, last: int) -> bool:
    """Return whether these ids exist in this process's user namespace, as users and as groups."""
    for file in _MAPS:
        lines = [list(map(int, line.split())) for line in file.read_text().splitlines()]
        if not any(inside <= first and last < inside + count for inside, _, count in lines):
            return False
    return True

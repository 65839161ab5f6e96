"""Divides the memory of this machine among student processes, and finds a directory for temporary files.

If a container exceeds its own limit, the kernel ends one of its processes. It picks workers first (walls/__init__.py),
but it may pick the worker of a student who did not use the memory. So the limits leave room for the trusted side and
all workers together.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from softmark.records.errors import UsageError
from softmark.records.limits import Limits

_ENGINE_MB = 250  # the engine with torch and the hidden tests
_LANE_MB = 150  # a zygote's own pages, and those that a worker copies
_LEAST_MB = 128
_ENOUGH_MB = 512  # a second lane is started only if each worker can have this much
_CGROUPS = (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))  # version 2, and 1
_MEGABYTE = 1_000_000


class Machine(msgspec.Struct, frozen=True):
    """The facts about a machine (doctor.py), as plain data that one process sends to another."""

    level: str
    why_not_higher: dict[str, str]
    devices: tuple[str, ...]
    versions: dict[str, str]
    landlock: int
    limits: dict[str, float]
    remarks: tuple[str, ...] = ()


def fitting(limits: Limits, lanes: int = 1) -> Limits:
    """Return the limits for each of several workers side by side. Their memory is cut to what this machine has."""
    return replace(limits, memory_mb=max(_LEAST_MB, min(limits.memory_mb, _room(limits, lanes))))


def side_by_side(wanted: int, limits: Limits) -> int:
    """Return how many of the wanted workers the memory of this machine suffices for, at least 1."""
    enough = min(limits.memory_mb, _ENOUGH_MB)
    return max((lanes for lanes in range(2, wanted + 1) if _room(limits, lanes) >= enough), default=1)


def _room(limits: Limits, lanes: int) -> int:
    """Return the megabytes that are left for each of several workers."""
    files = 3 * limits.file_mb if in_memory(temporary_directory()) else 0
    return (_total() // _MEGABYTE - _ENGINE_MB) // lanes - _LANE_MB - files


def _total() -> int:
    """Return the memory of this machine, or of the smallest control group that this process is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(int(text) for text in _limits_of_groups() if text.isdecimal())])


def _limits_of_groups() -> Iterator[str]:
    """Yield the limit of each control group that this process is in; in a container they may begin with its own."""
    groups = Path("/proc/self/cgroup")
    if not groups.exists():
        return  # not Linux
    for line in groups.read_text().splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds not in ("", "memory"):
            continue
        for mounted, name in _CGROUPS:
            place = Path(mounted, path.lstrip("/"))
            for group in (place, *place.parents):
                if group.is_relative_to(mounted) and (group / name).exists():
                    yield (group / name).read_text().strip()


def temporary_directory() -> str:
    """Return the directory for temporary files, and have `tempfile` use it. Raise UsageError if there is none.

    `tempfile` would find one by writing a file. A process that is killed at that moment leaves the file behind.
    """
    if tempfile.tempdir is None:
        named = [os.path.abspath(os.environ[name]) for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
        tempfile.tempdir = next(filter(_is_writable, (*named, "/tmp", "/var/tmp", "/usr/tmp", os.getcwd())), None)
    if tempfile.tempdir is None:
        raise UsageError(
            "no directory for temporary files can be written to; name one with TMPDIR, or give a container --tmpfs=/tmp"
        )
    return os.fsdecode(tempfile.tempdir)


def _is_writable(directory: str) -> bool:
    return os.path.isdir(directory) and os.access(directory, os.W_OK | os.X_OK)


def in_memory(directory: str) -> bool:
    """Return whether files in a directory take memory, because it is on a tmpfs."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return False
    place = Path(directory).resolve()
    kinds = {mount: kind for _, mount, kind, *_ in map(str.split, mounts.read_text().splitlines())}
    found = next((kinds[str(above)] for above in (place, *place.parents) if str(above) in kinds), "")
    return found in ("tmpfs", "ramfs")

"""Large pages for a process that is forked again and again.

A fork copies, and the child's end frees, one entry for each page: of torch's 150 MB that is much of what a worker
costs. In pages of 2 MB it is a fraction. The C library's heap is in such pages from the start (GLIBC_TUNABLES in
walls.py), Python's own is not, and what a process writes after a fork is in small ones again. The kernel gathers them
on request. It takes a tenth of a second or two, and memory that was shared with another process is so no longer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

_MADV_COLLAPSE = 25  # Linux 6.1
_LARGE = 2 << 20


def gather() -> None:
    """Put this process's own memory into large pages; where the kernel will not, everything stays as it is."""
    madvise = ctypes.CDLL(None).madvise
    for start, end in list(_own_memory()):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Where memory lies that is of no file: whole large pages of it."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            place, rights, _, _, inode, *_ = line.split()
            start, end = (int(number, 16) for number in place.split("-"))
            start, end = -(-start // _LARGE) * _LARGE, end // _LARGE * _LARGE
            if rights == "rw-p" and inode == "0" and start < end:
                yield start, end

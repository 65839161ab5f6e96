"""Waits, without a clock, for what processes do: for their ends, and for files that they put somewhere."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import subprocess
from pathlib import Path
from typing import Any

PATIENCE = 60_000  # milliseconds; where nothing changes for so long, something hangs


class Changes:
    """Tells when a file is put into a folder, or a folder is made there: inotify, which the standard library lacks."""

    _CREATED, _MOVED_TO = 0x100, 0x80

    def __init__(self, folder: Path, *, folders: bool = False) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._wanted = self._CREATED if folders else self._MOVED_TO
        self._descriptor = libc.inotify_init1(os.O_CLOEXEC)
        assert libc.inotify_add_watch(self._descriptor, os.fsencode(folder), self._wanted) > 0

    def await_one(self, process: subprocess.Popen[Any]) -> bool:
        """Return True when something was put there, False if the process ended before."""
        return self.await_some(process) > 0

    def await_some(self, process: subprocess.Popen[Any]) -> int:
        """Return the number of things put there since the last call; 0 if the process ended before the next."""
        ending = os.pidfd_open(process.pid)
        try:
            waiting = select.poll()
            waiting.register(self._descriptor, select.POLLIN)
            waiting.register(ending, select.POLLIN)
            ready = {descriptor for descriptor, _ in waiting.poll(PATIENCE)}
        finally:
            os.close(ending)
        assert ready, "nothing happened"
        if self._descriptor not in ready:
            return 0
        events, start, number = os.read(self._descriptor, 65536), 0, 0
        while start < len(events):
            _, mask, _, length = struct.unpack_from("iIII", events, start)
            assert mask & self._wanted
            start += 16 + length
            number += 1
        return number


def await_ends(processes: list[int]) -> None:
    """Wait until the processes of these descriptors are gone."""
    for descriptor in processes:
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        assert waiting.poll(PATIENCE), "a process is left"
        os.close(descriptor)


def peak_of(pid: int) -> int:
    """Return the most bytes of memory that a process has ever held."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))

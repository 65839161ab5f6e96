"""Attacks this machine from inside a worker, to find out which isolation level it can promise.

Kernels, containers and users differ, and no list of features tells which walls really hold. So before anything is
graded, a worker makes six attacks of Softmark's own, on the same path that a student's code takes:

    read     open a file that only the trusted side's user may read
    environ  read the grader's environment (and memory map) through /proc
    signal   signal the grader
    socket   open a network connection
    write    create a file outside the scratch directory, where everybody may write
    daemon   leave a detached process behind (the trusted side looks for it after the worker's end)

`run` runs in the worker and reports which attacks succeeded. The trusted side believes the report, because the code is
our own and no submission has been loaded. A level holds if all attacks that it is meant to stop have failed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable

from softmark.sandbox.wire.protocol import SelfTest

ATTACKS = ("read", "environ", "signal", "socket", "write", "daemon")


def run(request: SelfTest) -> dict[str, str]:
    """Try each attack, and return its success in words, by its name; "" if it failed."""
    tries: dict[str, Callable[[], str]] = {
        "read": lambda: _read(request.secret),
        "environ": lambda: _read(f"/proc/{request.grader}/environ") or _read(f"/proc/{request.grader}/maps"),
        "signal": lambda: _signal(request.grader),
        "socket": _connect,
        "write": lambda: _write(request.outside),
    }
    achieved = {name: _outcome(attempt) for name, attempt in tries.items()}
    _leave_daemon()
    return achieved


def _outcome(attempt: Callable[[], str]) -> str:
    try:
        return attempt()
    except OSError:
        return ""  # refused, as it should be


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return f"read {len(file.read(4096))} bytes of {path}"


def _signal(pid: int) -> str:
    os.kill(pid, 0)
    return f"may signal process {pid}"


def _connect() -> str:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as end:
        end.connect(("127.0.0.1", 9))  # a datagram socket: connecting sends nothing
    return "opened a socket"


def _write(directory: str) -> str:
    path = os.path.join(directory, "softmark-probe")
    with open(path, "x"):
        pass
    os.unlink(path)
    return f"wrote to {directory}"


def _leave_daemon() -> None:
    """Leave a grandchild asleep for an hour, with nothing open, and in a session of its own if that is allowed."""
    if os.fork() == 0:
        with contextlib.suppress(PermissionError):
            os.setsid()
        if os.fork() == 0:
            os.closerange(0, 1024)
            time.sleep(3600)
        os._exit(0)
    os.wait()

"""Ends every process that one worker has started: its children, their children, and those that detached themselves.

They are found by a property that a process cannot change:

* If the worker has a user id of its own, by this id. A helper process takes the id and sends one kill(-1), which the
  kernel delivers to every process of that user at once, so a process cannot escape by forking. The real and saved ids
  of the helper are a spare id. The kernel permits a signal if the sender's real or effective id is the target's real or
  saved one. So the helper reaches the worker's processes, and a leftover that keeps calling kill(-1) does not reach the
  helper.
* Otherwise by the process group, which seccomp lets no process leave; without seccomp, by the tree of processes below
  the zygote.

Every wait here has an end. If the kernel cannot end a process by then, the result says so.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass

from softmark.sandbox import procfs

_NAP = 0.1  # seconds after which we look again, whether or not the death of a process was seen


@dataclass(frozen=True)
class Owner:
    """The user id of a worker's processes, and a spare id that no process has."""

    uid: int
    spare: int


@dataclass(frozen=True)
class Swept:
    """The result of ending the children of this process."""

    dead: int
    cpu_seconds: float
    clean: bool
    """True if no child is left, alive or dying."""


def end_group(worker: int) -> None:
    """Send SIGKILL to a worker and its process group. The worker must not have been reaped yet."""
    for send in (os.kill, os.killpg):  # a worker that has just been forked has no group of its own yet
        with contextlib.suppress(ProcessLookupError):
            send(worker, signal.SIGKILL)


def await_end(pid: int, until: float) -> bool:
    """Return whether a child has ended by `until`, on the monotonic clock. It is not reaped."""
    descriptor = os.pidfd_open(pid)
    try:
        return _await_one([descriptor], until)
    finally:
        os.close(descriptor)


def sweep(owner: Owner | None, until: float) -> Swept:
    """Kill and reap every process below this one, until none is left or the time is over."""
    dead, seconds = 0, 0.0
    while True:
        more, spent, clean = _reap()
        dead, seconds = dead + more, seconds + spent
        if clean or time.monotonic() >= until:
            return Swept(dead, seconds, clean)
        if owner is None:
            _end_descendants(os.getpid())
        else:
            end_user(owner, until)
        _await_a_death(until)


def end_user(owner: Owner, until: float) -> None:
    """Send SIGKILL to every process of a user, from a helper process that can reach no other user's."""
    try:
        pid = os.fork()
    except OSError:
        return  # no memory or no process numbers for a moment; the caller tries again
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(owner.uid, owner.uid, owner.uid)
            os.setresuid(owner.spare, owner.uid, owner.spare)
            if os.getresuid() == (owner.spare, owner.uid, owner.spare) and 0 not in (owner.spare, owner.uid):
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    if await_end(pid, until):
        os.waitpid(pid, 0)


def end_orphans(worker: int, owner: Owner | None, until: float) -> bool:
    """Kill the processes of a worker whose zygote has died; return whether none is left. Nobody here can reap them."""
    if owner is None:
        end_group(worker)
        return True
    while True:
        end_user(owner, until)
        if owner.uid not in procfs.users_of_processes():
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(_NAP)


def _reap() -> tuple[int, float, bool]:
    """Reap ended children; return their number, their processor seconds, and whether no child is left."""
    dead, seconds = 0, 0.0
    while True:
        try:
            pid, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return dead, seconds, True
        if pid == 0:
            return dead, seconds, False
        dead += 1
        seconds += used.ru_utime + used.ru_stime


def _end_descendants(ancestor: int) -> None:
    """Stop all descendants, so that they no longer fork, and then kill them."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in procfs.descendants(ancestor):
            with contextlib.suppress(ProcessLookupError):  # it ended by itself
                os.kill(pid, number)


def _await_a_death(until: float) -> None:
    """Wait until a descendant has died, but no longer than a moment."""
    descriptors = []
    for pid in procfs.descendants(os.getpid()):
        with contextlib.suppress(OSError):  # it is gone already
            descriptors.append(os.pidfd_open(pid))
    try:
        _await_one(descriptors, min(until, time.monotonic() + _NAP))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _await_one(descriptors: list[int], until: float) -> bool:
    """Return whether one of these processes has ended by `until`."""
    waiting = select.poll()
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(max(0.0, until - time.monotonic()) * 1000))

"""The zygote: a process with torch imported that does nothing but fork student workers, and end them.

Why it exists: `import torch` costs about a second, a fork of a process that has it a few milliseconds, and what is done
for the first time in it (rehearsal.py) need not be done for the first time in every worker. And it is the
one ancestor of every worker, so what it never knew no worker can find in its memory: it is forked (or started) before
any hidden test, reference or submission has been read, and with an environment of constants.

Protocol, over a SOCK_SEQPACKET pair; one msgpack map per packet, strictly request and reply, one live worker at most:

    start  {"op": "start", "walls": {...}} with three descriptors (wire, stdout, stderr)
           -> {"pid": n}                  the child raises its walls, then speaks on its wire (see worker.py)
    stop   {"op": "stop", "pid": n, "uid": n or None}
           -> {"status": wait status, "cpu": seconds, "left": n, "clean": bool}
           kills the worker (which may be long dead: it is not reaped before, so its pid cannot be another's), then
           whatever it left behind, until nothing is left. `left` counts those; `clean` is false if something survived.
    gather {"op": "gather"} -> {}
           puts its memory into large pages of its own, see pages.py
    end of file: kill everything and exit. So it ends with whoever holds the other end, however that one ends; a
    death signal would end it at once, and what a student's code left behind would live on.

It is the "child subreaper": a daemon that a student's code leaves becomes the zygote's child, so "no child left" is a
question for the kernel, not a guess. Once anything was left behind it is killed by uid, from a helper that has become
that uid: one kill(-1) reaches every process of it at once and nobody else's, so re-forking cannot outrun it.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from softmark.sandbox import pages, procfs, worker
from softmark.sandbox.failures import GraderFault, SandboxLost
from softmark.sandbox.limits import Limits
from softmark.sandbox.rehearsal import rehearse
from softmark.sandbox.walls import Walls, prepare

_PACKET = 65536
_PR_SET_CHILD_SUBREAPER = 36
_MANY = 20  # workers after which it pays to spend a tenth of a second on making each further one cheaper
_ROUNDS = 50  # attempts to kill what a worker left, before the place is declared dirty


@dataclass(frozen=True)
class Ended:
    """How a worker ended, as the kernel told the zygote."""

    status: int
    cpu_seconds: float
    left: int
    clean: bool


class Zygote:
    """The trusted side's handle on the zygote process."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid = pid
        self._control = control
        self._ended = 0
        self.baseline = procfs.private_memory(pid)
        """Bytes that each worker has from the zygote, and that are not its own use of memory."""

    @classmethod
    def fork(cls) -> Zygote:
        """From this process, which has imported torch and read nothing secret yet."""
        _prepare()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            _run(theirs)
        theirs.close()
        return cls(pid, ours)

    @classmethod
    def spawn(cls, environment: dict[str, str]) -> Zygote:
        """As a program of its own, for a parent that is no fit ancestor (a pytest session with secrets in it)."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-I", "-m", "softmark.sandbox.zygote", str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()
        if not ours.recv(_PACKET):
            raise GraderFault(f"the zygote process did not start (exit status {process.wait()})")
        return cls(process.pid, ours)

    def start(self, walls: Walls, descriptors: list[int]) -> int:
        """Fork a worker behind `walls`; returns its process id."""
        fds = array.array("i", descriptors)
        request = msgspec.msgpack.encode({"op": "start", "walls": walls})
        reply = self._ask(request, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        if "error" in reply:
            raise GraderFault(f"a student process could not be forked: {reply['error']}")
        return int(reply["pid"])

    def stop(self, pid: int, uid: int | None) -> Ended:
        """End a worker and everything that came of it."""
        reply = self._ask(msgspec.msgpack.encode({"op": "stop", "pid": pid, "uid": uid}))
        self._ended += 1
        if self._ended == _MANY:
            self._ask(msgspec.msgpack.encode({"op": "gather"}))
            self.baseline = procfs.private_memory(self.pid)
        return Ended(reply["status"], reply["cpu"], reply["left"], reply["clean"])

    def _ask(self, request: bytes, with_it: Sequence[tuple[int, int, array.array[int]]] = ()) -> dict[str, Any]:
        try:
            self._control.sendmsg([request], with_it)
            packet = self._control.recv(_PACKET)
        except ConnectionError:
            packet = b""
        if not packet:
            raise SandboxLost("the process that forks student processes (the zygote) has ended unexpectedly")
        reply: dict[str, Any] = msgspec.msgpack.decode(packet)
        return reply

    def close(self) -> None:
        self._control.close()
        os.waitpid(self.pid, 0)

    def hand_over(self) -> None:
        """Keep no end of it in this process: it is another's now, and ends with that one's end."""
        self._control.close()


def _prepare() -> None:
    """Import and touch once what every worker needs, and make sure that nothing here makes forking unsafe."""
    import torch

    torch.set_num_threads(1)
    worker.preload()
    rehearse()  # here, not after the fork: what the zygote itself changes is no large page any more
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise GraderFault(f"forking needs a process of one thread, this one has {threads}; set OMP_NUM_THREADS=1")
    gc.freeze()  # a collector that walks every object would copy every page in each child


def _run(control: socket.socket) -> None:
    """The zygote's whole life."""
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the launcher's business
        _close_all_but(control.fileno())
        worker.streams()
        gc.disable()
        with contextlib.suppress(OSError):  # then `start` says so, for the level that needs it
            prepare(Walls(scratch="", uid=None, limits=Limits(), cpu_backstop=0))  # nobody waits for it yet
        _serve(control)
        status = 0
    finally:
        try:
            _kill_descendants(os.getpid())
        finally:
            os._exit(status)


def _close_all_but(keep: int) -> None:
    os.closerange(3, keep)
    os.closerange(keep + 1, 65536)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def _serve(control: socket.socket) -> None:
    while True:
        packet, descriptors, _, _ = socket.recv_fds(control, _PACKET, 3)
        if not packet:
            return
        request = msgspec.msgpack.decode(packet)
        if request["op"] == "start":
            walls = msgspec.convert(request["walls"], Walls)
            control.send(msgspec.msgpack.encode(_start(walls, descriptors)))
            for descriptor in descriptors:
                os.close(descriptor)
        elif request["op"] == "stop":
            control.send(msgspec.msgpack.encode(_stop(request["pid"], request["uid"])))
        else:
            pages.gather()
            control.send(msgspec.msgpack.encode({}))


def _start(walls: Walls, descriptors: list[int]) -> dict[str, Any]:
    try:
        prepare(walls)  # once; what all workers share is then inherited
        parent = os.getpid()
        pid = os.fork()
    except OSError as error:
        return {"error": str(error)}
    if pid == 0:
        worker.run(walls, parent, *descriptors)
    return {"pid": pid}


def _stop(pid: int, uid: int | None) -> dict[str, Any]:
    os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    left = 0
    clean = False
    for _ in range(_ROUNDS):
        dead, clean = _reap()
        left += dead
        if clean:
            break
        if uid is None:
            _kill_descendants(os.getpid())
        else:
            _kill_uid(uid)
        _await_a_death()
    return {"status": status, "cpu": used.ru_utime + used.ru_stime, "left": left, "clean": clean}


def _reap() -> tuple[int, bool]:
    """Collect the dead; returns how many there were, and whether nobody is left, alive or dying."""
    dead = 0
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return dead, True
        if pid == 0:
            return dead, False
        dead += 1


def _await_a_death() -> None:
    """Block until some child has died (it was just sent SIGKILL), without reaping it."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return


def _kill_uid(uid: int) -> None:
    """SIGKILL to every process of `uid`, sent by a child that has become that uid and so can reach no other."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            if os.getresuid() == (uid, uid, uid) and uid != 0:
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def _kill_descendants(ancestor: int) -> None:
    """Without a uid of their own: stop every descendant first, so that none forks on, then kill them."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in procfs.descendants(ancestor):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue  # it ended by itself


def main() -> None:
    """`python -m softmark.sandbox.zygote FD`: prepare, say ready, serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    control.send(msgspec.msgpack.encode({"ready": True}))
    _run(control)


if __name__ == "__main__":
    main()

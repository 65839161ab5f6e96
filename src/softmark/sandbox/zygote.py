"""Defines the zygote: a process with torch imported that only forks student workers and ends them.

It is a fork server. `import torch` takes about a second, but a fork of a process that has imported it takes a few
milliseconds, and every worker inherits the caches that the zygote has filled (warm_up.py). Every worker inherits all of
the zygote's memory, so that memory must hold no secret: the zygote is forked (or started) before any hidden test,
reference or submission has been read, and with an environment of constants.

Protocol, over a SOCK_SEQPACKET pair; one msgpack map per packet, one reply to each request, one live worker at most:

    start  {"op": "start", "walls": {...}, "spare": user id or None} with three descriptors (wire, stdout, stderr)
           -> {"pid": n}                  the child raises its walls, then speaks on its wire (worker/__init__.py)
    stop   {"op": "stop"}
           -> {"status": wait status, "cpu": seconds, "leftovers": n, "clean": bool}
           kills the worker (if it is dead already, it has not been reaped, so no other process has its pid), and then
           all processes that it left behind, see leftovers.py. `cpu` is the time of all of them; `leftovers` is the
           number of those left behind; `clean` is false if one still lives after PATIENCE seconds, because the kernel
           cannot end it.
    written {"op": "written"} -> {"bytes": n}
           stops the worker for a moment, because the kernel tells a parent how much a child has written (to any disk,
           with the children that it has reaped) only if the child has ended or is stopped
    gather {"op": "gather"} -> {}
           puts the zygote's memory into large pages of its own, see warm_up.py
    end of file: ends the worker in the same way, and exits. So the zygote ends with the process that holds the other
    end, however that process ends. Signals that ask a program to end are ignored: a batch system sends them to all
    processes at once, and a zygote that ended by one would leave a student's processes behind.

The zygote is the "child subreaper": a daemon that a student's code leaves becomes the zygote's child, so the zygote can
ask the kernel whether any is left. Every wait for an end has a deadline, on both sides of the protocol.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from softmark.records.limits import Limits
from softmark.sandbox import leftovers, procfs, worker
from softmark.sandbox.ended import Exit
from softmark.sandbox.failures import GraderFault, SandboxLost
from softmark.sandbox.leftovers import Owner
from softmark.sandbox.walls import Walls, prepare
from softmark.sandbox.warm_up import gather, rehearse

_PACKET = 65536
_PR_SET_CHILD_SUBREAPER = 36
_PROGRAM = ("-m", "softmark.sandbox.zygote")
_MANY = 20  # after this many workers, gathering is worth its tenth of a second
PATIENCE = 20.0
"""Seconds that a worker and the processes that it left behind may take to end after SIGKILL."""
_BLOCK = 512  # bytes, the unit of ru_oublock
_ANSWER = 2 * PATIENCE  # seconds that the zygote may take for one request
_ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)


class Zygote:
    """The trusted side's handle on the zygote process."""

    def __init__(self, pid: int, control: socket.socket) -> None:
        self.pid = pid
        self._control = control
        self._control.settimeout(_ANSWER)
        self._worker: int | None = None
        self._owner: Owner | None = None
        self._ended = 0
        self.baseline = procfs.private_memory(pid)
        """Bytes that each worker shares with the zygote, and that do not count as its own memory."""

    @classmethod
    def fork(cls) -> Zygote:
        """Fork a zygote from this process, which has imported torch and read nothing secret yet."""
        _prepare()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            _run(theirs)
        theirs.close()
        return cls(pid, ours)

    @classmethod
    def spawn(cls, environment: dict[str, str], program: Sequence[str] = _PROGRAM) -> Zygote:
        """Start a zygote as a program, because this process holds secrets (a pytest session with hidden tests)."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-I", *program, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()
        if not ours.recv(_PACKET):
            raise GraderFault(f"the zygote process did not start (exit status {process.wait()})")
        return cls(process.pid, ours)

    def start(self, walls: Walls, descriptors: list[int], spare: int | None = None) -> int:
        """Fork a worker behind `walls`; return its process id. `spare` is a user id that no process has."""
        fds = array.array("i", descriptors)
        request = msgspec.msgpack.encode({"op": "start", "walls": walls, "spare": spare})
        reply = self._ask(request, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        if "error" in reply:
            raise GraderFault(f"a student process could not be forked: {reply['error']}")
        self._worker = int(reply["pid"])
        self._owner = _owner(walls, spare)
        return self._worker

    def stop(self) -> Exit:
        """End the worker and every process that it has started."""
        reply = self._ask(msgspec.msgpack.encode({"op": "stop"}))
        self._worker = None
        self._ended += 1
        if self._ended == _MANY:
            self._ask(msgspec.msgpack.encode({"op": "gather"}))
            self.baseline = procfs.private_memory(self.pid)
        return Exit(reply["status"], reply["cpu"], reply["leftovers"], reply["clean"])

    def written(self) -> int:
        """Return how many bytes the worker has written to disks; `sys.maxsize` if it has living children."""
        if len(procfs.family(self.pid)) > 1:
            return sys.maxsize
        return int(self._ask(msgspec.msgpack.encode({"op": "written"}))["bytes"])

    def _ask(self, request: bytes, with_it: Sequence[tuple[int, int, array.array[int]]] = ()) -> dict[str, Any]:
        try:
            self._control.sendmsg([request], with_it)
            packet = self._control.recv(_PACKET)
        except (ConnectionError, TimeoutError):
            packet = b""
        if not packet:
            self._bury()
            raise SandboxLost("the process that forks student processes (the zygote) has ended unexpectedly")
        reply: dict[str, Any] = msgspec.msgpack.decode(packet)
        return reply

    def _bury(self) -> None:
        """Kill a zygote that does not answer, and its worker."""
        worker, self._worker = self._worker, None
        os.kill(self.pid, signal.SIGKILL)  # it has not been reaped, so no other process has its number
        if worker is not None:
            leftovers.end_orphans(worker, self._owner, time.monotonic() + PATIENCE)

    def close(self) -> None:
        """Let the zygote end the worker and itself; kill it if it does not."""
        self._control.close()
        if not leftovers.await_end(self.pid, time.monotonic() + _ANSWER):
            self._bury()
        os.waitpid(self.pid, 0)

    def hand_over(self) -> None:
        """Close this process's end of the socket. The zygote belongs to another process now, and ends with that one."""
        self._control.close()


def _owner(walls: Walls, spare: int | None) -> Owner | None:
    return None if walls.uid is None or spare is None else Owner(walls.uid, spare)


def _prepare() -> None:
    """Import and use once all that every worker needs. Raise GraderFault if forking is unsafe here."""
    import torch

    torch.set_num_threads(1)
    worker.preload()
    rehearse()  # before the fork, because pages that the zygote changes after it are small ones
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise GraderFault(f"forking needs a process of one thread, this one has {threads}; set OMP_NUM_THREADS=1")
    gc.freeze()  # a collection would write to every object, and so copy every page in each child


def _run(control: socket.socket) -> None:
    """Run the zygote until its control socket is closed."""
    nursery = _Nursery(control)
    status = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _forget_inherited_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher handles Ctrl-C
        for number in _ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _close_all_but(control.fileno())
        worker.streams()
        gc.disable()
        with contextlib.suppress(OSError):  # `start` reports it for a level that needs it
            prepare(Walls(scratch="", uid=None, limits=Limits(), cpu_backstop=0))  # in advance: nobody waits now
        nursery.serve()
        status = 0
    finally:
        try:
            nursery.stop()
        finally:
            os._exit(status)


def _forget_inherited_signals() -> None:
    """Set every signal to its default. Softmark may have been started with signals ignored (`nohup`, a daemon)."""
    pythons_own = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - pythons_own:
        if signal.getsignal(number) not in (signal.SIG_DFL, None):
            signal.signal(number, signal.SIG_DFL)


def _close_all_but(keep: int) -> None:
    os.closerange(3, keep)
    os.closerange(keep + 1, 65536)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


class _Nursery:
    """Serves the zygote's side of the protocol. Knows the living worker and the user of its processes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._worker: int | None = None
        self._owner: Owner | None = None
        self._over: tuple[int, resource.struct_rusage] | None = None
        """The wait status and usage of the worker, if it was found to have ended before `stop`."""

    def serve(self) -> None:
        """Answer requests until the other end is closed."""
        while True:
            packet, descriptors, _, _ = socket.recv_fds(self._control, _PACKET, 3)
            if not packet:
                return
            request = msgspec.msgpack.decode(packet)
            self._control.send(msgspec.msgpack.encode(self._answer(request, descriptors)))
            for descriptor in descriptors:
                os.close(descriptor)

    def _answer(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        if request["op"] == "start":
            return self._start(msgspec.convert(request["walls"], Walls), request["spare"], descriptors)
        if request["op"] == "stop":
            return self.stop()
        if request["op"] == "written":
            return self._written()
        gather()
        return {}

    def _start(self, walls: Walls, spare: int | None, descriptors: list[int]) -> dict[str, Any]:
        try:
            prepare(walls)  # works only the first time; workers inherit the result
            parent = os.getpid()
            pid = os.fork()
        except OSError as error:
            return {"error": str(error)}
        if pid == 0:
            for number in _ENDING_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            worker.run(walls, parent, *descriptors)
        self._worker, self._owner = pid, _owner(walls, spare)
        return {"pid": pid}

    def _written(self) -> dict[str, Any]:
        if self._worker is None or self._over is not None:
            return {"bytes": 0}
        os.kill(self._worker, signal.SIGSTOP)
        _, status, used = os.wait4(self._worker, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            os.kill(self._worker, signal.SIGCONT)
        else:
            self._over = status, used  # it has just ended
        return {"bytes": used.ru_oublock * _BLOCK}

    def stop(self) -> dict[str, Any]:
        """Kill the worker, if there is one, and everything it left behind."""
        until = time.monotonic() + PATIENCE
        status, seconds = signal.SIGKILL.value, 0.0
        pid, self._worker = self._worker, None
        over, self._over = self._over, None
        if pid is not None and over is None:
            leftovers.end_group(pid)
            if leftovers.await_end(pid, until):
                over = os.wait4(pid, 0)[1:]
        if over is not None:
            status, used = over
            seconds = used.ru_utime + used.ru_stime
        swept = leftovers.sweep(self._owner, until)
        return {"status": status, "cpu": seconds + swept.cpu_seconds, "leftovers": swept.dead, "clean": swept.clean}


def main() -> None:
    """Prepare, say ready, serve: `python -m softmark.sandbox.zygote FD`."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    control.send(msgspec.msgpack.encode({"ready": True}))
    _run(control)


if __name__ == "__main__":
    main()

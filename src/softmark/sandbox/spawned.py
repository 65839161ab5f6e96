"""Level `process` where there is no fork: a worker started as a program of its own, with no walls.

The frames travel over its standard input and output; before any student code runs, the worker moves them out of the
way, so that what the student prints goes to the standard error pipe. A thread reads each pipe, because on the systems
this is for a pipe cannot be waited for otherwise. Starting one costs an `import torch`; only wall time is limited.
"""

from __future__ import annotations

import math
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from softmark.sandbox import explain, scratch, wire
from softmark.sandbox.capture import Capture
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.limits import Limits
from softmark.sandbox.process import checked_reply
from softmark.sandbox.zygote import Ended


class SpawnedWorker:
    """The trusted side of such a worker."""

    def __init__(self, directory: Path, limits: Limits, environment: dict[str, str]) -> None:
        self._directory, self._limits = directory, limits
        self._number = 0
        self._asked_for = ""
        self._printed = Capture(limits.output_bytes)
        self._ended: Ended | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-m", "softmark.sandbox.spawned", str(directory)],
            cwd=directory, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._bodies: queue.Queue[bytes | wire.WireError | None] = queue.Queue(maxsize=4)
        for job in (self._read_frames, self._read_output):
            threading.Thread(target=job, daemon=True).start()
        self._exchange(b"", limits.import_seconds)

    @property
    def alive(self) -> bool:
        return self._ended is None

    def cpu_seconds(self) -> float:
        return 0.0  # not measured here

    def printed(self) -> tuple[str, str]:
        return self._printed.text(), ""

    def request(self, message: dict[str, Any], cpu_seconds: float, wall_seconds: float = math.inf) -> dict[Any, Any]:
        self._number += 1
        self._asked_for = explain.asked_for(message)
        try:
            frame = wire.pack({"id": self._number, **message})
        except wire.Unsupported as refusal:
            raise GraderFault(f"the hidden test passes a value that cannot be sent: {refusal}") from refusal
        return self._exchange(frame, cpu_seconds, wall_seconds)

    def close(self) -> Ended:
        if self._ended is None:
            self._process.kill()
            status = self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                _pipe(stream).close()
            self._ended = Ended(status if status >= 0 else -status, 0.0, 0, True)
            scratch.remove(self._directory)
        return self._ended

    def _exchange(self, frame: bytes, cpu_seconds: float, wall_seconds: float = math.inf) -> dict[Any, Any]:
        allowed = min(self._limits.wall(cpu_seconds), wall_seconds)
        try:
            body = self._answer(frame, allowed)
            reply = checked_reply(wire.unpack(body), self._number)
        except wire.WireError as error:
            self.close()
            raise explain.malformed(str(error)) from None
        except StudentFailure:
            self.close()
            raise
        if "failed" in reply:
            raise explain.failed_reply(reply, self._asked_for)
        done: dict[Any, Any] = reply["done"]
        return done

    def _answer(self, frame: bytes, allowed: float) -> bytes:
        try:
            _pipe(self._process.stdin).write(frame)
            _pipe(self._process.stdin).flush()
            body = self._bodies.get(timeout=allowed)
        except queue.Empty:
            raise StudentFailure("timeout", f"no answer within {allowed:.0f} s") from None
        except OSError:
            body = None
        if body is None:
            code = self._process.wait()
            raise explain.death(-code if code < 0 else code << 8)
        if isinstance(body, wire.WireError):
            raise body
        return body

    def _read_frames(self) -> None:
        stream = _pipe(self._process.stdout)
        try:
            while prefix := stream.read(wire.PREFIX):
                self._bodies.put(stream.read(wire.body_size(prefix)))
        except wire.WireError as error:
            self._bodies.put(error)
        except ValueError:
            return  # closed under us: the worker was ended
        self._bodies.put(None)

    def _read_output(self) -> None:
        try:
            while chunk := _pipe(self._process.stderr).read1(1 << 16):  # type: ignore[attr-defined]
                self._printed.add(chunk)
        except ValueError:
            return  # closed under us: the worker was ended


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise GraderFault("a student process was started without its pipes")
    return stream


def main() -> None:
    """The worker's side: `python -m softmark.sandbox.spawned DIRECTORY`."""
    from softmark.sandbox import worker

    requests, replies = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    worker.preload()
    worker.serve_spawned(sys.argv[1], requests, replies)


if __name__ == "__main__":
    main()

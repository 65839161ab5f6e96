"""The student's side: one process, one submission, behind walls. Its replies are judged, and never believed.

It holds a copy of the submission, and torch. It never holds a test, a reference, an expected value, a weight or a
secret. So it may run anything.

It answers the requests of wire/protocol.py on one stream, strictly one reply to one request. A reply to a call may ask
for something; the next request is the answer, and the call goes on (stand_ins.py). The first message (ready, or which
wall failed) answers no request. A reply that cannot be packed (an object that is not a plain value) becomes a failure
of kind "type" that names it. The student's code can corrupt all Python here. If this loop breaks, the trusted side sees
a missing or a malformed reply, which costs that test and nothing else.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TextIO

from softmark.sandbox import wire
from softmark.sandbox.wire.editing import Propose, PutEdit
from softmark.sandbox.wire.protocol import (
    Answered,
    Ask,
    DoneReply,
    FailedReply,
    Load,
    Loaded,
    Ready,
    Request,
    SelfTest,
    SelfTestResult,
    ask_value,
    done_value,
    failed_value,
    read_request,
)
from softmark.sandbox.worker import (
    calls,
    devices,
    editing,
    exceptions,
    forbidden,
    loading,
    operators,
    reset,
    self_checks,
    self_test,
)
from softmark.sandbox.worker.stand_ins import StandIns

if TYPE_CHECKING:
    from softmark.sandbox.walls import Walls

# Modules that homework uses. They are imported before the fork: nobody's clock pays for the import, and it works even
# where a worker's own user cannot read the interpreter's directory.
_PRELOADED = (
    *"abc array base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal enum".split(),
    *"fractions functools glob hashlib heapq inspect io itertools json linecache logging math numbers operator".split(),
    *"pathlib pprint queue random re shutil statistics string struct tempfile textwrap threading time timeit".split(),
    *"traceback types typing unicodedata uuid warnings weakref numpy.linalg numpy.random torch.nn".split(),
    *"torch.nn.functional torch.nn.utils torch.linalg torch.utils.data torch.autograd torch.func".split(),
)

_AROUND_A_VALUE = 2  # steps of a reply on the way to its value: the keys "done" and "value"


def preload() -> None:
    for name in _PRELOADED:
        importlib.import_module(name)
    operators.sorted_names()


@cache
def streams() -> dict[str, TextIO]:
    """Return the text streams of a worker, made over a pipe. The zygote makes them in advance: it takes 0.2 ms."""
    end, pipe = os.pipe()
    made: dict[str, TextIO] = {}
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        own = os.dup(descriptor)
        os.dup2(pipe, descriptor)
        made[name] = open(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        os.dup2(own, descriptor)
        os.close(own)
    os.close(end)
    os.close(pipe)
    return made


def run(walls: Walls, parent: int, wire_fd: int, out: int, err: int) -> NoReturn:
    """Run a freshly forked worker until its wire ends."""
    from softmark.sandbox.walls import WallError, raise_walls  # only where there are walls can it be imported

    try:
        _redirect(out, err)
        try:
            raise_walls(walls, keep_fds=(wire_fd,), parent=parent)
        except WallError as error:
            _send(wire_fd, failed_value(FailedReply(id=0, failed="walls", detail=str(error))))
        else:
            self_checks.leave_out()
            gc.enable()  # the zygote runs without garbage collection
            _send(wire_fd, done_value(0, Ready()))
            Worker(walls.scratch).serve(wire_fd, wire_fd)
    finally:
        os._exit(0)


def _redirect(out: int, err: int) -> None:
    os.dup2(out, 1)
    os.dup2(err, 2)
    for name, file in streams().items():
        setattr(sys, name, file)
        setattr(sys, f"__{name}__", file)


def serve_spawned(directory: str, requests: int, replies: int) -> None:
    """Run a worker that was started as a program, without walls."""
    self_checks.leave_out()
    _send(replies, done_value(0, Ready()))
    Worker(directory).serve(requests, replies)


class Worker:
    """Answers requests until the wire ends."""

    def __init__(self, scratch: str, submission: loading.SubmissionModule | None = None) -> None:
        self._scratch = scratch
        self._pid = os.getpid()
        self._initial = reset.Snapshot.take()
        self._submission = submission
        self._edited: editing.EditedModule | None = None
        self._device = devices.Device()
        self._wire = -1, -1
        self.present = 0
        """The number of the present call."""
        self.asked_here: Callable[[Ask], Answered] | None = None
        """A function that answers what a call asks, if the trusted side is this same process; else None."""

    def serve(self, requests: int, replies: int) -> None:
        self._wire = requests, replies
        while True:
            request = _receive(requests)
            if request is None:
                return
            reply = self.reply(request)
            if os.getpid() != self._pid:
                return  # a twin that the student's code forked: only the original answers
            self._flush()
            _write(replies, reply)

    def reply(self, request: Request) -> bytes:
        """Return the frame of the reply to one request, whatever the student's code does in between."""
        try:
            return wire.pack(done_value(request.id, self._dispatch(request)))  # only plain values can be packed
        except BaseException as error:  # KeyboardInterrupt, SystemExit, pytest's Skipped: all are the student's
            return wire.pack(failed_value(self._failed(request.id, error)))

    def _failed(self, number: int, error: BaseException) -> FailedReply:
        match error:
            case calls.Missing():
                return FailedReply(id=number, failed="missing", detail=str(error))
            case wire.Unsupported():
                return FailedReply(id=number, failed="type", detail=error.sentence(_AROUND_A_VALUE))
            case devices.WrongDevice():
                return FailedReply(id=number, failed="device", detail=str(error))
            case forbidden.ForbiddenUse():
                return FailedReply(id=number, failed="forbidden", detail=error.name, raised=self._describe(error))
        kind: Literal["memory", "error"] = "memory" if exceptions.is_memory(error) else "error"
        return FailedReply(id=number, failed=kind, detail="", raised=self._describe(error))

    def _dispatch(self, request: Request) -> DoneReply:
        if isinstance(request, Load):
            return self._load(request)
        if isinstance(request, SelfTest):
            return SelfTestResult(achieved=self_test.run(request))
        if isinstance(request, Propose):
            return editing.propose(request)
        if self._submission is None or isinstance(request, Answered):
            raise RuntimeError("a call arrived before the submission was loaded, or an answer without a question")
        if isinstance(request, PutEdit):
            self._edited = self._edited or editing.EditedModule(self._submission.module, self._scratch)
            return self._edited.put(request)
        if request.seed is not None:
            self._initial.restore(request.seed)
            self._device.seed(request.seed)
            self._submission.forget_handles()
        self.present = request.id
        return calls.perform(self._submission, request, self._device)

    def exchange(self, ask: Ask) -> Answered:
        """Ask the trusted side during a call, and return its answer."""
        if self.asked_here is not None:
            return self.asked_here(ask)
        requests, replies = self._wire
        _write(replies, wire.pack(ask_value(self.present, ask)))
        answer = _receive(requests)
        if not isinstance(answer, Answered):
            raise RuntimeError("no answer to what was asked")
        return answer

    def _load(self, request: Load) -> Loaded:
        self._device = devices.device_of(request.device)
        if request.stand_ins:
            gc.freeze()  # objects that are made after this belong to the submission
        if request.cells is None:
            self._submission = loading.load(self._scratch, request.file, request.rules)
        else:
            self._submission = loading.load_notebook(self._scratch, request.file, request.rules, request.cells)
        self._submission.stand_ins = StandIns(self.exchange)
        if request.stand_ins:
            self._submission.stand_ins.put_into(self._submission.module, request.stand_ins)
        return self._submission.told(request.wanted)

    def _describe(self, error: BaseException) -> wire.Raised:
        return exceptions.describe(error, self._scratch)

    @staticmethod
    def _flush() -> None:
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is None or stream.closed:
                continue  # the student's code closed it
            stream.flush()


def _send(descriptor: int, message: dict[str, Any]) -> None:
    _write(descriptor, wire.pack(message))


def _write(descriptor: int, frame: bytes) -> None:
    unsent = memoryview(frame)
    while unsent:
        unsent = unsent[os.write(descriptor, unsent) :]


def _receive(descriptor: int) -> Request | None:
    """Return the next request; None at the end of the stream."""
    prefix = _read(descriptor, wire.PREFIX)
    if prefix is None:
        return None
    body = _read(descriptor, wire.body_size(prefix))
    if body is None:
        return None
    return read_request(wire.unpack(body))


def _read(descriptor: int, size: int) -> bytes | None:
    parts = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)  # this copies nothing if there is only one part, the usual case

"""Warms up the zygote: answers one request of each kind before the first fork, so that workers inherit the caches.

The first call takes a millisecond longer than the next one: torch looks up its kernels, Python fills its caches, and a
worker copies each page that this writes to. So it is made before the fork. The functions that it calls are below, and
all numbers are ones, so the zygote's memory gets nothing that a worker must not find.

No gradient is computed if torch was built for graphics cards, because that would start a thread for every card.

`gather` puts a zygote's memory into large pages. A fork copies one entry for each page, and the child's end frees it:
for torch's 150 MB that is a large share of a worker's cost, and with pages of 2 MB a small one. The C library's heap is
in such pages from the start (GLIBC_TUNABLES in walls/). Python's own heap is not, and memory that a process writes
after a fork is in small pages again. The kernel gathers them on request. That takes 0.1 to 0.2 s, and memory that was
shared with another process is not shared afterwards.
"""

from __future__ import annotations

import ctypes
import os
import random
import types
import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from softmark.sandbox import wire
from softmark.sandbox.wire import protocol
from softmark.sandbox.wire.protocol import Call, CallResult, Rule
from softmark.sandbox.worker import Worker, forbidden
from softmark.sandbox.worker.forbidden import Guard
from softmark.sandbox.worker.loading import SubmissionModule

_RULE = Rule(names=("torch.cdist",), ops=("aten::_cdist_*",))


def _scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    repr(q)  # the first print of a tensor takes torch over a millisecond longer
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, dim=-1)


class _Projection(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.project(x))  # of all functions that homework uses, its first call is the slowest


@cache
def rehearse() -> None:
    """Answer one request of each kind, and restore random numbers and warnings."""
    chance = random.getstate(), np.random.get_state(), torch.get_rng_state()
    module = types.ModuleType("rehearsal")
    module.__dict__.update(scores=_scores, Projection=_Projection)
    worker = Worker(os.getcwd(), SubmissionModule(module, Guard([_RULE])))
    q, k = torch.ones(2, 3), torch.ones(4, 3)
    with warnings.catch_warnings():
        _answer(worker, Call(target="scores", args=[q, k], seed=1))
        _answer(worker, Call(target="scores", args=[q.double(), k.double()], how="count_ops"))
        _answer(worker, Call(target="scores", args=[q, k], how="on_meta"))
        projection = _answer(worker, Call(target="Projection", args=[3])).value
        _answer(worker, Call(target=projection, args=["state"], how="weights"))
        _answer(worker, Call(target=projection, args=[q]))
        if torch.accelerator.current_accelerator() is None:
            _answer(worker, Call(target="scores", args=[q, k], how="vjp", cotangent=torch.ones(2, 4)))
            _answer(worker, Call(target=projection, args=[q], how="vjp", cotangent=torch.ones(2, 3)))
    forbidden.undo()  # in the zygote, torch must work without gates
    random.setstate(chance[0])
    np.random.set_state(chance[1])
    torch.set_rng_state(chance[2])


def _answer(worker: Worker, call: Call) -> CallResult:
    request = wire.unpack(wire.pack(protocol.request_value(call))[wire.PREFIX :])
    reply = protocol.read_reply(wire.unpack(worker.reply(protocol.read_request(request))[wire.PREFIX :]), call)
    if not isinstance(reply, CallResult):
        raise RuntimeError(f"a call of {call.target} could not be rehearsed: {reply}")
    return reply


_MADV_COLLAPSE = 25  # Linux 6.1
_LARGE = 2 << 20


def gather() -> None:
    """Put this process's own memory into large pages. If the kernel refuses, everything stays as it is."""
    madvise = ctypes.CDLL(None).madvise
    for start, end in list(_own_memory()):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_COLLAPSE)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Yield start and end of each region that belongs to no file, cut to whole large pages."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            place, rights, _, _, inode, *_ = line.split()
            start, end = (int(number, 16) for number in place.split("-"))
            start, end = -(-start // _LARGE) * _LARGE, end // _LARGE * _LARGE
            if rights == "rw-p" and inode == "0" and start < end:
                yield start, end

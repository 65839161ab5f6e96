"""The form of a worker's replies. Trusted side; what arrives is a plain value, and may be any.

The student's code can write on the wire, so a reply may be forged. That is no danger to a verdict, since a reply holds
none. But it must not be able to make the trusted side stumble either: that would pass for the grader's own error, which
costs nobody marks. So what breaks the form is a malformed reply, here and at once, and nothing behind this doubts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from softmark.sandbox.wire import Meta, Raised, WireError

_LARGEST_META = 2**40  # elements of a tensor that is only described
_MOST_OPERATIONS = 10**9  # counted in one call: no call runs more within any limit
_START = 0  # the number of the first reply, which nobody asked for


def checked_reply(reply: Any, request: dict[str, Any]) -> dict[Any, Any]:
    """The reply, if it has the form of one to this request, WireError otherwise."""
    if type(reply) is not dict or type(reply.get("id")) is not int or reply["id"] != request["id"]:
        raise WireError("not the reply to this request")
    good = _is_failure(reply, request) if "failed" in reply else _is_done(reply.get("done"), request)
    if not good:
        raise WireError("a reply without its parts")
    return reply


def _is_failure(reply: dict[Any, Any], request: dict[str, Any]) -> bool:
    kind = reply["failed"]
    if type(kind) is not str or type(reply.get("detail")) is not str:
        return False
    if type(reply.get("raised")) not in (Raised, type(None)):
        return False
    return kind != "walls" or request["id"] == _START  # once a submission is loaded, the walls stand


def _is_done(done: Any, request: dict[str, Any]) -> bool:
    if request["id"] == _START:
        return type(done) is str
    if type(done) is not dict:
        return False
    parts = _PARTS.get(request.get("how", ""))
    return parts is None or ("value" in done and parts(done, request))


def _is_plain(done: dict[Any, Any], request: dict[str, Any]) -> bool:
    changed = done.get("changed")
    return type(changed) is dict and all(
        type(name) is str and type(tensor) in (torch.Tensor, type(None)) for name, tensor in changed.items()
    )


def _is_pullback(done: dict[Any, Any], request: dict[str, Any]) -> bool:
    args, kwargs, parameters = done.get("args"), done.get("kwargs"), done.get("parameters")
    if type(args) is not list or type(kwargs) is not dict or type(parameters) is not dict:
        return False
    if len(args) != len(request["args"]) or kwargs.keys() != request["kwargs"].keys():
        return False
    gradients = [*args, *kwargs.values(), *parameters.values()]
    return all(type(g) in (torch.Tensor, type(None)) for g in gradients) and all(type(k) is str for k in parameters)


def _is_count(done: dict[Any, Any], request: dict[str, Any]) -> bool:
    ops = done.get("ops")
    return type(ops) is dict and all(
        type(name) is str and type(count) is int and 0 <= count <= _MOST_OPERATIONS for name, count in ops.items()
    )


def _is_described(done: dict[Any, Any], request: dict[str, Any]) -> bool:
    """No tensor is described that could not even be described again."""
    unseen = [done["value"]]
    while unseen:
        value = unseen.pop()
        if type(value) in (list, tuple):
            unseen += value
        elif type(value) is dict:
            unseen += value.values()
        elif type(value) is Meta and math.prod(size or 1 for size in value.shape) > _LARGEST_META:
            return False
    return True


_PARTS: dict[str, Callable[[dict[Any, Any], dict[str, Any]], bool]] = {
    "plain": _is_plain,
    "vjp": _is_pullback,
    "count_ops": _is_count,
    "on_meta": _is_described,
    "weights": lambda done, request: True,
    "mode": lambda done, request: True,
}

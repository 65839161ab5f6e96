"""Defines the messages between the trusted side and a worker, each with its type.

Each request gets one reply; each is one value on the wire (see the package's page):

    (first)   reply 0, to no request: Ready, or FailedReply with the kind "walls", after which the process ends
    request   {"op": "load" | "call" | …, "id": n, and the fields of that Struct}
    reply     {"id": n, "done": the fields of the Struct that belongs to the request}
              {"id": n, "failed": kind, "detail": text, "raised": Raised or None}
              {"id": n, "ask": the fields of Ask}, to a call only

A reply may be a question: then the next request is the answer, and the reply after it belongs to the call again, with
the call's number. A worker asks when a stand-in is called (see Load.stand_ins), or a function that the test has lent
(see Call.lent). Outside of a call it may not ask. The trusted side decides which questions it answers.

Both sides import these types. The trusted side builds a request, and the worker does not check it. A reply is hostile
input: only `read_reply` takes one apart, and its result has the form that its type says. Only the slots `value`,
`args`, `kwargs`, `cotangent` and gradients hold values of the wire's own types; all others hold numbers and text of
bounded length. editing.py has two more requests with their replies.

The first call of a test has a `seed`: the worker restores changed state first, and seeds the random generators.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np
import torch

from softmark.sandbox.wire.editing import EditPut, Propose, Proposed, PutEdit
from softmark.sandbox.wire.repeats import as_given, parts_of, sent_once
from softmark.sandbox.wire.values import Handle, Meta, Raised, WireError

MOST_TOLD = 100
"""The longest that each list about the loading of a submission may be: a file may have a million statements."""
_LARGEST_META = 2**40  # elements of a tensor that is only described
_Operations = Annotated[int, msgspec.Meta(ge=0, le=10**9)]  # no call runs more operations within any limit
_Index = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]

How: TypeAlias = Literal["plain", "vjp", "count_ops", "on_meta", "weights", "mode"]
"""The ways to use a function or an object, see worker/calls.py."""


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    """A part of the protocol."""


class Rule(_Message):
    """A rule about library functions that a student's functions must not use; no `functions` means all of them."""

    names: tuple[str, ...]
    ops: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


class Cells(_Message):
    """The files that are cells of one notebook. If `whole`, all of it is run, else what the `wanted` names need."""

    names: tuple[str, ...]
    wanted: frozenset[str]
    whole: bool


class UsedDevice(_Message):
    """The device on which a submission's tensors are, and the share of its memory that a worker may use."""

    name: str
    share: float = 1.0


class StandIn(_Message):
    """A function or class of the student's that the worker replaces by one that asks (worker/stand_ins.py)."""

    name: str
    takes: tuple[str, ...] = ()
    """The names of its positional arguments in the handout."""
    needs: int = 0
    """The number of these arguments that have no default."""
    methods: tuple[str, ...] = ()
    """The methods of a class, which ask; empty for a function."""


class Load(_Message, tag_field="op", tag="load"):
    """Load the submission. The reply says which of the `wanted` names it defines; None stands for all names."""

    file: str
    rules: tuple[Rule, ...] = ()
    cells: Cells | None = None
    device: UsedDevice | None = None
    wanted: tuple[str, ...] | None = None
    stand_ins: tuple[StandIn, ...] = ()
    id: int = 0


class Call(_Message, tag_field="op", tag="call"):
    """Call a function by its name, or an object of the student's or a method of it by its handle."""

    target: str | Handle
    method: str | None = None
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    how: How = "plain"
    cotangent: Any = None
    seed: int | None = None
    lent: tuple[str, ...] = ()
    """The arguments that are functions of the test ("argument 1", "argument step"): None is sent in their place."""
    id: int = 0


class SelfTest(_Message, tag_field="op", tag="self_test"):
    """Make Softmark's own attacks, see worker/self_test.py."""

    secret: str
    outside: str
    grader: int
    id: int = 0


class Answered(_Message, tag_field="op", tag="answer"):
    """Answer the question of a call, with a value or with the name of the exception that the worker raises."""

    value: Any = None
    raised: str = ""
    id: int = 0


Request: TypeAlias = Load | Call | SelfTest | Answered | Propose | PutEdit


class Ready(_Message):
    """The walls stand."""


class Loaded(_Message):
    """The names that the submission defines, each with its kind, and what was noticed while it was loaded."""

    names: dict[str, str]
    mentions: Annotated[list[tuple[str, _Index, _Index]], msgspec.Meta(max_length=MOST_TOLD)] = []
    """Forbidden names in the text, each with the index of its file and its line."""
    failed: Annotated[list[Raised], msgspec.Meta(max_length=MOST_TOLD)] = []
    """Exceptions of a notebook's statements, or of a file's imports."""
    unset: Annotated[list[tuple[_Index, _Index]], msgspec.Meta(max_length=MOST_TOLD)] = []
    """Cell and line of statements that were not run although they set a name that something needs."""
    several: Annotated[list[tuple[str, list[_Index]]], msgspec.Meta(max_length=MOST_TOLD)] = []
    """Wanted names that several cells set, with those cells."""


class Object(_Message):
    """An object of a stand-in's class: what it was made with, its parameters and buffers, and its mode."""

    args: list[Any]
    kwargs: dict[str, Any]
    state: dict[str, torch.Tensor]
    training: bool


class Ask(_Message):
    """Ask for the answer of a function, for a new object of a class, or for the answer of a method of an object.

    With cotangents, one for each tensor of the answer, it asks for gradients: one for each tensor among the arguments
    and the object's state that requires a gradient, in their order.
    """

    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    method: str = ""
    of: Object | None = None
    cotangents: list[torch.Tensor | None] | None = None


class CallResult(_Message):
    """The value that a call returned."""

    value: Any


class ComputedResult(CallResult):
    """The value, and the names of the inputs that the call changed in place."""

    changed: list[str]


class PullbackResult(ComputedResult):
    """The value, and the gradient of <cotangent, value> for each input and each parameter; None where there is none.

    An argument that is a list, a tuple or a dictionary has a gradient for each value in it, in order.
    """

    args: list[torch.Tensor | None]
    kwargs: dict[str, torch.Tensor | None]
    parameters: dict[str, torch.Tensor | None]


class CountResult(ComputedResult):
    """The value, and how often each operation of torch was dispatched."""

    ops: dict[str, _Operations]


class SelfTestResult(_Message):
    """The achievement of each attack; empty text for one that was refused."""

    achieved: dict[str, str]


class FailedReply(_Message):
    """The reply of a request that failed, with the reason."""

    id: int
    failed: Literal["walls", "missing", "type", "device", "forbidden", "memory", "error"]
    detail: str
    raised: Raised | None = None


DoneReply: TypeAlias = Ready | Loaded | CallResult | SelfTestResult | Ask | Proposed | EditPut

RESULTS: dict[How, type[CallResult]] = {
    "plain": ComputedResult,
    "vjp": PullbackResult,
    "count_ops": CountResult,
    "on_meta": ComputedResult,
    "weights": CallResult,
    "mode": CallResult,
}
"""The reply to each kind of call."""


def request_value(request: Request) -> dict[str, Any]:
    """Return a request as a value that the wire can send. A call's tensors are sent once each (repeats.py)."""
    if not isinstance(request, Call | Answered):
        plain: dict[str, Any] = msgspec.to_builtins(request)
        return plain
    value = {"op": request.__struct_config__.tag, **msgspec.structs.asdict(request)}
    return value | sent_once(request.args, request.kwargs) if isinstance(request, Call) else value


def read_request(value: Any) -> Request:
    """Return the request that a worker received as a value."""
    request: Request = msgspec.convert(as_given(value), Request)
    return request


def done_value(number: int, done: DoneReply) -> dict[str, Any]:
    """Return the reply "done" as a value that the wire can send."""
    return {"id": number, "done": msgspec.structs.asdict(done)}


def ask_value(number: int, ask: Ask) -> dict[str, Any]:
    """Return the reply "ask" as a value that the wire can send."""
    plain = msgspec.structs.asdict(ask)
    return {"id": number, "ask": plain | {"of": None if ask.of is None else msgspec.structs.asdict(ask.of)}}


def failed_value(failed: FailedReply) -> dict[str, Any]:
    """Return the reply "failed" as a value that the wire can send."""
    return msgspec.structs.asdict(failed)


def read_reply(value: Any, request: Request | None) -> DoneReply | FailedReply:
    """Return the reply to this request (None: the first message); raise WireError if it has another form."""
    number = 0 if request is None else request.id
    if type(value) is not dict or type(value.get("id")) is not int or value["id"] != number:
        raise WireError("not the reply to this request")
    if "failed" in value:
        failed: FailedReply = _convert(value, FailedReply)
        if failed.failed == "walls" and request is not None:
            raise WireError("walls fail before the first request only")
        return failed
    if value.keys() == {"id", "ask"} and isinstance(request, Call):
        return _read_ask(value["ask"])
    if value.keys() != {"id", "done"}:
        raise WireError("a reply without its parts")
    done: DoneReply = _convert(value["done"], _type_of_done(request))
    if isinstance(request, Call):
        _require_fit(done, request)
    return done


def _read_ask(value: Any) -> Ask:
    """Return the question of a call; raise WireError if it has another form."""
    if type(value) is dict and type(value.get("of")) is dict:
        value = value | {"of": _convert(value["of"], Object)}
    ask: Ask = _convert(value, Ask)
    return ask


def _type_of_done(request: Request | None) -> type[Any]:
    match request:
        case None:
            return Ready
        case Load():
            return Loaded
        case Call():
            return RESULTS[request.how]
        case SelfTest():
            return SelfTestResult
        case Propose():
            return Proposed
        case PutEdit():
            return EditPut
        case Answered():
            raise TypeError("the reply after an answer is one to the call")


def _convert(value: Any, form: type[Any]) -> Any:
    """Return the value as this Struct; raise WireError if it has another form.

    Arrays are refused first: msgspec would take one for a mapping, and raise errors of other classes.
    """
    if type(value) is not dict or any(type(part) in _ARRAYS for name, part in value.items() if name != "value"):
        raise WireError("a reply without its parts")
    try:
        return msgspec.convert(value, form)
    except msgspec.ValidationError:
        raise WireError("a reply without its parts") from None


_ARRAYS = (torch.Tensor, np.ndarray)


def _require_fit(done: Any, call: Call) -> None:
    """Raise WireError if gradients belong to other inputs, or if a description fits no tensor that can exist."""
    if isinstance(done, PullbackResult) and (len(done.args), done.kwargs.keys()) != (
        len(parts_of(call.args)),
        call.kwargs.keys(),
    ):
        raise WireError("gradients of other inputs")
    if call.how == "on_meta" and any(_is_beyond_measure(meta) for meta in _descriptions(done.value)):
        raise WireError("a description of more than any tensor holds")


def _is_beyond_measure(meta: Meta) -> bool:
    return math.prod(size or 1 for size in meta.shape) > _LARGEST_META


def _descriptions(value: Any) -> list[Meta]:
    """Return the descriptions of tensors in a value."""
    found, unseen = [], [value]
    while unseen:
        part = unseen.pop()
        if type(part) in (list, tuple):
            unseen += part
        elif type(part) is dict:
            unseen += part.values()
        elif type(part) is Meta:
            found.append(part)
    return found

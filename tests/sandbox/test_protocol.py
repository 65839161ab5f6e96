"""Messages between the two sides: a reply is hostile input, and is refused unless it has the form of its type."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softmark.sandbox import wire
from softmark.sandbox.wire import Frame, Handle, Meta, Raised, WireError
from softmark.sandbox.wire.protocol import (
    Answered,
    Ask,
    Call,
    CallResult,
    Cells,
    ComputedResult,
    CountResult,
    FailedReply,
    Load,
    Loaded,
    Object,
    PullbackResult,
    Ready,
    Request,
    Rule,
    SelfTest,
    SelfTestResult,
    StandIn,
    UsedDevice,
    ask_value,
    done_value,
    failed_value,
    read_reply,
    read_request,
    request_value,
)

ONE, NAMED = torch.ones(2), {"x": 1}
RAISED = Raised("ValueError", "no", (Frame("hw.py", 3, "f", "raise"),))
LOAD, PROBE = Load("hw.py", id=7), SelfTest("a", "b", 3, id=7)
ASKS = [
    Ask("f", [ONE, 2], {"x": {"w": ONE}}),
    Ask("f", [ONE], {}, cotangents=[ONE, None]),
    Ask("Layer", [], {}, "forward", Object([3], {}, {"w": ONE}, True)),
]
CALLS = {how: Call("f", None, [1], {"x": 2}, how, id=7) for how in "plain vjp count_ops on_meta weights mode".split()}
REPLIES: list[tuple[Request | None, Any]] = [
    (None, Ready()),
    (LOAD, Loaded({"f": "function"}, [("torch.cdist", 0, 3)], [RAISED], [(0, 1)], [("f", [0, 1])])),
    (PROBE, SelfTestResult({"read": ""})),
    (CALLS["plain"], ComputedResult(1, ["x", "argument 1"])),
    (CALLS["vjp"], PullbackResult(1, [], [ONE], {"x": None}, {"w": ONE})),
    (CALLS["count_ops"], CountResult(1, ["x"], {"aten.mul": 10**6})),
    (CALLS["on_meta"], ComputedResult(Meta("float64", (0, 3)), [])),
    *((CALLS[how], CallResult(Meta("float64", (0, 3)))) for how in ("weights", "mode")),
]
REQUESTS: list[Request] = [
    Load("hw.py", (Rule(("torch.cdist",), ("aten::cdist",), ("f",)),), None, UsedDevice("cuda:0", 0.5), ("f",), id=1),
    Load("hw", cells=Cells(("cell 1",), frozenset({"f"}), True), id=1),
    Load("hw", stand_ins=(StandIn("f", ("x",), 1), StandIn("Layer", methods=("forward",))), id=1),
    Answered({"a": [1, None]}, id=3),
    Answered(raised="ValueError", id=3),
    Call("f", "forward", [1, None], {"x": "y"}, "vjp", (1.0, None), 5, ("argument 2",), id=2**50),
    Call(Handle(3, "Layer", True), id=2),
    PROBE,
]

leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.binary(max_size=5),
    st.complex_numbers(), st.sampled_from([ONE, torch.ones(()), np.ones(2), np.ones(()), Handle(1, "x", True), RAISED]),
    st.builds(Meta, st.just("float32"), st.lists(st.integers(0, 2**62), max_size=3).map(tuple)),
)  # fmt: skip
names = st.sampled_from(
    ["id", "done", "failed", "detail", "raised", "value", "changed", "args", "kwargs", "names", "x"]
)
anything = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(names, st.text(max_size=3), st.integers(0, 9)), inner, max_size=3),
    ),
    max_leaves=6,
)


@st.composite
def spoilt(draw: st.DrawFn, value: Any) -> Any:
    """A value in which one part, at any depth, is something else, is missing or is one too many."""
    if type(value) is dict and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(list(value)))
        match draw(st.sampled_from(["part", "part", "lacking", "surplus"])):
            case "lacking":
                return {name: part for name, part in value.items() if name != key}
            case "surplus":
                return {**value, draw(st.one_of(names, st.text(max_size=3), st.integers(0, 9))): draw(anything)}
        return {**value, key: draw(spoilt(value[key]))}
    if type(value) in (list, tuple) and value and draw(st.integers(0, 5)):
        index = draw(st.integers(0, len(value) - 1))
        return type(value)([*value[:index], draw(spoilt(value[index])), *value[index + 1 :]])
    return draw(anything)


def is_well_formed(reply: Any, request: Request | None) -> bool:
    """Return True if a reply is what its type says. The code under test says it in types, so it is written out here."""
    match reply:
        case FailedReply():
            kinds = {"missing", "type", "device", "forbidden", "memory", "error"} | (
                {"walls"} if not request else set()
            )
            return reply.failed in kinds and type(reply.detail) is str and type(reply.raised) in (Raised, type(None))
        case Loaded():
            return (
                all(type(k) is type(v) is str for k, v in reply.names.items())
                and all([*map(type, hit)] == [str, int, int] for hit in reply.mentions)
                and all(type(raised) is Raised for raised in reply.failed)
                and all([*map(type, place)] == [int, int] for place in reply.unset)
                and all(type(name) is str and all(type(n) is int for n in cells) for name, cells in reply.several)
            )
        case SelfTestResult():
            return all(type(k) is type(v) is str for k, v in reply.achieved.items())
        case ComputedResult() if not all(type(name) is str for name in reply.changed):
            return False
        case PullbackResult():
            named = {**reply.kwargs, **reply.parameters}
            tensors = all(map(is_tensor_or_none, [*reply.args, *named.values()])) and all(type(k) is str for k in named)
            assert isinstance(request, Call)
            return tensors and len(reply.args) == len(request.args) and reply.kwargs.keys() == request.kwargs.keys()
        case Ask():
            assert isinstance(request, Call)
            of, cotangents = reply.of, reply.cotangents
            return (
                [type(reply.name), type(reply.method), type(reply.args), type(reply.kwargs)] == [str, str, list, dict]
                and all(type(key) is str for key in reply.kwargs)
                and (cotangents is None or (type(cotangents) is list and all(map(is_tensor_or_none, cotangents))))
                and (of is None or is_object(of))
            )
        case CountResult():
            return all(type(k) is str and type(v) is int and 0 <= v <= 10**9 for k, v in reply.ops.items())
    return isinstance(reply, Ready | CallResult)


def is_object(of: Any) -> bool:
    return (
        [type(of), type(of.args), type(of.kwargs), type(of.state), type(of.training)]
        == [Object, list, dict, dict, bool]
    ) and all(type(key) is str and type(tensor) is torch.Tensor for key, tensor in of.state.items())


def is_tensor_or_none(value: Any) -> bool:
    return type(value) in (torch.Tensor, type(None))


def sent(value: Any) -> Any:
    """What arrives of a value."""
    return wire.unpack(wire.pack(value)[wire.PREFIX :])


class TestRequests:
    """What the trusted side sends."""

    @pytest.mark.parametrize("request_sent", REQUESTS, ids=lambda request: type(request).__name__)
    def test_arrive_as_they_were(self, request_sent: Request) -> None:
        """Every field, with its type."""
        assert read_request(sent(request_value(request_sent))) == request_sent


class TestReplies:
    """What arrives from a worker."""

    @pytest.mark.parametrize(("request_sent", "done"), REPLIES, ids=lambda message: type(message).__name__)
    def test_that_are_true_are_read(self, request_sent: Request | None, done: Any) -> None:
        """Every field of every reply."""
        read = read_reply(sent(done_value(getattr(request_sent, "id", 0), done)), request_sent)
        assert type(read) is type(done)
        assert repr(read) == repr(done)

    @pytest.mark.parametrize("kind", ["missing", "type", "device", "forbidden", "memory", "error"])
    def test_that_tell_of_a_failure_are_read(self, kind: Any) -> None:
        """Of every kind, with an exception and without."""
        for failed in (FailedReply(7, kind, "why"), FailedReply(7, kind, "why", RAISED)):
            assert read_reply(sent(failed_value(failed)), CALLS["plain"]) == failed

    def test_that_tell_of_an_unknown_failure_are_refused(self) -> None:
        """A kind of failure that our worker does not have was not reported by our worker."""
        with pytest.raises(WireError):
            read_reply({"id": 7, "failed": "victory", "detail": ""}, CALLS["plain"])

    def test_walls_fail_only_before_the_first_request(self) -> None:
        """Code of the student's cannot say that the grader's walls did not stand."""
        assert read_reply({"id": 0, "failed": "walls", "detail": "x"}, None) == FailedReply(0, "walls", "x")
        with pytest.raises(WireError):
            read_reply({"id": 7, "failed": "walls", "detail": "x"}, LOAD)

    @pytest.mark.parametrize("ask", ASKS, ids=["value", "gradients", "method"])
    def test_that_ask_are_read_in_a_call_only(self, ask: Ask) -> None:
        """Every field; to any other request, and with another number, it is no reply."""
        value = sent(ask_value(7, ask))
        read = read_reply(value, CALLS["vjp"])
        assert repr(read) == repr(ask)
        for request in (None, LOAD, PROBE, Call("f", id=8)):
            with pytest.raises(WireError):
                read_reply(value, request)

    @pytest.mark.parametrize("ask", ASKS, ids=["value", "gradients", "method"])
    @given(data=st.data())
    def test_that_ask_and_are_spoilt_are_refused(self, data: st.DataObject, ask: Ask) -> None:
        """A question is malformed, or it has the form of one, with anything in the place of a part."""
        value = sent(data.draw(spoilt(ask_value(7, ask))))
        try:
            reply = read_reply(value, CALLS["plain"])
        except WireError:
            return
        assert is_well_formed(reply, CALLS["plain"])

    @pytest.mark.parametrize(("request_sent", "done"), REPLIES, ids=lambda message: type(message).__name__)
    @given(data=st.data())
    def test_that_are_spoilt_are_refused(self, data: st.DataObject, request_sent: Request | None, done: Any) -> None:
        """Whatever is in the place of a part: the reply is refused as malformed, or it is one that has its form."""
        true = data.draw(
            st.sampled_from([
                done_value(getattr(request_sent, "id", 0), done),
                failed_value(FailedReply(getattr(request_sent, "id", 0), "error", "", RAISED)),
            ])
        )  # fmt: skip
        value = sent(data.draw(spoilt(true)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                reply = read_reply(value, request_sent)
            except WireError:
                return
        assert is_well_formed(reply, request_sent)

    @pytest.mark.parametrize(
        ("how", "done"),
        [
            ("count_ops", {"value": 1, "changed": [], "ops": {"aten.mul": 2**4000}}),
            ("count_ops", {"value": 1, "changed": [], "ops": {"aten.mul": -1}}),
            ("count_ops", {"value": 1, "changed": [], "ops": {"aten.mul": True}}),
            ("count_ops", {"value": 1, "changed": [], "ops": {3: 1}}),
            ("on_meta", {"value": Meta("float64", (0, 2**62, 2**62)), "changed": []}),
            ("on_meta", {"value": [{"a": (Meta("float64", (2**62,)),)}], "changed": []}),
            ("plain", {"value": 1}),
            ("plain", {"value": 1, "changed": {}}),
            ("plain", {"value": 1, "changed": [3]}),
            ("plain", {"value": 1, "changed": ONE}),
            ("plain", {"value": 1, "changed": [], "more": 1}),
            ("plain", {"changed": []}),
            ("vjp", {"value": 1, "changed": [], "args": [], "kwargs": {}, "parameters": {}}),
            ("vjp", {"value": 1, "changed": [], "args": [None], "kwargs": {"y": None}, "parameters": {}}),
            ("weights", {}),
            ("mode", 3),
        ],
    )
    def test_of_another_form_are_refused(self, how: str, done: Any) -> None:
        """Numbers that no call can come to, descriptions that nothing can have, parts that lack."""
        with pytest.raises(WireError):
            read_reply(sent({"id": 7, "done": done}), CALLS[how])

    @pytest.mark.parametrize(
        "told",
        [
            None,
            [],
            {"names": {"f": "function"}, "failed": None},
            {"names": ["f"]},
            {"names": {"f": 3}},
            {"names": {}, "failed": ["x"]},
            {"names": {}, "failed": [RAISED] * 101},
            {"names": {}, "unset": [[0]]},
            {"names": {}, "unset": [[0, True]]},
            {"names": {}, "unset": [[-1, 1]]},
            {"names": {}, "unset": [["0", 1]]},
            {"names": {}, "several": [["one", "x"]]},
            {"names": {}, "several": [[["one"], [0]]]},
            {"names": {}, "mentions": [["a", 1]]},
        ],
    )
    def test_to_loading_of_another_form_are_refused(self, told: Any) -> None:
        """Lists of anything else than what they are lists of, and lists without end."""
        with pytest.raises(WireError):
            read_reply(sent({"id": 7, "done": told}), LOAD)

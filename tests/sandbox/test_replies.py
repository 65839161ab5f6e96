"""Replies whose form is wrong are no replies, whatever the request was."""

from __future__ import annotations

from typing import Any

import pytest

from softmark.sandbox import wire
from softmark.sandbox.asking import Question
from softmark.sandbox.wire import Meta, WireError


def read(done: Any, how: str) -> dict[Any, Any]:
    """What a question reads in a reply with this "done" part."""
    question = Question.of({"op": "call", "id": 7, "how": how, "target": "f", "args": [1], "kwargs": {}})
    return question.read(wire.pack({"id": 7, "done": done})[wire.PREFIX :])


class TestForms:
    """What the trusted side relies on."""

    @pytest.mark.parametrize(
        ("how", "done"),
        [
            ("count_ops", {"value": 1, "ops": {"aten.mul": 2**4000}}),
            ("count_ops", {"value": 1, "ops": {"aten.mul": -1}}),
            ("count_ops", {"value": 1, "ops": {"aten.mul": True}}),
            ("count_ops", {"value": 1, "ops": {3: 1}}),
            ("on_meta", {"value": Meta("float64", (0, 2**62, 2**62))}),
            ("on_meta", {"value": [{"a": (Meta("float64", (2**62,)),)}]}),
            ("plain", {"value": 1, "changed": []}),
            ("plain", {"value": 1, "changed": {"argument 1": 3}}),
            ("plain", {"changed": {}}),
            ("vjp", {"value": 1, "args": [], "kwargs": {}, "parameters": {}}),
            ("vjp", {"value": 1, "args": [None], "kwargs": {"x": None}, "parameters": {}}),
            ("weights", {}),
            ("mode", 3),
        ],
    )
    def test_are_refused(self, how: str, done: Any) -> None:
        """Numbers that no call can come to, descriptions that nothing can have, parts that lack."""
        with pytest.raises(WireError):
            read(done, how)

    def test_of_true_replies_are_read(self) -> None:
        """A count, and a description of an empty tensor, as a worker gives them."""
        assert read({"value": 1, "ops": {"aten.mul": 10**6}}, "count_ops")["ops"] == {"aten.mul": 10**6}
        assert read({"value": Meta("float64", (0, 3))}, "on_meta")["value"] == Meta("float64", (0, 3))

"""What students read of an answer that cannot be sent: the sender's words, as the trusted side puts them."""

from __future__ import annotations

import math
import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
import torch

from softmark.sandbox import wire
from softmark.sandbox.failure_texts import no_plain_value
from softmark.sandbox.wire import Unsupported


class Own:
    def method(self) -> None:
        """Do nothing."""


class OwnTensor(torch.Tensor):
    """A subclass without anything of its own."""


class OwnFloat(float):
    """The same."""


async def asynchronous() -> AsyncIterator[int]:
    yield 1


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def quiet(make: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that these kinds of tensors are new, or old
        return make()


A_LIST, A_RESULT, PLAIN = "return a list", "return its result", "return numbers, lists, arrays or tensors"
KEYS = (
    "a dict with a key that is neither str, int or bytes nor a tuple of texts or bytes",
    "use str, int or bytes as keys, or tuples of texts or bytes",
)
NUMBERS = "an array of something else than numbers", "return an array of numbers"
VALUES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "generator": (lambda: (n for n in range(3)), "a generator", A_LIST),
    "iterator": (lambda: iter([]), "an iterator", A_LIST),
    "set": (lambda: {1}, "a set", A_LIST),
    "frozenset": (frozenset, "a frozenset", A_LIST),
    "range": (lambda: range(3), "a range", A_LIST),
    "keys": (lambda: {}.keys(), "a view of a dict", A_LIST),
    "values": (lambda: {}.values(), "a view of a dict", A_LIST),
    "async generator": (asynchronous, "an async generator", "define the function without async"),
    "function": (lambda: nested, "a function", A_RESULT),
    "built-in function": (lambda: len, "a built-in function", A_RESULT),
    "method": (lambda: Own().method, "a method", A_RESULT),
    "bytearray": (bytearray, "a bytearray", "return bytes"),
    "memoryview": (lambda: memoryview(b""), "a memoryview", "return bytes"),
    "module": (lambda: math, "a Python module", PLAIN),
    "class": (lambda: Own, "a class", "return an object of it, or a value"),
    "object": (Own, "an instance of a class of its own", PLAIN),
    "subclass of a tensor": (
        lambda: torch.ones(2).as_subclass(OwnTensor),
        "an instance of a subclass of torch.Tensor",
        "return the plain type",
    ),
    "subclass": (lambda: OwnFloat(1), "an instance of a subclass of another type", "return the plain type"),
    "nested tensor": (
        lambda: quiet(lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])),
        "a nested tensor",
        "return a list of tensors",
    ),
    "quantised": (
        lambda: quiet(lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.qint8)),
        "a quantised tensor",
        "return an ordinary tensor",
    ),
    "sparse": (
        lambda: torch.ones(2).to_sparse(),
        "a sparse tensor",
        "return a dense one, as .to_dense() gives it",
    ),
    "meta": (
        lambda: torch.ones(2, device="meta"),
        "a tensor on the meta device, which has no values",
        "create it with device=x.device",
    ),
    "dtype": (
        lambda: torch.ones(2).to(torch.float8_e4m3fn),
        "a tensor of a dtype that is not used here",
        "convert it to torch.float32",
    ),
    "array of objects": (lambda: np.array([None]), *NUMBERS),
    "array of text": (lambda: np.array(["a"]), *NUMBERS),
    "long int": (lambda: 2**5000, "an int of thousands of digits", "return a number of ordinary size"),
    "half a character": (lambda: "\ud800", "a str with half a character in it", "return a str of whole characters"),
    "key": (lambda: {1.5: 1}, *KEYS),
    "large key": (lambda: {2**64: 1}, *KEYS),
    "many items": (
        lambda: [0] * 100_001,
        "more than 100,000 items in lists and dicts",
        "return an array or a tensor",
    ),
    "long text": (lambda: "a" * (2**20 + 1), "more than can be compared", "return numbers, arrays or tensors"),
    "large array": (
        lambda: np.broadcast_to(np.zeros(1), (10**12,)),
        "far too many elements",
        "check the shape of what you create",
    ),
    "deep": (
        lambda: nested(30),
        "a value that contains a value nested too deeply",
        "return a tensor, or a list of tensors",
    ),
    "in a list": (lambda: [1, {2}], "a value that contains a set", A_LIST),
    "in a dict": (lambda: {"a": {2}}, "a value that contains a set", A_LIST),
    "of a list in a dict": (lambda: {7: ({2},)}, "a value that contains a set", A_LIST),
}


@pytest.mark.parametrize(("make", "kind", "instead"), VALUES.values(), ids=VALUES)
def test_is_named_with_what_to_return_instead(make: Callable[[], Any], kind: str, instead: str) -> None:
    """A student reads what kind of thing was returned, and what to return instead."""
    with pytest.raises(Unsupported) as refused:
        wire.pack(make())
    assert no_plain_value(str(refused.value)) == f"returned {kind}, not a plain value that can be compared: {instead}"


def test_coroutine() -> None:
    """An async function gives a coroutine."""

    async def one() -> int:
        return 1

    made = one()
    with pytest.raises(Unsupported) as refused:
        wire.pack(made)
    made.close()
    said = "returned a coroutine, not a plain value that can be compared: define the function without async"
    assert no_plain_value(str(refused.value)) == said

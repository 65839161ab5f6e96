"""The sender's half of the wire: walk one value of exact types and collect the parts of its frame."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from softmark.sandbox.wire import values as values
from softmark.sandbox.wire.values import MAX_AXES, Caps, Handle, Meta, Raised, Unsupported


def utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _short(key: object) -> str:
    return repr(key[:40] if isinstance(key, str | bytes) else key)[:100]


class Packer:
    """Walks one value and collects its tokens and their memory."""

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.tokens: list[values.Token] = []
        self.data: list[bytes | memoryview] = []
        self.data_bytes = 0
        self._items = 1
        self._arrays = 0
        self._text_left = caps.text_bytes

    def put(self, value: object, depth: int) -> None:
        """Append the value, which sits inside `depth` containers."""
        put = _EXACT.get(id(type(value)))
        if put is None:
            raise Unsupported(values.refusal(value))
        put(self, value, depth)

    def plain(self, value: bool | float | None, _depth: int) -> None:
        self.tokens.append(value)

    def integer(self, value: int, _depth: int) -> None:
        if -(2**63) <= value < 2**64:
            self.tokens.append(value)
            return
        bits = value.bit_length()
        if bits > self.caps.int_bits:
            raise Unsupported(f"an int of more than {self.caps.int_bits} bits cannot be sent")
        self._spend_text(bits // 8 + 1)
        self.tokens.append(values.IntToken(value.to_bytes(bits // 8 + 1, "big", signed=True)))

    def complex_number(self, value: complex, _depth: int) -> None:
        self.tokens.append(values.ComplexToken(value.real, value.imag))

    def text(self, value: str, _depth: int) -> None:
        size = len(value)
        # A text that has more characters than there are bytes left is not encoded: that might fill the memory.
        if size <= self._text_left and not value.isascii():
            try:
                size = utf8_size(value)
            except UnicodeEncodeError as error:
                raise Unsupported("a str with a lone surrogate (half a character) cannot be sent") from error
        self._spend_text(size)
        self.tokens.append(value)

    def raw(self, value: bytes, _depth: int) -> None:
        self._spend_data("bytes", (len(value),), 1)
        self.tokens.append(values.BytesToken(len(value)))
        self.data.append(value)

    def sequence(self, value: list[object] | tuple[object, ...], depth: int) -> None:
        name, token = ("list", values.ListToken) if type(value) is list else ("tuple", values.TupleToken)
        self._enter(len(value), depth)
        children = tuple(value)  # as they are now: another thread may change the list
        self.tokens.append(token(len(children)))
        for index, child in enumerate(children):
            try:
                self.put(child, depth + 1)
            except Unsupported as refused:
                refused.path.insert(0, f"item {index} of the {name}")
                raise

    def mapping(self, value: dict[object, object], depth: int) -> None:
        self._enter(2 * len(value), depth)
        pairs = list(value.items())
        self.tokens.append(values.DictToken(len(pairs)))
        for key, child in pairs:
            self._key(key, depth)
            try:
                self.put(child, depth + 1)
            except Unsupported as refused:
                refused.path.insert(0, f"key {_short(key)} of the dict")
                raise

    def _key(self, key: object, depth: int) -> None:
        if type(key) is str:
            self.text(key, depth)
        elif type(key) is bytes:
            self.raw(key, depth)
        elif type(key) is int and -(2**63) <= key < 2**64:
            self.tokens.append(key)
        elif type(key) is tuple and all(type(part) is str or type(part) is bytes for part in key):
            self.sequence(key, depth + 1)
        else:
            what = "an int beyond 64 bits" if type(key) is int else f"type {values.class_name(type(key))}"
            why = "; use str, int or bytes keys, or tuples of texts or bytes"
            raise Unsupported(f"a dict with a key of {what} cannot be sent{why}")

    def array(self, value: values.Array, _depth: int) -> None:
        self._count_array()
        name = values.numpy_name(value)
        self._spend_data("an array", value.shape, value.itemsize)
        self.tokens.append(values.ArrayToken(name, value.shape))
        self.data.append(values.numpy_memory(value))

    def scalar(self, value: np.generic, depth: int) -> None:
        self.array(np.asarray(value), depth)

    def tensor(self, value: torch.Tensor, _depth: int) -> None:
        self._count_array()
        name = values.torch_name(value)
        shape = tuple(value.shape)
        self._spend_data("a tensor", shape, values.CARRIERS[name].itemsize)
        self.tokens.append(values.TensorToken(name, shape, value.requires_grad))
        self.data.append(values.torch_memory(value))

    def described(self, value: Handle | Raised | Meta, _depth: int) -> None:
        if type(value) is Meta:
            self._count_array()
        self.tokens.append(values.cleaned(value))

    def _enter(self, count: int, depth: int) -> None:
        if depth >= self.caps.depth:
            raise Unsupported(f"a value nested too deeply (over {self.caps.depth} levels) cannot be sent")
        self._items += count
        if self._items > self.caps.items:
            raise Unsupported(f"more than {self.caps.items} items cannot be sent; return an array or tensor")

    def _count_array(self) -> None:
        self._arrays += 1
        if self._arrays > self.caps.arrays:
            raise Unsupported(f"more than {self.caps.arrays} arrays and tensors cannot be sent; return one of them all")

    def _spend_text(self, size: int) -> None:
        self._text_left -= size
        if self._text_left < 0:
            raise Unsupported(f"more than {self.caps.text_bytes} bytes of text cannot be sent")

    def _spend_data(self, what: str, shape: tuple[int, ...], itemsize: int) -> None:
        limit = self.caps.frame_bytes
        size = values.byte_count(shape, itemsize, limit)
        if size is None or size > limit - self.data_bytes or len(shape) > MAX_AXES:
            raise Unsupported(f"{what} of shape {shape} is too large and cannot be sent (over {limit} bytes)")
        self.data_bytes += size


# The types that can be sent. The keys are ids, because to look up a type would call `__hash__` and `__eq__` of its
# metaclass, which may be the student's. These types live as long as the process, so no other object gets their ids.
_EXACT: dict[int, Callable[[Packer, Any, int], None]] = {
    id(cls): put
    for put, classes in (
        (Packer.plain, (type(None), bool, float)),
        (Packer.integer, (int,)),
        (Packer.complex_number, (complex,)),
        (Packer.text, (str,)),
        (Packer.raw, (bytes,)),
        (Packer.sequence, (list, tuple, torch.Size)),
        (Packer.mapping, (dict,)),
        (Packer.array, (np.ndarray,)),
        (Packer.scalar, values.NUMPY_SCALARS),
        (Packer.tensor, (torch.Tensor, torch.nn.Parameter)),
        (Packer.described, (Handle, Raised, Meta)),
    )
    for cls in classes
}

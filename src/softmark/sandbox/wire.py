"""The wire: typed values between the trusted side and a worker that runs a student's code.

Read this page first; the code does what it says and nothing else. Classes and caps are in wire_values.py.

**Who talks.** Two processes of one machine, over a socket pair. One of them is the student: their code can
find the descriptor and write any bytes. So authenticity is not attempted; no verdict, weight or test name has
a place in the format; a forged frame is merely the student's answer. pack() turns a value into a frame,
unpack() a frame's body into a value. Requests and answers are both values; their meaning is not decided here.

**A frame, byte by byte.** Integers of the layout are unsigned, little-endian; data is in the machine's order.

    offset  size  what
    0       8     PREFIX: B, the size of the body. body_size() refuses B < 5 and B > caps.frame_bytes, so that
                  a receiver allocates nothing on the word of the sender
    8       4     H, the size of the header: at most caps.header_bytes, and 4 + H <= B
    12      H     the header: one msgpack array of tokens
    12 + H  rest  the data: memory of arrays, tensors and bytes in the order of their tokens, without padding

**The header** is the tree of values written flat, in preorder: a container is a token that holds a count,
and its children are the tokens that follow. Tokens do not nest, so the msgpack decoder does not recurse.

    nil, bool, int (64 bits), float (64 bits), str     the value itself
    ["int", bytes]                  a larger int: two's complement, big-endian, at most caps.int_bits bits
    ["complex", re, im]             a complex
    ["bytes", n]                    bytes: the next n bytes of data
    ["list", n], ["tuple", n]       n values follow
    ["dict", n]                     n times a key (int or str token, none twice) and a value follow, in order
    ["array", dtype, shape]         an ndarray: dtype of NUMPY_DTYPES, prod(shape) * itemsize bytes in C order
    ["tensor", dtype, shape, grad]  a tensor: dtype of TORCH_DTYPES; grad says whether it requires grad
    ["handle", …], ["raised", …], ["meta", …]          Handle, Raised and Meta, field by field

**Exact types only**: `type(x) is`. A subclass, a proxy or a lazy object is refused by name, because only the
memory of the base type is data; the rest is behaviour. Four lossless conversions: an nn.Parameter is sent as
the plain tensor it holds, an exact numpy scalar (np.float64, …) as a 0-d array, torch.Size as a tuple, an
array of foreign byte order in this machine's. Tensors arrive contiguous, on the CPU, as leaves; what
arrives owns its memory and may be written. Of bool data every byte but 0 is True.

**Caps** (class Caps) hold on both ends: bytes, depth, items, bytes of text, bits of an int. Sizes are
computed from shapes in Python's integers before memory is touched: to refuse an expanded tensor of 10^12
elements costs nothing. Ints beyond 64 bits cannot be dict keys: their hashes can be made to collide.

**How errors are told.** pack() raises Unsupported: a sentence naming the type and its place ("item 0" is the
first, as in Python). Text with a lone surrogate is refused too, because to replace it would change the
answer; text that only describes (Handle, Raised) is escaped and cut, so that an exception can always be told.
unpack() and body_size() raise WireError for whatever is not a frame, and nothing else whatever the bytes.

**Why no pickle:** it runs code of the sender's choice in the receiver. For the same reason no file format of
numpy or torch is read here, and a name that arrives is looked up in two dicts of dtypes and nowhere else.
"""

import struct
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import numpy as np
import torch

from softmark.sandbox import wire_values as values
from softmark.sandbox.wire_values import (
    CAPS,
    MAX_AXES,
    MAX_ITEMS,
    Caps,
    Frame,
    Handle,
    Meta,
    Raised,
    Unsupported,
    Value,
    WireError,
)

__all__ = [
    "CAPS", "PREFIX", "Caps", "Frame", "Handle", "Meta", "Raised", "Unsupported", "Value", "WireError",
    "body_size", "pack", "unpack",
]  # fmt: skip

_BODY, _HEADER = struct.Struct("<Q"), struct.Struct("<I")
PREFIX = _BODY.size


# msgspec checks max_length before it allocates: a header that announces 2^32 tokens costs nothing.
_decode = msgspec.msgpack.Decoder(Annotated[list[values.Token], msgspec.Meta(max_length=MAX_ITEMS)]).decode
_encode = msgspec.msgpack.Encoder().encode


def pack(value: object, caps: Caps = CAPS) -> bytes:
    """The whole frame of a value, prefix included; Unsupported if the value cannot be sent."""
    packer = _Packer(caps)
    packer.put(value, 0)
    header = _encode(packer.tokens)
    body = _HEADER.size + len(header) + packer.data_bytes
    if len(header) > caps.header_bytes or body > caps.frame_bytes:
        raise Unsupported(f"a value of {body} bytes cannot be sent; the limit is {caps.frame_bytes}")
    frame = b"".join((_BODY.pack(body), _HEADER.pack(len(header)), header, *packer.data))
    if len(frame) != PREFIX + body:
        raise Unsupported("an array cannot be sent while another thread changes its size")
    return frame


def body_size(prefix: bytes, caps: Caps = CAPS) -> int:
    """How many bytes follow a frame's first PREFIX bytes; WireError if no frame has that size."""
    if len(prefix) != PREFIX:
        raise WireError(f"a frame begins with {PREFIX} bytes, {len(prefix)} came")
    size: int = _BODY.unpack(prefix)[0]
    if not _HEADER.size < size <= caps.frame_bytes:
        raise WireError(f"a frame announces {size} bytes, allowed are 5 to {caps.frame_bytes}")
    return size


def unpack(body: bytes | bytearray | memoryview, caps: Caps = CAPS) -> Value:
    """The value in a frame's body (what follows the prefix); WireError for anything malformed."""
    view = memoryview(body)
    if not _HEADER.size < len(view) <= caps.frame_bytes:
        raise WireError(f"a body has {len(view)} bytes, allowed are 5 to {caps.frame_bytes}")
    size: int = _HEADER.unpack_from(view)[0]
    start = _HEADER.size + size
    if size > caps.header_bytes or start > len(view):
        raise WireError(f"a header announces {size} bytes in a body of {len(view)}")
    try:
        tokens = _decode(view[_HEADER.size : start])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WireError(f"a header is malformed: {str(error)[:200]}") from error
    if len(tokens) > caps.items:
        raise WireError(f"a header has {len(tokens)} items, allowed are {caps.items}")
    if size > caps.text_bytes and _text_size(tokens) > caps.text_bytes:  # a header holds all its text
        raise WireError(f"more than {caps.text_bytes} bytes of text")
    return _Unpacker(tokens, view[start:], caps).whole()


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _text_size(tokens: list[values.Token]) -> int:
    texts = sum(_utf8_size(token) for token in tokens if isinstance(token, str))
    return texts + sum(len(token.digits) for token in tokens if isinstance(token, values.IntToken))


class _Packer:
    """Walks one value and collects its tokens and the memory they speak of."""

    def __init__(self, caps: Caps) -> None:
        self.caps = caps
        self.tokens: list[values.Token] = []
        self.data: list[bytes | memoryview] = []
        self.data_bytes = 0
        self._items = 1
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
        # A text with more characters than bytes are left is not encoded first: it may fill the memory.
        if size <= self._text_left and not value.isascii():
            try:
                size = _utf8_size(value)
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
            if type(key) is str:
                self.text(key, depth)
            elif type(key) is int and -(2**63) <= key < 2**64:
                self.tokens.append(key)
            else:
                what = "an int beyond 64 bits" if type(key) is int else f"type {values.class_name(type(key))}"
                raise Unsupported(f"a dict with a key of {what} cannot be sent; use str or int keys")
            try:
                self.put(child, depth + 1)
            except Unsupported as refused:
                refused.path.insert(0, f"key {key[:40] if type(key) is str else key!r} of the dict")
                raise

    def array(self, value: values.Array, _depth: int) -> None:
        name = values.numpy_name(value)
        self._spend_data("an array", value.shape, value.itemsize)
        self.tokens.append(values.ArrayToken(name, value.shape))
        self.data.append(values.numpy_memory(value))

    def scalar(self, value: np.generic, depth: int) -> None:
        self.array(np.asarray(value), depth)

    def tensor(self, value: torch.Tensor, _depth: int) -> None:
        name = values.torch_name(value)
        shape = tuple(value.shape)
        self._spend_data("a tensor", shape, values.CARRIERS[name].itemsize)
        self.tokens.append(values.TensorToken(name, shape, value.requires_grad))
        self.data.append(values.torch_memory(value))

    def described(self, value: Handle | Raised | Meta, _depth: int) -> None:
        self.tokens.append(values.cleaned(value))

    def _enter(self, count: int, depth: int) -> None:
        if depth >= self.caps.depth:
            raise Unsupported(f"a value nested too deeply (over {self.caps.depth} levels) cannot be sent")
        self._items += count
        if self._items > self.caps.items:
            raise Unsupported(f"more than {self.caps.items} items cannot be sent; return an array or tensor")

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


# What can be sent. The keys are ids, because to look up a type would call `__hash__` and `__eq__` of its
# metaclass, which may be the student's. The types listed live as long as the process, so the ids are theirs.
_EXACT: dict[int, Callable[[_Packer, Any, int], None]] = {
    id(cls): put
    for put, classes in (
        (_Packer.plain, (type(None), bool, float)),
        (_Packer.integer, (int,)),
        (_Packer.complex_number, (complex,)),
        (_Packer.text, (str,)),
        (_Packer.raw, (bytes,)),
        (_Packer.sequence, (list, tuple, torch.Size)),
        (_Packer.mapping, (dict,)),
        (_Packer.array, (np.ndarray,)),
        (_Packer.scalar, values.NUMPY_SCALARS),
        (_Packer.tensor, (torch.Tensor, torch.nn.Parameter)),
        (_Packer.described, (Handle, Raised, Meta)),
    )
    for cls in classes
}

_END = object()
_THEMSELVES = frozenset((type(None), bool, int, float, str))


class _Unpacker:
    """Rebuilds one value from tokens and data, believing neither."""

    def __init__(self, tokens: list[values.Token], data: memoryview, caps: Caps) -> None:
        self._tokens = iter(tokens)
        self._data = data
        self._used = 0
        self._caps = caps

    def whole(self) -> Value:
        value = self._take(0)
        if next(self._tokens, _END) is not _END or self._used != len(self._data):
            raise WireError("something follows the value")
        return value

    def _take(self, depth: int) -> Value:
        token = next(self._tokens, _END)
        if type(token) in _THEMSELVES:
            return token  # type: ignore[return-value]
        if isinstance(token, values.TensorToken):
            return self._tensor(token)
        if isinstance(token, values.ListToken):
            return [self._take(depth + 1) for _ in self._children(token.count, depth)]
        if isinstance(token, values.TupleToken):
            return tuple([self._take(depth + 1) for _ in self._children(token.count, depth)])
        if isinstance(token, values.DictToken):
            return self._dict(token, depth)
        return self._leaf(token)

    def _leaf(self, token: object) -> Value:
        if isinstance(token, values.ArrayToken):
            return self._array(token)
        if isinstance(token, values.BytesToken):
            return bytes(self._claim((token.size,), 1))
        if isinstance(token, values.ComplexToken):
            return complex(token.re, token.im)
        if isinstance(token, values.IntToken):
            return self._integer(token)
        if isinstance(token, Meta) and token.dtype not in values.TORCH_DTYPES:
            raise WireError(f"a meta tensor of dtype {token.dtype[:40]!r}")
        if isinstance(token, (Handle, Raised, Meta)):
            return token
        raise WireError("values are missing")

    def _integer(self, token: values.IntToken) -> int:
        value = int.from_bytes(token.digits, "big", signed=True)
        if value.bit_length() > self._caps.int_bits:
            raise WireError(f"an int of {value.bit_length()} bits, allowed are {self._caps.int_bits}")
        return value

    def _dict(self, token: values.DictToken, depth: int) -> dict[str | int, Value]:
        result: dict[str | int, Value] = {}
        for _ in self._children(token.count, depth):
            key = next(self._tokens, _END)
            if type(key) is not str and type(key) is not int:
                raise WireError("a dict has a key that is neither str nor int")
            if key in result:
                raise WireError("a dict has a key twice")
            result[key] = self._take(depth + 1)
        return result

    def _array(self, token: values.ArrayToken) -> values.Array:
        dtype = values.NUMPY_DTYPES.get(token.dtype)
        if dtype is None:
            raise WireError(f"an array of dtype {token.dtype[:40]!r}")
        data = self._claim(token.shape, dtype.itemsize)
        return values.array_from(data, dtype, token.shape)

    def _tensor(self, token: values.TensorToken) -> torch.Tensor:
        dtype = values.TORCH_DTYPES.get(token.dtype)
        if dtype is None or (token.grad and not (dtype.is_floating_point or dtype.is_complex)):
            raise WireError(f"a tensor of dtype {token.dtype[:40]!r} with requires_grad={token.grad}")
        data = self._claim(token.shape, dtype.itemsize)
        return values.tensor_from(data, dtype, token.shape, token.grad)

    def _claim(self, shape: tuple[int, ...], itemsize: int) -> memoryview:
        """The data of an array of that shape; asked before anything is allocated for it."""
        start = self._used
        size = values.byte_count(shape, itemsize, self._caps.frame_bytes)
        if size is None or size > len(self._data) - start:
            raise WireError(f"shape {shape} announces more than the {len(self._data) - start} bytes left")
        self._used += size
        return self._data[start : self._used]

    def _children(self, count: int, depth: int) -> range:
        if depth >= self._caps.depth:
            raise WireError(f"values nested over {self._caps.depth} levels")
        return range(count)

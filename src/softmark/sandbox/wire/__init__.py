"""The wire: typed values between the trusted side and a worker that runs a student's code.

Read this page first; the code does what it says and nothing else. Classes and caps are in values.py, the
walk over a value in packer.py, its way back in unpacker.py.

**The two ends** are two processes of one machine, over a socket pair. One of them runs the student's code, which can
find the descriptor and write any bytes. So the format does not try to prove who wrote a frame, and has no place for a
verdict, a weight or a test's name: a forged frame is only another answer of the student's. pack() turns a value
into a frame, unpack() a frame's body into a value. Requests and replies are both values; protocol.py says what they
mean.

**A frame, byte by byte.** Integers of the layout are unsigned, little-endian; data is in the machine's order.

    offset  size  what
    0       8     PREFIX: B, the size of the body. body_size() refuses B < 5 and B > caps.frame_bytes, so that
                  the sender cannot make the receiver allocate more than that
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
    ["dict", n]                     n times a key (none twice) and a value follow, in order; a key is an int, a str,
                                    bytes, or a tuple that holds nothing but str and bytes
    ["array", dtype, shape]         an ndarray: dtype of NUMPY_DTYPES, prod(shape) * itemsize bytes in C order
    ["tensor", dtype, shape, grad]  a tensor: dtype of TORCH_DTYPES; grad says whether it requires grad
    ["handle", …], ["raised", …], ["meta", …]          Handle, Raised and Meta, field by field

**Exact types only**: `type(x) is`. A subclass, a proxy or a lazy object is refused by name, because only the
memory of the base type is data; the rest is behaviour. Four conversions lose nothing: an nn.Parameter is sent as
the plain tensor it holds, an exact numpy scalar (np.float64, …) as a 0-d array, torch.Size as a tuple, an
array of foreign byte order in this machine's. Tensors arrive contiguous, on the CPU, as leaves. Every array and
tensor that arrives owns its memory and may be written. In bool data every byte but 0 is True.

**Caps** (class Caps) hold on both ends: bytes, depth, items, arrays, bytes of text, bits of an int. Sizes are
computed from shapes in Python's integers before memory is touched: to refuse an expanded tensor of 10^12
elements costs nothing. An answer has narrower bounds: the trusted side derives them from the expected answer
(student_process.py), and reads no byte of a larger one. Ints beyond 64 bits, and tuples with numbers in them,
cannot be dict keys, because their hashes can be made to collide.

**Errors.** pack() raises Unsupported: a sentence naming the type and its place ("item 0" is the first, as in
Python). Text with a lone surrogate is refused too, because to replace it would change the answer; text that
only describes (Handle, Raised) is escaped and cut, so that every exception can be sent. unpack() and body_size()
raise WireError for any bytes that are not a frame, and no other exception.

**Why no pickle:** it runs code of the sender's choice in the receiver. For the same reason no file format of
numpy or torch is read here, and a name that arrives is looked up in two dicts of dtypes and nowhere else.
"""

import struct
from typing import Annotated

import msgspec

from softmark.sandbox.wire import values as values
from softmark.sandbox.wire.packer import Packer, utf8_size
from softmark.sandbox.wire.unpacker import Unpacker
from softmark.sandbox.wire.values import (
    CAPS,
    MAX_ITEMS,
    Caps,
    Frame,
    Handle,
    Meta,
    Raised,
    TooMany,
    Unsupported,
    Value,
    WireError,
)

__all__ = [
    "CAPS", "PREFIX", "Caps", "Frame", "Handle", "Meta", "Raised", "TooMany", "Unsupported", "Value",
    "WireError", "body_size", "pack", "unpack",
]  # fmt: skip

_BODY, _HEADER = struct.Struct("<Q"), struct.Struct("<I")
PREFIX = _BODY.size


# msgspec checks max_length before it allocates: a header that announces 2^32 tokens costs nothing.
_decode = msgspec.msgpack.Decoder(Annotated[list[values.Token], msgspec.Meta(max_length=MAX_ITEMS)]).decode
_encode = msgspec.msgpack.Encoder().encode
_ARRAYS = (values.ArrayToken, values.TensorToken, Meta)


def pack(value: object, caps: Caps = CAPS) -> bytes:
    """Return the whole frame of a value, prefix included; raise Unsupported if the value cannot be sent."""
    packer = Packer(caps)
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
    """Return how many bytes follow a frame's first PREFIX bytes; raise WireError if no frame has that size."""
    if len(prefix) != PREFIX:
        raise WireError(f"a frame begins with {PREFIX} bytes, {len(prefix)} came")
    size: int = _BODY.unpack(prefix)[0]
    if not _HEADER.size < size <= caps.frame_bytes:
        raise WireError(f"a frame announces {size} bytes, allowed are 5 to {caps.frame_bytes}")
    return size


def unpack(body: bytes | bytearray | memoryview, caps: Caps = CAPS) -> Value:
    """Return the value in a frame's body (what follows the prefix); raise WireError if it is malformed."""
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
    if len(tokens) > caps.arrays and (arrays := sum(isinstance(token, _ARRAYS) for token in tokens)) > caps.arrays:
        raise TooMany(arrays, caps.arrays)
    if size > caps.text_bytes and _text_size(tokens) > caps.text_bytes:  # a header holds all its text
        raise WireError(f"more than {caps.text_bytes} bytes of text")
    return Unpacker(tokens, view[start:], caps).whole()


def _text_size(tokens: list[values.Token]) -> int:
    texts = sum(utf8_size(token) for token in tokens if isinstance(token, str))
    return texts + sum(len(token.digits) for token in tokens if isinstance(token, values.IntToken))

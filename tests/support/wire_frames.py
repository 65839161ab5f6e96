"""Makes frames of the wire, good and bad."""

import struct
import tracemalloc
from typing import Any

import msgspec
import pytest

from softmark.sandbox import wire
from softmark.sandbox.wire import Caps, WireError


def sent(value: object, caps: Caps = wire.CAPS) -> Any:
    """Return the value as the other end gets it."""
    frame = wire.pack(value, caps)
    assert type(frame) is bytes
    body = frame[wire.PREFIX :]
    assert wire.body_size(frame[: wire.PREFIX], caps) == len(body)
    return wire.unpack(body, caps)


def body_of(header: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<I", len(header)) + header + data


def body_with(*tokens: object, data: bytes = b"") -> bytes:
    return body_of(msgspec.msgpack.encode(tokens), data)


def peak_of(body: bytes) -> int:
    """Return the most memory that unpack() held at once for a body that is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            wire.unpack(body)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

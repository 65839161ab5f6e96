"""The wire against bytes that lie to unpack()."""

import random
import struct
import time
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softmark.sandbox import wire
from softmark.sandbox.wire import Caps, Frame, Handle, Meta, Raised, WireError
from softmark.sandbox.wire import values as wire_values
from tests.support.wire_frames import body_of, body_with, peak_of


def outcome(body: bytes, caps: Caps = wire.CAPS) -> bool:
    """Whether the body is a value; if so it must be one that could have been sent. Only WireError may escape."""
    try:
        value = wire.unpack(body, caps)
    except WireError:
        return False
    wire.pack(value, caps)
    return True


@pytest.fixture
def asked_of_torch(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes asked of torch, allocation by allocation (tracemalloc sees those of Python, msgspec and numpy)."""
    asked: list[int] = []
    empty = torch.empty

    def counted(shape: tuple[int, ...], *, dtype: torch.dtype, device: str) -> torch.Tensor:
        size = dtype.itemsize
        for axis in shape:
            size *= axis
        asked.append(size)
        return empty(shape, dtype=dtype, device=device)

    monkeypatch.setattr(torch, "empty", counted)
    return asked


class TestPrefix:
    """The first bytes of a frame decide what is allocated, so they are not believed."""

    @pytest.mark.parametrize(
        "prefix",
        [
            struct.pack("<Q", 2**63),
            struct.pack("<Q", 2**64 - 1),
            struct.pack("<q", -1),
            struct.pack("<q", -(2**63)),
            struct.pack("<Q", wire.CAPS.frame_bytes + 1),
            struct.pack("<Q", 0),
            struct.pack("<Q", 4),
            b"",
            b"\x05" + b"\0" * 6,
            b"\x05" + b"\0" * 8,
        ],
    )
    def test_refused(self, prefix: bytes) -> None:
        """Sizes beyond the cap, negative, empty or of the wrong width are refused."""
        with pytest.raises(WireError):
            wire.body_size(prefix)

    @settings(derandomize=True, deadline=None)
    @given(st.binary(min_size=8, max_size=8))
    def test_any(self, prefix: bytes) -> None:
        """Any eight bytes are a size within the cap or a WireError."""
        try:
            assert 5 <= wire.body_size(prefix) <= wire.CAPS.frame_bytes
        except WireError:
            assert not 5 <= int.from_bytes(prefix, "little") <= wire.CAPS.frame_bytes


class TestMalformed:
    """Each lie that a frame can tell is refused, whatever it announces, before memory is spent on it."""

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"\0\0\0\0",
            body_of(b""),
            struct.pack("<I", 2**32 - 1) + b"\x91\xc0",
            struct.pack("<I", 3) + b"\x91\xc0",
            body_of(b"\x91\xc0", b"x"),
            body_of(b"\x91\xc0\xc0"),
            body_of(b"\x91" * 100_000),
            body_of(b"\x91\x92\xa4list" + b"\x91" * 100_000),
            body_of(b"\x81\x01\x02"),
            body_of(b"\xc0"),
            body_of(b"\xc1"),
            body_of(b"\x91\xd4\x01\x02"),
            body_of(b"\x91\xc4\x01\x02"),
            body_of(b"\x91\xa2\xff\xff"),
            body_of(b"\x91\xa3\xed\xa0\x80"),
            body_of(b"\xdd\xff\xff\xff\xff\xc0"),
            body_of(b"\x91\xdb\xff\xff\xff\xff"),
            body_of(b"\x91\xc6\xff\xff\xff\xff"),
            body_of(b"\x91\x92\xa3int\xc6\xff\xff\xff\xff"),
            body_of(b"\x91\x93\xa5array\xa7float64\xdd\xff\xff\xff\xff"),
            body_with(),
            body_with(1, 2),
            body_with(["list", 2**63 - 1]),
            body_with(["tuple", 2**64 - 1]),
            body_with(["tuple", -1]),
            body_with(["list", 2], 1),
            body_with(*[["list", 1]] * 99_999, 1),
            body_with(*[["dict", 1], 1] * 40_000, 1),
            body_with(["dict", 2], 1, 1, 1, 2),
            body_with(["dict", 2], "a", 1, "a", 2),
            body_with(["dict", 1], True, 1),
            body_with(["dict", 1], None, 1),
            body_with(["dict", 1], ["tuple", 1], ["tuple", 0], 1),
            body_with(["dict", 1], ["tuple", 3], "a"),
            body_with(["dict", 1], ["bytes", 9], 1),
            body_with(["dict", 1], 1.5, 1),
            body_with(["dict", 1], ["int", b"\x01" * 9], 1),
            body_with(["dict", 1], "a"),
            body_with(["dict", 1]),
            body_with(["int", b"\x7f" * 514]),
            body_with(["complex", 1.0]),
            body_with(["complex", 1.0, "x"]),
            body_with(["bytes", 5], data=b"xxxx"),
            body_with(["bytes", 3], data=b"xxxx"),
            body_with(["bytes", 2**62], data=b"xxxx"),
            body_with(["bytes", -1], data=b"xxxx"),
            body_with(["array", "object", [1]], data=b"\0" * 8),
            body_with(["array", "O", [1]], data=b"\0" * 8),
            body_with(["array", "float128", [1]], data=b"\0" * 16),
            body_with(["array", "bfloat16", [1]], data=b"\0" * 2),
            body_with(["array", "float64", [10**11]], data=b"\0" * 8),
            body_with(["array", "float64", [-1, -1]], data=b"\0" * 8),
            body_with(["array", "float64", [2**32, 2**32]], data=b""),
            body_with(["array", "float64", [2**62, 4]], data=b""),
            body_with(["array", "float64", [0, 2**62]]),
            body_with(["array", "float64", [1] * 33], data=b"\0" * 8),
            body_with(["array", "float64", [1.0]], data=b"\0" * 8),
            body_with(["array", "float64", [True]], data=b"\0" * 8),
            body_with(["array", "float64", 1], data=b"\0" * 8),
            body_with(["array", "float64", [2]], data=b"\0" * 8),
            body_with(["array", "float64", [1]], data=b"\0" * 16),
            body_with(["tensor", "uint16", [1], False], data=b"\0" * 2),
            body_with(["tensor", "quint8", [1], False], data=b"\0"),
            body_with(["tensor", "float32", [10**11], False], data=b"\0" * 4),
            body_with(["tensor", "float32", [0, 2**62], False]),
            body_with(["tensor", "int64", [1], True], data=b"\0" * 8),
            body_with(["tensor", "bool", [1], True], data=b"\0"),
            body_with(["tensor", "float32", [1], 1], data=b"\0" * 4),
            body_with(["tensor", "float32", [1]], data=b"\0" * 4),
            body_with(["tensor", "float32", [1], False, 0], data=b"\0" * 4),
            body_with(["handle", -1, "x", True]),
            body_with(["handle", 2**63, "x", True]),
            body_with(["handle", 1, "x" * 513, True]),
            body_with(["raised", "E", "x" * 2049, [], []]),
            body_with(["raised", "E", "m", [["f", 1, "g"]], []]),
            body_with(["raised", "E", "m", [["f", -1, "g", "t"]], []]),
            body_with(["raised", "E", "m", [["f", 1, "g", "t"]] * 33, []]),
            body_with(["handle", 1, "x", True, 0]),
            body_with(["raised", "E", "m", [], [], 0]),
            body_with(["raised", "E", "m", [["f", 1, "g", "t", 0]], []]),
            body_with(["meta", "float32", [1], 0]),
            body_with(["meta", "float8_e5m2", [1]]),
            body_with(["meta", "float32", [-1]]),
            body_with(["meta", "float32", [2**63]]),
            body_with(["verdict", "passed"]),
            body_with([]),
            body_with([1, 2]),
        ],
        ids=lambda body: repr(body[:60]),
    )
    def test_refused(self, body: bytes, asked_of_torch: list[int]) -> None:
        """The body is refused, having cost no more than a few times its own size."""
        assert peak_of(body) < 2**18 + 40 * len(body)
        assert sum(asked_of_torch) <= len(body)

    @pytest.mark.parametrize(
        "tokens",
        [
            [["tensor", "float32", [0], False]] * 10**6,
            [["array", "int8", [0]]] * 10**6,
            [["list", 0]] * 10**6,
            [None] * 10**6,
        ],
    )
    def test_a_million_empty_items(self, tokens: list[object], asked_of_torch: list[int]) -> None:
        """A million items of no size are refused by their number, before the first is made."""
        body = body_with(["list", 10**6], *tokens)
        assert peak_of(body) < 2**20
        assert asked_of_torch == []

    def test_header_bomb(self) -> None:
        """The header that unfolds most grows thirtyfold at worst, which is below what one frame may hold."""
        frames = [["ā", 300, "ā", "ā"]] * wire_values.MAX_FRAMES  # 13 bytes of msgpack, 320 of Python
        raised = msgspec.msgpack.encode(["raised", "", "", frames, []])
        assert outcome(body_with(["list", 1], ["raised", "", "", frames, []]))
        header = b"\xdd" + struct.pack(">I", 1000) + raised * 1000
        assert 10 * len(header) < peak_of(body_of(header)) < 30 * len(header)
        assert 30 * wire.CAPS.header_bytes < wire.CAPS.frame_bytes

    def test_time(self) -> None:
        """The most items a frame can hold are rebuilt in bounded time, hostile keys included."""
        started = time.process_time()
        for low in (2**61 - 1, 2**17, 2**32, 2**45):  # ints that share a hash, or the low bits of one
            keys = [low * n % 2**64 for n in range(40_000)]
            outcome(body_with(["dict", len(set(keys))], *(part for key in set(keys) for part in (key, None))))
        empty = [["tensor", "float32", [0], False]] * 20_000
        assert outcome(body_with(["list", len(empty)], *empty))
        assert time.process_time() - started < 10


RICH = wire.pack(
    (
        "call",
        {"q": torch.arange(6.0).reshape(2, 3).requires_grad_(), 7: [None, True, -1, 2**70, 1.5, 1j]},
        np.arange(4, dtype=">i2"),
        torch.ones(3, dtype=torch.bfloat16),
        torch.tensor([True, False]),
        b"bytes",
        "té",
        [np.zeros((0, 3)), torch.zeros(())],
        Handle(3, "Linear", True),
        Raised("ValueError", "no", (Frame("a.py", 3, "f", "x = 1"),), ("note",), "ValueError"),
        Meta("float32", (2, 3)),
    )
)[wire.PREFIX :]


def mutations(body: bytes, number: int) -> Iterator[bytes]:
    """Bodies that differ from a valid one in a few bytes: changed, removed, doubled or moved."""
    chance = random.Random(0)
    for _ in range(number):
        mutant = bytearray(body)
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            at = chance.randrange(len(mutant))
            match chance.randrange(5):
                case 0:
                    mutant[at] = chance.randrange(256)
                case 1:
                    mutant[at] ^= 1 << chance.randrange(8)
                case 2:
                    del mutant[at : at + chance.randrange(1, 4)]
                case 3:
                    mutant[at:at] = mutant[at : at + chance.randrange(1, 9)]
                case 4:
                    mutant[at : at + 8] = chance.choice((b"\xff" * 8, b"\0" * 8, struct.pack("<Q", 2**63)))
            if not mutant:
                mutant = bytearray(b"\0")
        yield bytes(mutant)


tags = st.sampled_from(
    ["int", "complex", "bytes", "list", "tuple", "dict", "array", "tensor", "handle", "raised", "meta", "x"]
)
names = st.sampled_from([*wire_values.TORCH_DTYPES, "uint16", "object", "O", "", "x"])
counts = st.one_of(st.integers(0, 3), st.sampled_from([-1, 4, 255, 2**31, 2**63 - 1, 2**63, 2**64 - 1]))
scalars = st.one_of(
    st.none(), st.booleans(), counts, st.floats(), st.sampled_from(["", "a", "é"]), st.binary(max_size=9)
)
tokens = st.one_of(
    scalars,
    st.tuples(st.sampled_from(["list", "tuple", "dict", "bytes"]), counts),
    st.tuples(st.just("array"), names, st.lists(counts, max_size=3)),
    st.tuples(st.just("tensor"), names, st.lists(counts, max_size=3), st.booleans()),
    st.lists(st.one_of(tags, scalars, st.lists(scalars, max_size=3)), max_size=6),
)


class TestFuzz:
    """Whatever the bytes, they are a value that could have been sent, or a WireError."""

    def test_the_valid_one(self) -> None:
        """The frame that the others are made from is a value, and means itself."""
        assert wire.pack(wire.unpack(RICH))[wire.PREFIX :] == RICH

    def test_truncated(self) -> None:
        """A valid body cut anywhere, or continued by anything, is refused."""
        for size in range(len(RICH)):
            assert not outcome(RICH[:size])
        assert not outcome(RICH + b"\0")

    def test_mutated(self, asked_of_torch: list[int]) -> None:
        """Ten thousand bodies that are nearly valid: some are values, none does anything else than be refused."""
        verdicts = [outcome(mutant) for mutant in mutations(RICH, 10_000)]
        assert 100 < sum(verdicts) < 9_900
        assert max(asked_of_torch) <= 2 * len(RICH)

    def test_random(self) -> None:
        """Random bytes, behind a plausible length of the header or not."""
        chance = random.Random(1)
        for _ in range(10_000):
            noise = chance.randbytes(chance.randrange(60))
            outcome(noise)
            outcome(body_of(noise))
            outcome(body_of(b"\x91" + noise, noise))

    @settings(derandomize=True, deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(tokens, max_size=8), st.binary(max_size=24), st.sampled_from([wire.CAPS, Caps(depth=2, items=5)]))
    def test_tokens(self, items: list[object], data: bytes, caps: Caps) -> None:
        """Headers of well-formed msgpack whose tokens are half right."""
        outcome(body_with(*items, data=data), caps)

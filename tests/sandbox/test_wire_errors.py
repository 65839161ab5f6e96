"""What staff read about bytes that are no frame: which part is wrong, and what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from softmark.sandbox import wire
from softmark.sandbox.wire import Caps, TooMany, WireError
from tests.support.wire_frames import body_of, body_with

SMALL = Caps(frame_bytes=1000, depth=3, items=10, arrays=2, text_bytes=20, int_bits=64)
A_TENSOR = ["tensor", "float32", [1], False]
MALFORMED: dict[str, tuple[Callable[[], object], str]] = {
    "a short prefix": (lambda: wire.body_size(b"1234567", SMALL), "a frame begins with 8 bytes, 7 came"),
    "a frame of nothing": (
        lambda: wire.body_size((4).to_bytes(8, "little"), SMALL),
        "a frame announces 4 bytes, allowed are 5 to 1000",
    ),
    "a large frame": (
        lambda: wire.body_size((1001).to_bytes(8, "little"), SMALL),
        "a frame announces 1001 bytes, allowed are 5 to 1000",
    ),
    "a body of nothing": (lambda: wire.unpack(b"1234", SMALL), "a body has 4 bytes, allowed are 5 to 1000"),
    "a large body": (lambda: wire.unpack(b"x" * 1001, SMALL), "a body has 1001 bytes, allowed are 5 to 1000"),
    "a header longer than its body": (
        lambda: wire.unpack((6).to_bytes(4, "little") + b"12345", SMALL),
        "a header announces 6 bytes in a body of 9",
    ),
    "many items": (lambda: wire.unpack(body_with(*range(11)), SMALL), "a header has 11 items, allowed are 10"),
    "many arrays": (
        lambda: wire.unpack(body_with(["list", 3], *[A_TENSOR] * 3, data=b"\0" * 12), SMALL),
        "a frame has 3 arrays and tensors, allowed are 2",
    ),
    "much text": (lambda: wire.unpack(body_with("é" * 11), SMALL), "more than 20 bytes of text"),
    "two values": (lambda: wire.unpack(body_with(1, 2), SMALL), "something follows the value"),
    "data behind the value": (lambda: wire.unpack(body_with(1, data=b"x"), SMALL), "something follows the value"),
    "no value": (lambda: wire.unpack(body_with(), SMALL), "values are missing"),
    "a list that ends early": (lambda: wire.unpack(body_with(["list", 2], 1), SMALL), "values are missing"),
    "a long int": (
        lambda: wire.unpack(body_with(["int", b"\1" + b"\0" * 8]), SMALL),
        "an int of 65 bits, allowed are 64",
    ),
    "a key of another type": (
        lambda: wire.unpack(body_with(["dict", 1], True, 1), SMALL),
        "a dict has a key that is no str, int or bytes, and no tuple",
    ),
    "a tuple of numbers as a key": (
        lambda: wire.unpack(body_with(["dict", 1], ["tuple", 1], 1, 1), SMALL),
        "a dict has a tuple as a key that holds more than texts and bytes",
    ),
    "a pair of texts as a key twice": (
        lambda: wire.unpack(body_with(["dict", 2], *[["tuple", 2], "a", "b", 1] * 2), SMALL),
        "a dict has a key twice",
    ),
    "a key twice": (lambda: wire.unpack(body_with(["dict", 2], "a", 1, "a", 2), SMALL), "a dict has a key twice"),
    "an array of objects": (
        lambda: wire.unpack(body_with(["array", "object" + "x" * 99, [1]]), SMALL),
        f"an array of dtype {'object' + 'x' * 34!r}",
    ),
    "a tensor of another dtype": (
        lambda: wire.unpack(body_with(["tensor", "quint8" + "x" * 99, [1], True]), SMALL),
        f"a tensor of dtype {'quint8' + 'x' * 34!r} with requires_grad=True",
    ),
    "a gradient of whole numbers": (
        lambda: wire.unpack(body_with(["tensor", "int64", [1], True], data=b"\0" * 8), SMALL),
        "a tensor of dtype 'int64' with requires_grad=True",
    ),
    "a meta tensor of another dtype": (
        lambda: wire.unpack(body_with(["meta", "quint8" + "x" * 99, [1]]), SMALL),
        f"a meta tensor of dtype {'quint8' + 'x' * 34!r}",
    ),
    "less data than announced": (
        lambda: wire.unpack(body_with(["tuple", 2], ["bytes", 2], ["array", "int16", [3]], data=b"1234567"), SMALL),
        "shape (3,) announces more than the 5 bytes left",
    ),
    "deep": (
        lambda: wire.unpack(body_with(*[["list", 1]] * 4, 1), SMALL),
        "values nested over 3 levels",
    ),
}


@pytest.mark.parametrize(("read", "says"), MALFORMED.values(), ids=MALFORMED)
def test_says_what_is_wrong(read: Callable[[], object], says: str) -> None:
    """One sentence; nothing of what arrived is repeated at length."""
    with pytest.raises(WireError) as error:
        read()
    assert str(error.value) == says


def test_no_header() -> None:
    """What msgpack cannot read is told in its words, cut."""
    with pytest.raises(WireError, match=r"^a header is malformed: .{1,200}$"):
        wire.unpack(body_of(b"\xc1\xc1"), SMALL)


def test_number_of_arrays() -> None:
    """The number is there for the sentence that a student reads."""
    with pytest.raises(TooMany) as error:
        wire.unpack(body_with(["list", 4], *[A_TENSOR] * 4, data=b"\0" * 16), SMALL)
    assert error.value.count == 4


@pytest.mark.parametrize("count", [1, 2])
def test_what_just_fits(count: int) -> None:
    """The bounds themselves are allowed: items, arrays, text, depth and bits."""
    assert wire.unpack(body_with(["list", 9], *range(9)), SMALL) == list(range(9))
    assert wire.unpack(body_with("é" * 10), SMALL) == "é" * 10
    assert wire.unpack(body_with(*[["list", 1]] * 3, 1), SMALL) == [[[1]]]
    assert wire.unpack(body_with(["int", b"\0" + b"\xff" * 8]), SMALL) == 2**64 - 1
    arrays = wire.unpack(body_with(["list", count], *[A_TENSOR] * count, data=b"\0" * 4 * count), SMALL)
    assert isinstance(arrays, list)
    assert len(arrays) == count

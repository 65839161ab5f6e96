"""The wire against objects that lie to pack(), and against values that are too much."""

from typing import Any

import numpy as np
import pytest
import torch

from softmark.sandbox import wire
from softmark.sandbox.wire import Caps, Handle, Meta, Raised, Unsupported, WireError
from softmark.sandbox.wire import packer as wire_packer
from softmark.sandbox.wire import values as wire_values
from tests.support.wire_frames import body_with, peak_of


class Meddler(type):
    """A metaclass that would like to be asked."""

    def __hash__(cls) -> int:
        raise AssertionError("a student's metaclass was hashed")

    def __eq__(cls, other: object) -> bool:
        raise AssertionError("a student's metaclass was compared")

    def __instancecheck__(cls, value: object) -> bool:
        raise AssertionError("a student's metaclass was asked")

    def __getattribute__(cls, name: str) -> Any:
        raise AssertionError(f"a student's class was asked for {name}")


def refuse(*_: object, **__: object) -> Any:
    raise AssertionError("a student's method was called")


METHODS = (
    "__getattribute__", "__eq__", "__hash__", "__len__", "__iter__", "__getitem__", "__float__", "__int__",
    "__index__", "__bool__", "__repr__", "__str__", "__format__", "__array__", "__array_interface__",
    "__torch_function__", "__instancecheck__", "__reduce__", "__buffer__", "items", "keys", "numpy", "tobytes",
)  # fmt: skip


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


class TestNoStudentCode:
    """pack() runs no method of an object it was given."""

    @pytest.mark.parametrize(
        "base", [object, float, int, str, bytes, list, tuple, dict, set, torch.Tensor, np.ndarray, np.float64]
    )
    def test_overridden_methods(self, base: Any) -> None:
        """An object with every method overridden, metaclass included, is refused without one call."""
        value = base.__new__(base, *([(2,)] if base is np.ndarray else []))
        if base in (torch.Tensor, np.ndarray):
            plain = type("Plain", (base,), {})
            value = value.as_subclass(plain) if base is torch.Tensor else value.view(plain)
        else:
            plain = type("Plain", (base,), {})
            value = plain()
        for method in METHODS:
            type.__setattr__(plain, method, refuse)
        with pytest.raises(Unsupported):
            wire.pack([value])
        with pytest.raises(Unsupported):
            wire.pack({"key": value})

    def test_metaclass(self) -> None:
        """A metaclass is not asked for a hash, a comparison or a name."""
        value = type.__call__(Meddler("Proxy", (float,), {}), 1.0)
        with pytest.raises(Unsupported, match="Proxy, a subclass of float, cannot be sent"):
            wire.pack((value,))
        with pytest.raises(Unsupported, match="a dict with a key of type Proxy cannot be sent"):
            wire.pack({value: 1})

    def test_name_that_is_no_plain_text(self) -> None:
        """A class whose name is an object of a str subclass is named by the text in it."""
        cls = type("Cls", (), {})
        cls.__name__ = type("Name", (str,), dict.fromkeys(METHODS, refuse))("Shown")
        with pytest.raises(Unsupported, match="an object of class Shown cannot be sent"):
            wire.pack(cls())

    def test_planted_attributes(self) -> None:
        """Attributes planted on an exact tensor are not called."""
        value = torch.ones(2)
        for method in ("numpy", "detach", "cpu", "contiguous", "resolve_conj", "resolve_neg", "view", "numel"):
            setattr(value, method, refuse)
        assert wire.pack(value) == wire.pack(torch.ones(2))

    @pytest.mark.parametrize(
        "forged",
        [
            Handle(-1, "x", True),
            Handle(2**70, "x", True),
            Handle(True, "x", True),
            Handle(1, b"x", True),
            Handle(1, "x", 1),
            Meta("float8_e5m2", (1,)),
            Meta("float32", (-1,)),
            Meta("float32", (1,) * 33),
            Meta("float32", [1]),
            Meta("float32", (2**63,)),
            Raised("E", "m", [1]),
            Raised("E", "m", (1,)),
            Raised("E", b"m"),
            Raised("E", type("Text", (str,), {})("m")),
            Raised("E", "m", (), (1,)),
        ],
        ids=repr,
    )
    def test_forged_descriptions(self, forged: object) -> None:
        """Handles and the like that a student built with odd fields are refused."""
        with pytest.raises(Unsupported):
            wire.pack(forged)


class TestCaps:
    """Each cap is kept by the sender, and by a receiver whose sender does not keep it."""

    @pytest.mark.parametrize(
        ("value", "caps", "said", "heard"),
        [
            ([[[]]], Caps(depth=2), "nested too deeply", "nested over 2 levels"),
            ({"a": ({},)}, Caps(depth=2), "nested too deeply", "nested over 2 levels"),
            ([1, 2, 3], Caps(items=3), "more than 3 items", "has 4 items"),
            ({1: 2, 3: 4}, Caps(items=4), "more than 4 items", "has 5 items"),
            ([[1], [2]], Caps(items=4), "more than 4 items", "has 5 items"),
            ([torch.ones(1)] * 3, Caps(arrays=2), "more than 2 arrays", "has 3 arrays and tensors"),
            ([np.ones(1), Meta("float32", ())], Caps(arrays=1), "more than 1 arrays", "has 2 arrays and tensors"),
            ("éé", Caps(text_bytes=3), "more than 3 bytes of text", "more than 3 bytes of text"),
            (["ab", {"cd": 1}], Caps(text_bytes=3), "more than 3 bytes of text", "more than 3 bytes of text"),
            (2**100, Caps(text_bytes=3), "more than 3 bytes of text", "more than 3 bytes of text"),
            (2**99, Caps(int_bits=99), "an int of more than 99 bits", "an int of 100 bits"),
            (np.zeros(100), Caps(frame_bytes=500), "too large", "a body has"),
            ([b"x" * 300] * 2, Caps(frame_bytes=500), "too large", "a body has"),
            (["x" * 300] * 2, Caps(frame_bytes=500), "the limit is 500", "a body has"),
        ],
    )
    def test_both_ends(self, value: object, caps: Caps, said: str, heard: str) -> None:
        """The sender refuses what is over a cap, and the receiver too."""
        with pytest.raises(Unsupported, match=said):
            wire.pack(value, caps)
        body = wire.pack(value)[wire.PREFIX :]
        with pytest.raises(WireError, match=heard):
            wire.unpack(body, caps)

    @pytest.mark.parametrize(
        ("value", "caps"),
        [
            ([[]], Caps(depth=2)),
            ([1, 2], Caps(items=3)),
            ({1: 2}, Caps(items=3)),
            ("é", Caps(text_bytes=2)),
            (2**99 - 1, Caps(int_bits=99)),
        ],
    )
    def test_at_the_cap(self, value: object, caps: Caps) -> None:
        """What just fits is sent."""
        frame = wire.pack(value, caps)
        assert wire.pack(wire.unpack(frame[wire.PREFIX :], caps)) == frame

    def test_frame_at_the_cap(self) -> None:
        """A body of exactly the cap is sent, one byte more is not."""
        size = len(wire.pack(b"x" * 100)) - wire.PREFIX
        frame = wire.pack(b"x" * 100, Caps(frame_bytes=size))
        assert wire.body_size(frame[: wire.PREFIX], Caps(frame_bytes=size)) == size
        assert wire.unpack(frame[wire.PREFIX :], Caps(frame_bytes=size)) == b"x" * 100
        with pytest.raises(Unsupported, match="cannot be sent"):
            wire.pack(b"x" * 100, Caps(frame_bytes=size - 1))
        with pytest.raises(WireError):
            wire.body_size(frame[: wire.PREFIX], Caps(frame_bytes=size - 1))

    def test_depth_twenty(self) -> None:
        """Twenty levels are sent, twenty-one are not."""
        assert wire.unpack(wire.pack(nested(20))[wire.PREFIX :]) == nested(20)
        with pytest.raises(Unsupported, match="nested too deeply"):
            wire.pack(nested(21))

    def test_deep_and_cyclic(self) -> None:
        """A list 200 000 deep and structures that contain themselves are refused, never a RecursionError."""
        itself: list[object] = []
        itself.append(itself)
        loop: dict[str, object] = {}
        loop["a"] = ([loop],)
        for value in (itself, loop, nested(200_000)):
            with pytest.raises(Unsupported, match="nested too deeply"):
                wire.pack(value)

    def test_doubling(self) -> None:
        """A small structure whose unfolding has 2^20 leaves is stopped by the number of items."""
        value: object = 1
        for _ in range(19):
            value = (value, value)
        with pytest.raises(Unsupported, match="more than 100000 items"):
            wire.pack(value)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: torch.ones(1).expand(10**6, 10**6),
            lambda: torch.ones(1, dtype=torch.bfloat16).expand(10**6, 10**6),
            lambda: torch.ones(1, dtype=torch.complex64).conj().expand(10**6, 10**6),
            lambda: torch.empty(0, 2**62),
            lambda: np.broadcast_to(np.ones(1), (10**6, 10**6)),
            lambda: np.broadcast_to(np.ones(1, ">f8"), (10**6, 10**6)),
        ],
    )
    def test_size_is_computed_first(self, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A view of 10^12 elements is refused by its shape; its memory is never asked for."""
        monkeypatch.setattr(wire_values, "torch_memory", refuse)
        monkeypatch.setattr(wire_values, "numpy_memory", refuse)
        with pytest.raises(Unsupported, match="is too large and cannot be sent"):
            wire.pack(make())

    def test_sizes_add_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Views that fit one by one are refused once their sum does not."""
        view = np.broadcast_to(np.ones(1), (2**20, 10))
        monkeypatch.setattr(wire_values, "numpy_memory", lambda array: memoryview(b""))
        with pytest.raises(Unsupported, match=r"too large.*\(item 3 of the list\)"):
            wire.pack([view] * 100)

    def test_many_axes(self) -> None:
        """More axes than numpy has everywhere are refused."""
        wire.pack(torch.ones([1] * 32))
        with pytest.raises(Unsupported, match="too large"):
            wire.pack(torch.ones([1] * 33))

    def test_text_is_not_encoded_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Text with more characters than the cap has bytes is refused without a second copy in memory."""
        monkeypatch.setattr(wire_packer, "utf8_size", refuse)
        with pytest.raises(Unsupported, match="more than 1048576 bytes of text"):
            wire.pack("é" * 2**20 + "é")

    def test_descriptions_add_up(self) -> None:
        """Twenty thousand long class names, which are no text of the student's, are too much for one header."""
        long = ["handle", 1, "x" * 500, True]
        with pytest.raises(Unsupported, match=r"a value of \d+ bytes cannot be sent"):
            wire.pack([Handle(1, "x" * 500, True)] * 20_000)
        assert peak_of(body_with(["list", 20_000], *[long] * 20_000)) < 2**16

    def test_containers_that_change(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A list and a dict that another thread fills while they are packed are sent as they were."""
        many: list[object] = [np.ones(2), 1]
        named: dict[str, object] = {"a": np.ones(2), "b": 1}

        def fill(array: Any) -> memoryview:
            many.append(len(many))
            named[f"more {len(named)}"] = 1
            return array.data

        monkeypatch.setattr(wire_values, "numpy_memory", fill)
        assert [len(wire.unpack(wire.pack(value)[wire.PREFIX :])) for value in (many, named)] == [2, 3]

    def test_array_that_changes_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """If an array's size changes while it is packed, no frame with a false length leaves."""
        monkeypatch.setattr(wire_values, "numpy_memory", lambda array: memoryview(b"short"))
        with pytest.raises(Unsupported, match="another thread changes its size"):
            wire.pack(np.ones(3))

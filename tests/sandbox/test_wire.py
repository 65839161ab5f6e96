"""The wire carries every value it promises to carry, exactly, and refuses all else by name."""

import math
import struct
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softmark.sandbox import wire
from softmark.sandbox.wire import Frame, Handle, Meta, Raised
from softmark.sandbox.wire import values as wire_values
from tests.support.wire_frames import sent

steady = settings(derandomize=True, deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])


def memory(array: Any) -> bytes:
    if type(array) is torch.Tensor:
        array = array.detach()
        array = (array.view(torch.int16) if array.dtype is torch.bfloat16 else array).numpy(force=True)
    return array.tobytes()


def same(a: Any, b: Any) -> bool:
    """Equal in type and in every bit, all the way down."""
    if type(a) is not type(b):
        return False
    if type(a) is float:
        return struct.pack("d", a) == struct.pack("d", b)
    if type(a) is complex:
        return same(a.real, b.real) and same(a.imag, b.imag)
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a) is dict:
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if type(a) in (np.ndarray, torch.Tensor):
        grads = getattr(a, "requires_grad", None) == getattr(b, "requires_grad", None)
        return a.dtype == b.dtype and tuple(a.shape) == tuple(b.shape) and grads and memory(a) == memory(b)
    return a == b


def array_of(dtype: str, shape: tuple[int, ...], data: bytes) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        data = bytes(byte & 1 for byte in data)
    return np.frombuffer(data, dtype).reshape(shape).copy()


def tensor_of(dtype: str, shape: tuple[int, ...], data: bytes, grad: bool = False) -> torch.Tensor:
    carried = torch.from_numpy(array_of("int16" if dtype == "bfloat16" else dtype, shape, data))
    tensor = carried.view(torch.bfloat16) if dtype == "bfloat16" else carried
    return tensor.requires_grad_(grad and (tensor.is_floating_point() or tensor.is_complex()))


shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@st.composite
def arrays(draw: Any) -> Any:
    dtype, shape = draw(st.sampled_from(sorted(wire_values.NUMPY_DTYPES))), draw(shapes)
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return array_of(dtype, shape, draw(st.binary(min_size=size, max_size=size)))


@st.composite
def tensors(draw: Any) -> Any:
    dtype, shape = draw(st.sampled_from(sorted(wire_values.TORCH_DTYPES))), draw(shapes)
    size = math.prod(shape) * getattr(torch, dtype).itemsize
    return tensor_of(dtype, shape, draw(st.binary(min_size=size, max_size=size)), draw(st.booleans()))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
lines = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)
whole = st.integers(0, 2**31 - 1)
frames = st.builds(Frame, lines, whole, lines, lines)
sizes = st.lists(st.integers(0, 2**63 - 1), max_size=5).map(tuple)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**4096) + 1, 2**4096 - 1),
    st.sampled_from([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1]),
    st.floats(),
    st.complex_numbers(),
    texts,
    st.binary(max_size=40),
    arrays(),
    tensors(),
    st.builds(Handle, st.integers(0, 2**63 - 1), lines, st.booleans()),
    st.builds(Raised, lines, lines, st.lists(frames, max_size=4).map(tuple), st.lists(lines, max_size=3).map(tuple)),
    st.builds(Meta, st.sampled_from(sorted(wire_values.TORCH_DTYPES)), sizes),
)
binary = st.binary(max_size=6)
keys = st.one_of(
    texts, st.integers(-(2**63), 2**64 - 1), binary, st.lists(st.one_of(texts, binary), max_size=3).map(tuple)
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


class TestRoundTrip:
    """What arrives is what was sent."""

    @steady
    @given(trees)
    def test_any_tree(self, value: object) -> None:
        """Every value of every nesting arrives with the same types and the same bits."""
        assert same(sent(value), value)

    @pytest.mark.parametrize("dtype", sorted(wire_values.NUMPY_DTYPES))
    @pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (5, 3), (2, 1, 3)])
    def test_array_dtypes(self, dtype: str, shape: tuple[int, ...]) -> None:
        """Each listed dtype of numpy travels in each kind of shape, 0-d and empty included."""
        value = array_of(dtype, shape, bytes(range(256))[: math.prod(shape) * np.dtype(dtype).itemsize])
        assert same(sent(value), value)

    @pytest.mark.parametrize("grad", [False, True])
    @pytest.mark.parametrize("dtype", sorted(wire_values.TORCH_DTYPES))
    @pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (5, 3), (2, 1, 3)])
    def test_tensor_dtypes(self, dtype: str, shape: tuple[int, ...], grad: bool) -> None:
        """Each listed dtype of torch travels in each kind of shape, and requires_grad with it."""
        size = math.prod(shape) * getattr(torch, dtype).itemsize
        value = tensor_of(dtype, shape, bytes(range(256))[:size], grad)
        assert same(sent(value), value)

    @pytest.mark.parametrize("value", [-0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308])
    def test_special_floats(self, value: float) -> None:
        """Zero keeps its sign, NaN stays NaN, infinities and subnormals arrive."""
        assert same(sent(value), value)
        assert same(sent(complex(value, -0.0)), complex(value, -0.0))
        assert same(sent(np.array([value])), np.array([value]))
        assert same(sent(torch.tensor([value])), torch.tensor([value]))

    @pytest.mark.parametrize("value", [2**4096 - 1, -(2**4096) + 1, 2**64, -(2**63) - 1, 2**127, -(2**127)])
    def test_big_ints(self, value: int) -> None:
        """Integers up to the cap arrive exactly."""
        assert same(sent(value), value)

    def test_bool_is_not_int(self) -> None:
        """True stays True and 1 stays 1."""
        assert same(sent([True, 1, False, 0, 1.0]), [True, 1, False, 0, 1.0])

    def test_dict_order(self) -> None:
        """A dict keeps the order of its keys, and 1 and "1" are two keys."""
        value = {"b": 1, 1: 2, "a": 3, "1": 4, b"1": 5, (b"th", b"e"): 6, ("1",): 7, (): 8}
        assert list(sent(value).items()) == list(value.items())

    def test_bytes_containers(self) -> None:
        """A body may arrive as bytes, bytearray or memoryview."""
        body = wire.pack([b"abc", np.arange(3)])[wire.PREFIX :]
        for kind in (bytes, bytearray, memoryview):
            assert same(wire.unpack(kind(body)), [b"abc", np.arange(3)])

    def test_shared_value(self) -> None:
        """A value that occurs twice arrives as two values."""
        shared = [1]
        first, second = sent((shared, shared))
        assert first == second == [1]
        assert first is not second


class TestOwnership:
    """Everything that arrives is the receiver's own."""

    @pytest.mark.parametrize("value", [np.arange(6).reshape(2, 3), np.array(True), np.zeros((0, 3))])
    def test_arrays(self, value: Any) -> None:
        """A decoded array is writable, contiguous and not a view of the frame."""
        body = bytearray(wire.pack([b"odd", value])[wire.PREFIX :])  # 3 bytes: the data is not aligned
        got = wire.unpack(body)[1]
        assert got.flags.owndata
        assert got.flags.writeable
        assert got.flags.aligned
        assert got.flags.c_contiguous
        body[:] = b"\xff" * len(body)
        assert same(got, value)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.bool])
    def test_tensors(self, dtype: torch.dtype) -> None:
        """A decoded tensor is writable, aligned and not a view of the frame."""
        value = torch.ones(2, 3).to(dtype)
        body = bytearray(wire.pack([b"odd", value])[wire.PREFIX :])
        got: Any = wire.unpack(body)[1]
        body[:] = b"\xff" * len(body)
        assert same(got, value)
        assert got.is_contiguous()
        assert got.data_ptr() % 64 == 0
        assert not got.zero_().any()

    def test_default_device(self) -> None:
        """A default device that a student's code has set does not decide where values arrive."""
        with torch.device("meta"):
            assert sent(torch.ones(2, device="cpu")).device.type == "cpu"


class TestNormalised:
    """Odd kinds of arrays and tensors arrive as plain ones with the same values."""

    @pytest.mark.parametrize(
        "view",
        [
            np.arange(12).reshape(3, 4).T,
            np.arange(12)[::-1],
            np.arange(24).reshape(2, 3, 4)[::-1, ::2, ::-3],
            np.broadcast_to(np.array([1.5, 2.5]), (3, 2)),
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.arange(3, dtype=">f8"),
            np.array(7, dtype=">i4"),
            np.frombuffer(b"abcdefgh", np.uint8)[1:5],
        ],
        ids=["transposed", "reversed", "strided", "broadcast", "fortran", "big-endian", "0-d", "read-only"],
    )
    def test_array_layouts(self, view: Any) -> None:
        """Any strides and byte order arrive as a C-ordered native array."""
        got = sent(view)
        assert np.array_equal(got, view)
        assert got.dtype == view.dtype.newbyteorder("=")
        assert got.flags.c_contiguous

    def test_array_types_by_alias(self) -> None:
        """longlong is int64, whatever C calls it."""
        assert sent(np.arange(3, dtype=np.longlong)).dtype == np.int64

    base = torch.arange(12.0).reshape(3, 4)
    unit = torch.complex(torch.ones(2, 3), torch.ones(2, 3) * 2)

    @pytest.mark.parametrize(
        "view",
        [
            base.T,
            base[:, ::2],
            base[1],
            base[:1].expand(5, 4),
            unit.conj(),
            unit.conj().T,
            unit.conj().imag,
            torch._neg_view(base),
            torch._neg_view(base.bfloat16()),
            base.bfloat16().T,
            base.bfloat16()[:1].expand(5, 4),
            (unit.conj().requires_grad_() * 2).conj(),
        ],
        ids=[
            "transposed", "strided", "offset", "expanded", "conj", "conj-transposed", "conj-imag", "negative",
            "negative-bfloat16", "transposed-bfloat16", "expanded-bfloat16", "conj-with-graph",
        ],
    )  # fmt: skip
    def test_tensor_layouts(self, view: torch.Tensor) -> None:
        """Any view arrives as a plain contiguous tensor with its values, and only the flag of its graph."""
        got = sent(view)
        assert torch.equal(got, view)
        assert got.is_contiguous()
        assert not got.is_conj()
        assert not got.is_neg()
        assert got.is_leaf
        assert got.requires_grad == view.requires_grad

    def test_parameter(self) -> None:
        """A Parameter is sent as the plain tensor it holds."""
        got = sent(torch.nn.Parameter(torch.ones(2)))
        assert type(got) is torch.Tensor
        assert got.requires_grad

    @pytest.mark.parametrize("kind", wire_values.NUMPY_SCALARS, ids=lambda kind: kind.__name__)
    def test_numpy_scalars(self, kind: Any) -> None:
        """An exact numpy scalar arrives as a 0-d array of its dtype."""
        got = sent(kind(1))
        assert type(got) is np.ndarray
        assert got.shape == ()
        assert got.dtype == np.dtype(kind)
        assert got == 1

    def test_torch_size(self) -> None:
        """A tensor's shape arrives as a tuple of ints."""
        assert same(sent(torch.ones(2, 3).shape), (2, 3))

    def test_odd_bools(self) -> None:
        """Bools made of other bytes than 0 and 1 arrive as True."""
        odd = np.array([0, 1, 2, 255], np.uint8)
        assert memory(sent(odd.view(bool))) == b"\x00\x01\x01\x01"
        assert memory(sent(torch.from_numpy(odd).view(torch.bool))) == b"\x00\x01\x01\x01"


class TestRaised:
    """An exception can always be told."""

    def test_cut_and_escaped(self) -> None:
        """Long and broken text is cut and escaped, the innermost frames are kept."""
        many = tuple(Frame("f\ud800.py" + "x" * 9999, n, "g" * 9999, "é" * 9999) for n in range(1000))
        got = sent(Raised("E" * 9999, "\udcff" + "é" * 9999, many, ("n" * 9999,) * 100))
        assert [frame.line for frame in got.frames] == list(range(968, 1000))
        assert got.frames[0].file.startswith("f\\ud800.pyxxx")
        assert len(got.message.encode()) <= 2048
        assert got.message.startswith("\\udcffé")
        assert max(len(text.encode()) for text in (got.cls, got.frames[0].text, got.frames[0].function)) <= 512
        assert len(got.notes) == 8

    def test_unknown_line(self) -> None:
        """A frame without a usable line number has line 0."""
        lines = (None, -5, 2**40, True, 12)
        got = sent(Raised("E", "m", tuple(Frame("f", line, "g", "t") for line in lines)))
        assert [frame.line for frame in got.frames] == [0, 0, 0, 0, 12]

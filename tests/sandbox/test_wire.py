"""The wire carries every value it promises to carry, exactly, and refuses all else by name."""

import collections
import enum
import math
import struct
import types
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softmark.sandbox import wire, wire_values
from softmark.sandbox.wire import Caps, Frame, Handle, Meta, Raised, Unsupported

steady = settings(derandomize=True, deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])


def sent(value: object, caps: Caps = wire.CAPS) -> Any:
    """The value as the other end gets it."""
    frame = wire.pack(value, caps)
    assert type(frame) is bytes
    body = frame[wire.PREFIX :]
    assert wire.body_size(frame[: wire.PREFIX], caps) == len(body)
    return wire.unpack(body, caps)


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
keys = st.one_of(texts, st.integers(-(2**63), 2**64 - 1))
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
        value = {"b": 1, 1: 2, "a": 3, "1": 4}
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


class Colour(enum.IntEnum):
    RED = 1


class Money(float):
    pass


class Sneaky(torch.Tensor):
    pass


class Rows(np.ndarray[Any, Any]):
    pass


Pair = collections.namedtuple("Pair", "a b")


class TestRefusals:
    """What is not data is refused with a sentence that names it."""

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ({1, 2}, "a set cannot be sent; return a list"),
            (frozenset(), "a frozenset cannot be sent; return a list"),
            (range(3), "a range cannot be sent; return a list"),
            ((i for i in range(3)), "a generator cannot be sent; return a list"),
            (iter([1]), "an iterator (list_iterator) cannot be sent; return a list"),
            (map(abs, [1]), "an iterator (map) cannot be sent; return a list"),
            (zip([1], [2], strict=True), "an iterator (zip) cannot be sent; return a list"),
            ({}.keys(), "a view of a dict's keys cannot be sent; return a list"),
            ({}.values(), "a view of a dict's values cannot be sent; return a list"),
            ({}.items(), "a view of a dict's items cannot be sent; return a list"),
            (lambda: 1, "a function cannot be sent; return its result"),
            (len, "a built-in function cannot be sent; return its result"),
            ([].append, "a built-in function cannot be sent; return its result"),
            (Pair(1, 2)._asdict, "a method cannot be sent; return its result"),
            (math, "a Python module cannot be sent; return a value"),
            (int, "a class cannot be sent; return a value"),
            (Colour, "a class cannot be sent; return a value"),
            (bytearray(b"x"), "a bytearray cannot be sent; return bytes"),
            (memoryview(b"x"), "a memoryview cannot be sent; return bytes"),
            (object(), "an object of class object cannot be sent"),
            (torch.nn.Linear(1, 1), "an object of class Linear cannot be sent"),
            (torch.float32, "an object of class dtype cannot be sent"),
            (..., "an object of class ellipsis cannot be sent"),
            (types.SimpleNamespace(), "an object of class SimpleNamespace cannot be sent"),
        ],
        ids=lambda part: part if isinstance(part, str) else "",
    )
    def test_other_types(self, value: object, said: str) -> None:
        """Sets, iterators, functions, classes and other objects are named."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(value)
        assert str(refused.value).startswith(said)

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (Money(1.0), "Money, a subclass of float, "),
            (Colour.RED, "Colour, a subclass of int, "),
            (type("Name", (str,), {})("x"), "Name, a subclass of str, "),
            (type("Raw", (bytes,), {})(b"x"), "Raw, a subclass of bytes, "),
            (type("Z", (complex,), {})(1), "Z, a subclass of complex, "),
            (type("Many", (list,), {})(), "Many, a subclass of list, "),
            (Pair(1, 2), "Pair, a subclass of tuple, "),
            (torch.ones(2).max(0), "max, a subclass of tuple, "),
            (collections.OrderedDict(), "OrderedDict, a subclass of dict, "),
            (collections.Counter(), "Counter, a subclass of dict, "),
            (type("Own", (set,), {})(), "Own, a subclass of set, "),
            (type("Own", (np.float64,), {})(1), "Own, a subclass of np.generic, "),
            (np.longdouble(1), "longdouble, a subclass of np.generic, "),
            (np.datetime64("2020-01-01"), "datetime64, a subclass of np.generic, "),
            (np.str_("x"), "str_, a subclass of np.generic, "),
            (np.zeros(2).view(Rows), "Rows, a subclass of np.ndarray, "),
            (np.eye(1).view(np.matrix), "matrix, a subclass of np.ndarray, "),
            (np.ma.masked_array([1], mask=[True]), "MaskedArray, a subclass of np.ndarray, "),
            (np.rec.array([(1, 2.0)]), "recarray, a subclass of np.ndarray, "),
            (torch.ones(2).as_subclass(Sneaky), "Sneaky, a subclass of torch.Tensor, "),
            (torch.nn.UninitializedParameter(), "UninitializedParameter, a subclass of torch.Tensor, "),
        ],
        ids=lambda part: part if isinstance(part, str) else "",
    )
    def test_subclasses(self, value: object, said: str) -> None:
        """A subclass of a type that can be sent is refused by its own name and its base."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(value)
        assert str(refused.value).startswith(said + "cannot be sent; return a plain ")

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (np.array([None]), "an array of objects cannot be sent"),
            (np.array(["a"]), "an array of text cannot be sent"),
            (np.array([b"a"]), "an array of bytes cannot be sent"),
            (np.zeros(2, [("a", "f4")]), "an array of records cannot be sent"),
            (np.zeros(2, (np.int32, {"a": (np.int16, 0), "b": (np.int16, 2)})), "an array of records cannot be sent"),
            (np.zeros(2, "datetime64[s]"), "an array of dates cannot be sent"),
            (np.zeros(2, "timedelta64[s]"), "an array of durations cannot be sent"),
            (np.zeros(2, "V3"), "an array of records cannot be sent"),
            (np.zeros(2, np.longdouble), "an array of dtype "),
        ],
        ids=lambda part: part if isinstance(part, str) else "",
    )
    def test_array_dtypes(self, value: object, said: str) -> None:
        """Arrays of anything but the listed dtypes are refused, objects above all."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(value)
        assert str(refused.value).startswith(said)

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize(
        ("make", "said"),
        [
            (lambda: torch.ones(2, 2).to_sparse(), "a sparse tensor (torch.sparse_coo) cannot be sent"),
            (lambda: torch.ones(2, 2).to_sparse_csr(), "a sparse tensor (torch.sparse_csr) cannot be sent"),
            (lambda: torch.ones(2, 2).to_mkldnn(), "a sparse tensor (torch._mkldnn) cannot be sent"),
            (
                lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
                "a quantised tensor (torch.quint8) cannot be sent",
            ),
            (lambda: torch.ones(2, device="meta"), "a tensor on the meta device cannot be sent"),
            (lambda: torch.nested.nested_tensor([torch.ones(2)]), "a nested tensor cannot be sent"),
            (
                lambda: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged),
                "NestedTensor, a subclass of torch.Tensor, cannot be sent",
            ),
            (lambda: torch.ones(2).to(torch.float8_e5m2), "a tensor of dtype torch.float8_e5m2 cannot be sent"),
            (lambda: torch.ones(2).to(torch.uint32), "a tensor of dtype torch.uint32 cannot be sent"),
        ],
    )
    def test_tensor_kinds(self, make: Any, said: str) -> None:
        """Tensors without plain memory, or of a dtype not listed, are refused by what they are."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(make())
        assert str(refused.value).startswith(said)

    def test_escaped_from_vmap(self) -> None:
        """A tensor kept from inside torch.vmap has no values of its own and is refused, not a crash."""
        kept: list[torch.Tensor] = []
        torch.vmap(lambda x: (kept.append(x), x * 2)[1])(torch.ones(3, 2))
        with pytest.raises(Unsupported, match="a tensor whose values cannot be read cannot be sent"):
            wire.pack(kept[0])

    @pytest.mark.parametrize(
        ("value", "where"),
        [
            ((1, 2, {3}), "(item 2 of the tuple)"),
            ([[], {"w": (0, {1})}], "(item 1 of the list, key 'w' of the dict, item 1 of the tuple)"),
            ({7: {8}}, "(key 7 of the dict)"),
            ([[[[[{1}]]]]], "(" + "item 0 of the list, " * 4 + "…)"),
        ],
    )
    def test_place(self, value: object, where: str) -> None:
        """The sentence ends with the place of what was refused, outermost step first."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(value)
        assert str(refused.value) == "a set cannot be sent; return a list " + where

    def test_place_without_wrapping(self) -> None:
        """A caller that wrapped the student's value leaves its own steps out."""
        with pytest.raises(Unsupported) as refused:
            wire.pack(("answer", [{1}], ()))
        assert refused.value.sentence(skip=1) == "a set cannot be sent; return a list (item 0 of the list)"
        assert refused.value.sentence(skip=2) == "a set cannot be sent; return a list"

    @pytest.mark.parametrize(
        ("key", "said"),
        [
            ((1, 2), "type tuple"),
            (1.5, "type float"),
            (None, "type NoneType"),
            (True, "type bool"),
            (b"x", "type bytes"),
            (Colour.RED, "type Colour"),
            (2**64, "an int beyond 64 bits"),
        ],
    )
    def test_dict_keys(self, key: object, said: str) -> None:
        """Keys are str or int of 64 bits, nothing else: an int that is larger can be chosen for its hash."""
        with pytest.raises(Unsupported) as refused:
            wire.pack({key: 1})
        assert str(refused.value) == f"a dict with a key of {said} cannot be sent; use str or int keys"

    @pytest.mark.parametrize("value", ["\ud800", ["a\udfffb"], {"\ud800": 1}])
    def test_lone_surrogates(self, value: object) -> None:
        """Text that is not Unicode is refused, because a replacement would be another answer."""
        with pytest.raises(Unsupported, match="a str with a lone surrogate"):
            wire.pack(value)

    def test_hostile_class_name(self) -> None:
        """A class's name is shown as short printable text on one line."""
        cls = type("A\n\x1b[31m" + "x" * 1000, (), {})
        with pytest.raises(Unsupported, match=r"^an object of class A\?\?\[31mx{73} cannot be sent"):
            wire.pack(cls())


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

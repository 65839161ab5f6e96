"""What is not data is refused by the wire, with a sentence that names it."""

import collections
import enum
import math
import types
from typing import Any

import numpy as np
import pytest
import torch

from softmark.sandbox import wire
from softmark.sandbox.wire import Unsupported

OTHER_KEYS = "; use str, int or bytes keys, or tuples of texts or bytes"


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
            ((b"x", ("y", b"z")), "type tuple"),
            (Pair("a", "b"), "type Pair"),
            (Colour.RED, "type Colour"),
            (2**64, "an int beyond 64 bits"),
        ],
    )
    def test_dict_keys(self, key: object, said: str) -> None:
        """Keys are str, bytes, int of 64 bits, tuples of texts and bytes: other numbers are chosen for their hash."""
        with pytest.raises(Unsupported) as refused:
            wire.pack({key: 1})
        assert str(refused.value) == f"a dict with a key of {said} cannot be sent{OTHER_KEYS}"

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

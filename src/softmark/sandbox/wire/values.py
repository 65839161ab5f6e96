"""The values of the wire: classes, caps, dtypes, memory of arrays, and the sentences of refusal.

This runs on the trusted side, and also in the worker next to the student's code. So nothing here runs code of a
student's class: a type is recognised by identity, its name and bases are read through descriptors of `type`
itself, and a tensor or an array is touched only once its type is known to be exactly torch.Tensor,
torch.nn.Parameter or np.ndarray. Methods of torch.Tensor are called unbound, because a tensor has a `__dict__`,
into which a student can put a `numpy` or a `detach` of their own.
"""

import types
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
import torch

MESSAGE_BYTES = 2048  # of an exception's message and of each of its notes
LINE_BYTES = 512  # of a class name, a file name, a function name, one line of source
MAX_FRAMES = 32  # of one exception, the innermost
MAX_NOTES = 8
MAX_AXES = 32  # what numpy 1.26 allows
MAX_ITEMS = 100_000


class WireError(Exception):
    """Raised for bytes that are not a frame: the other end is broken or hostile."""


class TooMany(WireError):
    """Raised if a frame holds more arrays and tensors than are allowed. `count` is their number."""

    def __init__(self, count: int, most: int) -> None:
        super().__init__(f"a frame has {count} arrays and tensors, allowed are {most}")
        self.count = count


class Unsupported(Exception):
    """Raised for a value that cannot be sent. `path` is its place in the structure, the outermost step first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str] = []

    def sentence(self, skip: int = 0) -> str:
        """Return one sentence; `skip` leaves out outer steps, for a caller that wrapped the student's value."""
        steps = self.path[skip:]
        where = ", ".join([*steps[:4], "…"] if len(steps) > 4 else steps)
        return f"{self.reason} ({where})" if where else self.reason

    def __str__(self) -> str:
        return self.sentence()


@dataclass(frozen=True)
class Caps:
    """Bounds of one frame, checked on both ends. `items` may be lowered but not exceed MAX_ITEMS."""

    frame_bytes: int = 256 * 2**20  # of the body: header and data
    depth: int = 20  # of containers within containers
    items: int = MAX_ITEMS  # values of every kind, a dict's keys included
    arrays: int = MAX_ITEMS  # arrays, tensors and descriptions of tensors: each costs a thousand times a number
    text_bytes: int = 2**20  # UTF-8 of all str values and keys, and the digits of ints beyond 64 bits
    int_bits: int = 4096

    @property
    def header_bytes(self) -> int:
        """Return the size of the largest header: all text, some 32 bytes for each item, and one exception."""
        return self.text_bytes + 32 * self.items + 2**17


CAPS = Caps()

Size = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Shape = Annotated[tuple[Size, ...], msgspec.Meta(max_length=MAX_AXES)]
Line = Annotated[str, msgspec.Meta(max_length=LINE_BYTES)]
MessageText = Annotated[str, msgspec.Meta(max_length=MESSAGE_BYTES)]


class Handle(msgspec.Struct, frozen=True, array_like=True, tag="handle", forbid_unknown_fields=True):
    """A student's object that stays in the worker; `id` means something to that worker only."""

    id: Size
    cls: Line
    is_module: bool


class Frame(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One stack frame of the student's own code; `line` is 0 if there is no line."""

    file: Line
    line: Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
    function: Line
    text: Line


class Raised(msgspec.Struct, frozen=True, array_like=True, tag="raised", forbid_unknown_fields=True):
    """An exception of the student's as data, the innermost frame last."""

    cls: Line
    message: MessageText
    frames: Annotated[tuple[Frame, ...], msgspec.Meta(max_length=MAX_FRAMES)] = ()
    notes: Annotated[tuple[MessageText, ...], msgspec.Meta(max_length=MAX_NOTES)] = ()
    base: Line = ""
    """The nearest built-in class that `cls` is, or is derived from; empty if the worker does not name any."""


class Meta(msgspec.Struct, frozen=True, array_like=True, tag="meta", forbid_unknown_fields=True):
    """A tensor on the meta device: dtype and shape, no values."""

    dtype: Line
    shape: Shape


class _Tagged(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A token that is not the value itself."""


class IntToken(_Tagged, tag="int"):
    digits: bytes


class ComplexToken(_Tagged, tag="complex"):
    re: float
    im: float


class BytesToken(_Tagged, tag="bytes"):
    size: Size


class ListToken(_Tagged, tag="list"):
    count: Size


class TupleToken(_Tagged, tag="tuple"):
    count: Size


class DictToken(_Tagged, tag="dict"):
    count: Size


class ArrayToken(_Tagged, tag="array"):
    dtype: Line
    shape: Shape


class TensorToken(_Tagged, tag="tensor"):
    dtype: Line
    shape: Shape
    grad: bool


Token: TypeAlias = (
    bool | int | float | str
    | IntToken | ComplexToken | BytesToken | ListToken | TupleToken | DictToken | ArrayToken | TensorToken
    | Handle | Raised | Meta | None
)  # fmt: skip
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
_Plain: TypeAlias = bool | int | float | complex | str | bytes | Handle | Raised | Meta | None
DictKey: TypeAlias = str | int | bytes | tuple[str | bytes, ...]
"""A key of a dictionary. A tuple holds no numbers, because whoever chooses them can make tuples with equal hashes, and
a dictionary with many of these keeps the receiver busy."""
_Containers: TypeAlias = list["Value"] | tuple["Value", ...] | dict[DictKey, "Value"]
Value: TypeAlias = _Plain | _Containers | Array | torch.Tensor

_REAL = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")
NUMPY_DTYPES = {name: np.dtype(name) for name in (*_REAL, "uint16", "uint32", "uint64", *_COMPLEX)}
TORCH_DTYPES: dict[str, torch.dtype]
TORCH_DTYPES = {name: getattr(torch, name) for name in (*_REAL, "bfloat16", *_COMPLEX)}
# numpy has no bfloat16: its bytes travel as those of an int16.
CARRIERS = {name: NUMPY_DTYPES["int16" if name == "bfloat16" else name] for name in TORCH_DTYPES}
NUMPY_SCALARS = (*(dtype.type for dtype in NUMPY_DTYPES.values()), np.longlong, np.ulonglong)

_TORCH_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}
# By `dtype.str`, which is "<i8" for int64 and longlong alike and ">i8" for the foreign byte order.
_NUMPY_NAMES = {dtype.str: name for name, dtype in NUMPY_DTYPES.items()}
_NUMPY_NAMES |= {dtype.newbyteorder().str: name for name, dtype in NUMPY_DTYPES.items()}
_NUMPY_KINDS = {"O": "objects", "U": "text", "S": "bytes", "V": "records", "M": "dates", "m": "durations"}

_detach, _view = torch.Tensor.detach, torch.Tensor.view
_resolve_neg, _to_numpy = torch.Tensor.resolve_neg, torch.Tensor.numpy


def byte_count(shape: tuple[int, ...], itemsize: int, limit: int) -> int | None:
    """Return the number of bytes of an array of that shape, or None if it is beyond the limit.

    The other axes are bounded even if one has length 0: (0, 2**62) has no bytes, but strides of more than 64 bits.
    """
    extent = itemsize
    for size in shape:
        extent *= size or 1
        if extent > limit:
            return None
    return 0 if 0 in shape else extent


def numpy_name(array: Array) -> str:
    """Return the wire's name for the dtype of an exact np.ndarray."""
    dtype = array.dtype
    name = _NUMPY_NAMES.get(dtype.str)
    if name is None or dtype.names is not None:
        kind = "records" if dtype.names is not None else _NUMPY_KINDS.get(dtype.kind, f"dtype {dtype.str}")
        raise Unsupported(f"an array of {kind} cannot be sent; return an array of numbers")
    return name


def torch_name(tensor: torch.Tensor) -> str:
    """Return the wire's name for the dtype of an exact tensor; refuse tensors without plain memory."""
    if tensor.is_nested:
        raise Unsupported("a nested tensor cannot be sent; return a list of tensors")
    if tensor.is_quantized:
        raise Unsupported(f"a quantised tensor ({tensor.dtype}) cannot be sent; return a dequantised one")
    if tensor.layout is not torch.strided:
        raise Unsupported(f"a sparse tensor ({tensor.layout}) cannot be sent; return a dense one")
    if tensor.is_meta:
        raise Unsupported("a tensor on the meta device cannot be sent: it has no values")
    name = _TORCH_NAMES.get(tensor.dtype)
    if name is None:
        raise Unsupported(f"a tensor of dtype {tensor.dtype} cannot be sent; convert it to torch.float32")
    return name


def numpy_memory(array: Array) -> memoryview:
    """Return the array's bytes in C order and this machine's byte order; copy them only if necessary."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array).data


def torch_memory(tensor: torch.Tensor) -> memoryview:
    """Return the tensor's bytes in C order, from any device; conjugate and negative views are computed."""
    try:
        plain = _detach(tensor)
        if plain.dtype is torch.bfloat16:
            plain = _view(_resolve_neg(plain), torch.int16)
        return np.ascontiguousarray(_to_numpy(plain, force=True)).data
    except (RuntimeError, TypeError) as error:  # for example, a tensor that escaped from inside torch.vmap
        why = str(error).partition("\n")[0][:200]
        raise Unsupported(f"a tensor whose values cannot be read cannot be sent: {why}") from error


def array_from(data: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return a new array of these bytes, of which there are exactly enough."""
    array = np.empty(shape, dtype)
    _fill(array, data)
    return array


def tensor_from(data: memoryview, dtype: torch.dtype, shape: tuple[int, ...], grad: bool) -> torch.Tensor:
    """Return a new tensor of these bytes, in torch's own memory: kernels always see the same alignment."""
    tensor = torch.empty(shape, dtype=dtype, device="cpu")  # a student may have set another default device
    _fill((tensor.view(torch.int16) if dtype is torch.bfloat16 else tensor).numpy(), data)
    return tensor.requires_grad_() if grad else tensor


def _fill(target: Array, data: memoryview) -> None:
    if target.dtype == np.bool_:  # a bool with another byte than 0 or 1 is undefined behaviour
        np.not_equal(np.ndarray(target.shape, np.uint8, data), 0, out=target)
    else:
        np.copyto(target, np.ndarray(target.shape, target.dtype, data))


def cleaned(value: Handle | Raised | Meta) -> Handle | Raised | Meta:
    """Return a copy whose fields have plain types within the limits: a student can build these with any fields."""
    if type(value) is Handle and type(value.id) is int and type(value.is_module) is bool:
        if 0 <= value.id < 2**63:
            return Handle(value.id, _cut(value.cls), value.is_module)
    elif type(value) is Raised and type(value.frames) is tuple and type(value.notes) is tuple:
        frames = tuple(_cleaned_frame(frame) for frame in value.frames[-MAX_FRAMES:])
        notes = tuple(_cut(note, MESSAGE_BYTES) for note in value.notes[:MAX_NOTES])
        return Raised(_cut(value.cls), _cut(value.message, MESSAGE_BYTES), frames, notes, _cut(value.base))
    elif type(value) is Meta and type(value.dtype) is str and type(value.shape) in (tuple, torch.Size):
        shape = tuple(value.shape)
        sizes = all(type(size) is int and 0 <= size < 2**63 for size in shape)
        if value.dtype in TORCH_DTYPES and sizes and len(shape) <= MAX_AXES:
            return Meta(value.dtype, shape)
    raise Unsupported(f"a malformed {type(value).__name__} cannot be sent")


def _cleaned_frame(frame: Frame) -> Frame:
    if type(frame) is not Frame:
        raise Unsupported("a malformed Raised cannot be sent")
    line = frame.line if type(frame.line) is int and 0 <= frame.line < 2**31 else 0
    return Frame(_cut(frame.file), line, _cut(frame.function), _cut(frame.text))


def _cut(text: object, limit: int = LINE_BYTES) -> str:
    """Return text about a student's code in sendable form: lone surrogates escaped, cut to `limit` bytes."""
    if type(text) is not str:
        raise Unsupported("a description that is not plain text cannot be sent")
    return text[:limit].encode("utf-8", "backslashreplace")[:limit].decode("utf-8", "ignore")


# Read through `type`'s own descriptors: `cls.__name__` would ask the metaclass, which may be the student's.
_name_of: Any = type.__dict__["__name__"].__get__
_mro_of: Any = type.__dict__["__mro__"].__get__


def class_name(cls: type) -> str:
    """Return a class's own name as harmless text on one line."""
    raw = str.encode(_name_of(cls), "utf-8", "backslashreplace").decode()  # the name may be a str subclass
    return "".join(c if c.isprintable() else "?" for c in raw[:80])


_MANY: tuple[Any, ...] = ([], (), {}, set(), "é", b"", range(0))
_ITERATORS: tuple[type, ...] = (map, filter, zip, enumerate, reversed, *(type(iter(many)) for many in _MANY))
_REFUSED: tuple[tuple[type, str], ...] = (
    (set, "a set cannot be sent; return a list"),
    (frozenset, "a frozenset cannot be sent; return a list"),
    (range, "a range cannot be sent; return a list"),
    (type({}.keys()), "a view of a dict's keys cannot be sent; return a list"),
    (type({}.values()), "a view of a dict's values cannot be sent; return a list"),
    (type({}.items()), "a view of a dict's items cannot be sent; return a list"),
    (types.GeneratorType, "a generator cannot be sent; return a list"),
    (types.AsyncGeneratorType, "an async generator cannot be sent; return a list"),
    (types.CoroutineType, "a coroutine cannot be sent; define the function without async"),
    (types.FunctionType, "a function cannot be sent; return its result"),
    (types.BuiltinFunctionType, "a built-in function cannot be sent; return its result"),
    (types.MethodType, "a method cannot be sent; return its result"),
    (types.ModuleType, "a Python module cannot be sent; return a value"),
    (bytearray, "a bytearray cannot be sent; return bytes"),
    (memoryview, "a memoryview cannot be sent; return bytes"),
    *((cls, f"an iterator ({cls.__name__}) cannot be sent; return a list") for cls in _ITERATORS),
)
_BASES: tuple[tuple[type, str], ...] = (
    (torch.Tensor, "torch.Tensor"), (np.ndarray, "np.ndarray"), (np.generic, "np.generic"), (float, "float"),
    (int, "int"), (complex, "complex"), (str, "str"), (bytes, "bytes"), (list, "list"), (tuple, "tuple"),
    (dict, "dict"), (set, "set"), (frozenset, "frozenset"),
)  # fmt: skip


def refusal(value: object) -> str:
    """Return why a value of this type cannot be sent, without running any of its code."""
    cls = type(value)
    for refused, sentence in _REFUSED:
        if cls is refused:
            return sentence
    ancestors = _mro_of(cls)
    if any(ancestor is type for ancestor in ancestors):
        return "a class cannot be sent; return a value"
    name = class_name(cls)
    for base, known_as in _BASES:
        if any(ancestor is base for ancestor in ancestors):
            plain = "number" if base is np.generic else known_as
            return f"{name}, a subclass of {known_as}, cannot be sent; return a plain {plain}"
    return f"an object of class {name} cannot be sent; return numbers, lists, arrays or tensors"

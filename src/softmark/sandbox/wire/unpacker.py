"""The receiver's half of the wire: rebuild one value from tokens and data, and trust neither."""

import torch

from softmark.sandbox.wire import values as values
from softmark.sandbox.wire.values import Caps, Handle, Meta, Raised, Value, WireError

_END = object()
_THEMSELVES = frozenset((type(None), bool, int, float, str))


class Unpacker:
    """Rebuilds one value from tokens and data, and trusts neither."""

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

    def _dict(self, token: values.DictToken, depth: int) -> dict[values.DictKey, Value]:
        result: dict[values.DictKey, Value] = {}
        for _ in self._children(token.count, depth):
            key = self._key(depth + 1)
            if key in result:
                raise WireError("a dict has a key twice")
            result[key] = self._take(depth + 1)
        return result

    def _key(self, depth: int) -> values.DictKey:
        token = next(self._tokens, _END)
        if type(token) is int:
            return token
        if isinstance(token, values.TupleToken):
            otherwise = "a dict has a tuple as a key that holds more than texts and bytes"
            parts = (next(self._tokens, _END) for _ in self._children(token.count, depth))
            return tuple([self._text_or_bytes(part, otherwise) for part in parts])
        return self._text_or_bytes(token, "a dict has a key that is no str, int or bytes, and no tuple")

    def _text_or_bytes(self, token: object, otherwise: str) -> str | bytes:
        """Return the text or the bytes of a token; raise WireError with the other words if it is neither."""
        if type(token) is str:
            return token
        if isinstance(token, values.BytesToken):
            return bytes(self._claim((token.size,), 1))
        raise WireError(otherwise)

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
        """Return the data of an array of that shape. Raise WireError if there is less; nothing is allocated before."""
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

"""Counts the questions of a student's code to its stand-ins, and keeps the reference's answers.

The tests ask every submission the same. So a later part that is right asks its stand-ins exactly what the reference
asks, and most questions of one submission come again in the next. A kept answer is found by the function that is asked
and a digest of the whole question. Bytes are counted roughly. Beyond `MOST_BYTES` the answers that were not used for
longest are forgotten.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import astuple, dataclass
from typing import Any

import torch

from softmark.sandbox.wire.protocol import Answered, Ask
from softmark.verdict.values import flatten, is_numeric, size_of, tensor_of

MOST_BYTES = 8_000_000
LARGEST = 500_000
"""A value of more bytes than this is not kept."""
OF_A_USE = 500
"""The bytes that a kept use takes, with its key."""
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_SMALL = 16
"""Sizes up to this are always allowed."""


@dataclass
class Use:
    """The use that a call makes of earlier functions, or the use that it may make of them."""

    calls: int = 0
    gradients: int = 0
    bytes: int = 0
    largest: int = _SMALL

    @classmethod
    def of(cls, ask: Ask) -> Use:
        """Return the use that a question makes. Its answer is not counted."""
        use = cls(calls=ask.cotangents is None, gradients=ask.cotangents is not None)
        use.note(ask.args, ask.kwargs, ask.cotangents)
        if ask.of is not None:
            use.note(ask.of.args, ask.of.kwargs, ask.of.state)
        return use

    def note(self, *values: Any) -> None:
        """Count the bytes of values, and remember the largest number in them that may be a size."""
        self.bytes += size_of(values)
        self.largest = max(self.largest, *map(_largest, values))

    def add(self, other: Use) -> None:
        """Count another use, too."""
        self.calls, self.gradients = self.calls + other.calls, self.gradients + other.gradients
        self.bytes, self.largest = self.bytes + other.bytes, max(self.largest, other.largest)

    def allows(self, used: Use) -> bool:
        """Return whether another use stays within this one."""
        pairs = zip(astuple(used), astuple(self), strict=True)
        return all(one <= most for one, most in pairs)


@dataclass(frozen=True)
class KnownAnswer:
    """A question's use, and its answer."""

    question: Use
    answered: Answered
    size: int
    """The bytes of the answer."""


class AnswerMemory:
    """The kept values, the one used last at the end."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self.bytes = 0

    def find(self, key: Hashable) -> object:
        """Return the value of a key, and note that it was used; None if the key is not known."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def keep(self, key: Hashable, value: object, size: int) -> None:
        """Keep a value of this size in bytes, unless its key is None or it is too large."""
        if key is None or key in self._values or size > LARGEST:
            return
        self._values[key] = value, size
        self.bytes += size
        while self.bytes > MOST_BYTES:
            _, (_, forgotten) = self._values.popitem(last=False)
            self.bytes -= forgotten


MEMORY = AnswerMemory()
"""The memory of this process: a lane grades one submission after the other."""


def digest(frame: bytes) -> bytes:
    """Return the digest of a packed question."""
    return hashlib.blake2b(frame, digest_size=16).digest()


def _largest(value: Any) -> int:
    """Return the largest number in a value that may be a size: an integer, or the length of an axis."""
    largest = 0
    for leaf in (leaf for _, leaf in flatten(value)):
        if type(leaf) is int:
            largest = max(largest, abs(leaf))
        elif is_numeric(leaf):
            numbers = tensor_of(leaf)
            largest = max(largest, *numbers.shape, 0)
            if numbers.numel() and numbers.dtype in _INTEGERS:
                largest = max(largest, int(numbers.max()), -int(numbers.min()))
    return largest

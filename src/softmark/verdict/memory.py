"""Truths are remembered per case: its hidden inputs are the same for every submission, so what is right is, too.

An entry is found again only by the case's id, the kind of the check, the very same reference function, and a digest of
every byte of its inputs. A reference with state (a module, a bound method, a closure) is never
remembered, nor is anything in a case without an id. What mistakes give on the inputs of a remembered truth is
remembered with it. Bytes are counted, roughly: beyond `MOST_BYTES` the truths that were not used for longest are
forgotten.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from softmark.verdict.leaves import flatten, size_of

if TYPE_CHECKING:
    from softmark.verdict.truth import Truth

MOST_BYTES = 128_000_000
LARGEST, LARGEST_OUTCOME = 2_000_000, 130_000
"""What has more bytes than this is not remembered."""
_OF_A_TRUTH, _OF_ITS_NUMBER = 6_000, 32
"""Bytes of a truth without its numbers, and of a number with its noise and its tolerance."""
_OF_NO_ANSWER, _OF_AN_ANSWER, _OF_A_NUMBER = 300, 2_000, 16
"""Bytes of what mistakes come to: of an exception, of an answer without its numbers, and of a number."""
_FOR_PAIRS = 0.5
"""Share of `MOST_BYTES` up to which pairs of mistakes are remembered: there are many, and few of them are of use."""

Key = tuple[str, str]
"""The case's id, and what is remembered of the check."""


@dataclass
class _Remembered:
    want: Any
    """The reference that the truth is of."""
    truth: Truth
    bytes: int


class _Entries(OrderedDict[tuple[Key, bytes], _Remembered]):
    """The truths, the one used last at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        self.of_truth: dict[int, _Remembered] = {}

    def add(self, key: tuple[Key, bytes], entry: _Remembered) -> None:
        self.forget(key)
        self[key] = self.of_truth[id(entry.truth)] = entry
        self.bytes += entry.bytes
        while self.bytes > MOST_BYTES:
            self.forget(next(iter(self)))

    def forget(self, key: tuple[Key, bytes]) -> None:
        entry = self.pop(key, None)
        if entry is not None:
            self.bytes -= entry.bytes
            entry.truth.outcomes.clear()
            del self.of_truth[id(entry.truth)]


_ENTRIES = _Entries()


def remembered(key: Key, want: Any, inputs: Any, compute: Callable[[], Truth]) -> Truth:
    """The truth of a reference for these inputs: remembered where that is safe, computed otherwise."""
    digest = _digest(inputs) if key[0] and type(want) is FunctionType and not want.__closure__ else None
    if digest is None:
        return compute()
    entry = _ENTRIES.get((key, digest))
    if entry is not None and entry.want is want:
        _ENTRIES.move_to_end((key, digest))
        return entry.truth
    truth = compute()
    size = _OF_A_TRUTH + _OF_ITS_NUMBER * _numbers_of(truth) + size_of((truth.args, truth.kwargs))
    if size <= LARGEST:
        _ENTRIES.add((key, digest), _Remembered(want, truth, size))
    return truth


def remember_outcome(truth: Truth, mistakes: tuple[Any, ...], outcome: Any, another: Truth | None) -> None:
    """Keep what mistakes give on the inputs of a truth, if that is remembered and there is room."""
    entry = _ENTRIES.of_truth.get(id(truth))
    size = _OF_NO_ANSWER if another is None else _OF_AN_ANSWER + _OF_A_NUMBER * _numbers_of(another)
    room = MOST_BYTES * (1 if len(mistakes) == 1 else _FOR_PAIRS) - _ENTRIES.bytes
    if entry is not None and size <= min(room, LARGEST_OUTCOME):
        truth.outcomes[mistakes] = outcome
        entry.bytes += size
        _ENTRIES.bytes += size


def _numbers_of(truth: Truth) -> int:
    return sum(leaf.numel() for leaf in truth.leaves)


def _digest(inputs: Any) -> bytes | None:
    """A digest of all that plain inputs hold; None when one of them is not plain."""
    digest = hashlib.blake2b(digest_size=16)
    for path, leaf in flatten(inputs):
        digest.update(repr(path).encode())
        if isinstance(leaf, torch.Tensor):
            digest.update(f"{leaf.dtype}{tuple(leaf.shape)}".encode())
            digest.update(leaf.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        elif isinstance(leaf, np.ndarray):
            digest.update(f"{leaf.dtype}{leaf.shape}".encode() + leaf.tobytes())
        elif leaf is None or type(leaf) in (bool, int, float, complex, str, torch.dtype):
            digest.update(f"{type(leaf).__name__}{leaf!r}".encode())
        else:
            return None
    return digest.digest()

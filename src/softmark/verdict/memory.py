"""Truths are remembered per case: its hidden inputs are the same for every submission, so what is right is, too.

An entry is found again only by the case's id, the kind of the check, the very same reference function, and a digest of
every byte of its inputs. A reference with state (a module, a bound method, a closure) is never
remembered, nor is anything in a case without an id.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from softmark.verdict.leaves import flatten

if TYPE_CHECKING:
    from softmark.verdict.truth import Truth

MOST = 4096
LARGEST = 1 << 16
"""Truths of more numbers than this are not remembered."""

Key = tuple[str, str]
"""The case's id, and what is remembered of the check."""

_ENTRIES: OrderedDict[tuple[Key, bytes], tuple[Any, Truth]] = OrderedDict()
"""The most recently used truths, each with the reference that it is of."""


def remembered(key: Key, want: Any, inputs: Any, compute: Callable[[], Truth]) -> Truth:
    """The truth of a reference for these inputs: remembered where that is safe, computed otherwise."""
    digest = _digest(inputs) if key[0] and type(want) is FunctionType and not want.__closure__ else None
    if digest is None:
        return compute()
    entry = _ENTRIES.get((key, digest))
    if entry is not None and entry[0] is want:
        _ENTRIES.move_to_end((key, digest))
        return entry[1]
    truth = compute()
    if sum(leaf.numel() for leaf in truth.leaves) <= LARGEST:
        _ENTRIES[key, digest] = (want, truth)
        while len(_ENTRIES) > MOST:
            _ENTRIES.popitem(last=False)
    return truth


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

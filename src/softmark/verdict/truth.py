"""The truth of a check: the reference in float64 on the inputs in float64, with its noise. Remembered per case.

The hidden inputs of a case are the same for every submission, so the truth is, too. An entry is found again only by the
case's id, the position of the check in the case, the very same reference function and a digest of every input's bytes;
a reference with state (a module, a bound method, a closure) is never remembered.
"""

from __future__ import annotations

import copy
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
import torch

from softmark.verdict.leaves import flatten, is_numeric, map_tensors, tensor_of, tensors_in
from softmark.verdict.noise import default_float64, noise
from softmark.verdict.plant import instead
from softmark.verdict.tolerance import Level, plain_noise, tolerance

_REMEMBERED = 4096
_LARGEST = 1 << 16
"""Truths of more elements than this are not remembered."""


@dataclass(frozen=True)
class Truth:
    """The expected value; `leaves` are its numeric leaves in float64 (or int, bool), in order."""

    value: Any
    leaves: tuple[torch.Tensor, ...]
    coarsest_input: torch.dtype = torch.float64
    want: Callable[..., Any] | None = None
    """The reference, when the truth was computed; `args` and `kwargs` are copies of what it was called with."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    like: Truth | None = None
    """A truth whose noise this one has, too, where the shapes are the same."""
    _noises: dict[float, list[torch.Tensor]] = field(default_factory=dict)
    _tolerances: dict[Level, list[torch.Tensor]] = field(default_factory=dict)

    def tolerance(self, level: Level, leaf: int) -> torch.Tensor:
        """The tolerance of one leaf for answers of a level; the noise is measured on first use."""
        if level not in self._tolerances:
            noises = self.noise(level.roundoff)
            self._tolerances[level] = [
                tolerance(level, true, seen) for true, seen in zip(self.leaves, noises, strict=True)
            ]
        return self._tolerances[level][leaf]

    def noise(self, roundoff: float) -> list[torch.Tensor]:
        if roundoff not in self._noises:
            self._noises[roundoff] = self._measured(roundoff)
        return self._noises[roundoff]

    def replaced(self, value: Any) -> Truth:
        """Another expected value for the same inputs, judged with the noise of this one."""
        return Truth(value, _wide_leaves(value), self.coarsest_input, like=self)

    def _measured(self, roundoff: float) -> list[torch.Tensor]:
        if self.want is not None:
            compute = instead(in_float64(self.want), ())
            args, kwargs = to_float64((self.args, self.kwargs))
            return noise(compute, args, kwargs, roundoff, numeric_leaves, list(self.leaves))
        known = self.like.noise(roundoff) if self.like else []
        if [seen.shape for seen in known] == [leaf.shape for leaf in self.leaves]:
            return known
        return [plain_noise(roundoff, leaf) for leaf in self.leaves]


def numeric_leaves(value: Any) -> list[torch.Tensor]:
    return [tensor_of(leaf) for _, leaf in flatten(value) if is_numeric(leaf)]


def _wide_leaves(value: Any) -> tuple[torch.Tensor, ...]:
    return tuple(_widened(leaf) for leaf in numeric_leaves(value))


def to_float64(value: Any) -> Any:
    """A copy of the value with every floating tensor in float64, which is exact."""
    return map_tensors(value, lambda tensor: _widened(tensor).clone())


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


def coarsest(inputs: Any) -> torch.dtype:
    """The least precise floating dtype among the inputs."""
    precision = {torch.bfloat16: 0, torch.float16: 1, torch.float32: 2, torch.float64: 3}
    dtypes = [tensor.dtype for tensor in tensors_in(inputs) if tensor.dtype in precision]
    return min(dtypes, key=precision.__getitem__, default=torch.float64)


def given(value: Any) -> Truth:
    """A truth that the test states as a value."""
    return Truth(value, _wide_leaves(value), coarsest(value))


def computed(want: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Truth:
    """The reference's answer. Its own failure is the grader's, so it is let through as it is."""
    own_args, own_kwargs = map_tensors((args, kwargs), lambda tensor: tensor.detach().clone())
    wide_args, wide_kwargs = to_float64((args, kwargs))
    with default_float64():
        value = in_float64(want)(*wide_args, **wide_kwargs)
    return Truth(value, _wide_leaves(value), coarsest((args, kwargs)), want, own_args, own_kwargs)


def in_float64(want: Callable[..., Any]) -> Callable[..., Any]:
    """The reference itself, or a float64 copy of the module it belongs to."""
    owner = getattr(want, "__self__", want)
    if not isinstance(owner, torch.nn.Module):
        return want
    if all(p.dtype is torch.float64 for p in [*owner.parameters(), *owner.buffers()] if p.is_floating_point()):
        return want
    wide = copy.deepcopy(owner).double()
    if owner is want:
        return wide
    method: Callable[..., Any] = getattr(wide, want.__name__)
    return method


class _Memory:
    """The most recently used truths."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Any, tuple[Any, Truth]] = OrderedDict()

    def find(self, key: Any, want: Any) -> Truth | None:
        entry = self._entries.get(key)
        if entry is None or entry[0] is not want:
            return None
        self._entries.move_to_end(key)
        return entry[1]

    def keep(self, key: Any, want: Any, truth: Truth) -> None:
        if sum(leaf.numel() for leaf in truth.leaves) > _LARGEST:
            return
        self._entries[key] = (want, truth)
        while len(self._entries) > _REMEMBERED:
            self._entries.popitem(last=False)


_MEMORY = _Memory()


def truth_of(want: Any, args: tuple[Any, ...], kwargs: dict[str, Any], case_id: str = "", position: int = 0) -> Truth:
    """The truth of a check, remembered when the case has an id and the reference is a plain function."""
    if not callable(want):
        return given(want)
    if not case_id or type(want) is not FunctionType or want.__closure__:
        return computed(want, args, kwargs)
    digest = _digest((args, kwargs))
    if digest is None:
        return computed(want, args, kwargs)
    key = (case_id, position, digest)
    found = _MEMORY.find(key, want)
    if found is None:
        found = computed(want, args, kwargs)
        _MEMORY.keep(key, want, found)
    return found


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

"""Computes the answer that a check expects: the reference in float64, with noise and tolerance.

The inputs of a hidden test are the same for every submission, and so is everything that does not depend on the student:
the reference's value, its noise, the tolerance, and the answers of named mistakes (answers.py). It is computed once and
kept.

A kept value is found again by the test's id, the kind of the check, the same reference, and a digest of every byte of
the inputs. The same reference means the same function object, or a module of the same types whose weights and settings
have the same digest. For closures and objects of other kinds, values are computed anew each time.

Bytes are counted, roughly. Beyond `MOST_BYTES` the values that were not used for longest are forgotten.
"""

from __future__ import annotations

import copy
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any
from weakref import ReferenceType

import numpy as np
import torch

from softmark.verdict.answers import Answers
from softmark.verdict.callee import Lent
from softmark.verdict.plant import instead
from softmark.verdict.tolerance import DOUBLE, FREE, Precision, default_float64, level_of, noise, plain_noise, tolerance
from softmark.verdict.values import flatten, is_numeric, leaves_in, map_tensors, size_of, tensor_of, tensors_in

MOST_BYTES = 128_000_000
LARGEST = 2_000_000
"""An expected value of more bytes than this is not kept."""
FOR_ANSWERS = 0.75
"""Answers of mistakes are kept only while everything together takes less than this share of `MOST_BYTES`."""
_OF_ONE, _OF_ITS_NUMBER = 6_000, 32
"""Bytes of an expected value without its numbers, and of a number with its noise and its tolerance."""


@dataclass(eq=False)
class Expected:
    """An expected value; `leaves` are its numeric leaves in float64 (or int, bool), in order."""

    value: Any
    leaves: tuple[torch.Tensor, ...]
    coarsest_input: torch.dtype = torch.float64
    want: Callable[..., Any] | None = None
    """The reference, when the value was computed; `args` and `kwargs` are copies of what it was called with."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    own_precision: bool = False
    """True if no input of the reference was a floating-point number, so that the student's function chooses its
    precision."""
    like: Expected | None = None
    """An expected value whose noise this one has, too, where the shapes are the same."""
    answers: Answers = field(default_factory=Answers, repr=False)
    """The answers of mistakes on the same inputs, as far as they were tried."""
    frames: dict[Hashable, bytes] = field(default_factory=dict, repr=False)
    """The packed questions of the check, as far as they were asked when it was repeated."""
    place: MemoryKey | None = field(default=None, repr=False)
    """The place where it is kept; None if it is not kept."""
    _noises: dict[float, list[torch.Tensor]] = field(default_factory=dict, repr=False)
    _tolerances: dict[Precision, list[torch.Tensor]] = field(default_factory=dict, repr=False)

    @cached_property
    def size(self) -> int:
        """The bytes of the value (`values.size_of`)."""
        return size_of(self.value)

    def level(self, answer: torch.dtype) -> Precision:
        """Return how an answer of this precision is judged."""
        level = level_of(answer, self.coarsest_input)
        return FREE if self.own_precision and level is DOUBLE else level

    def tolerance(self, level: Precision, leaf: int) -> torch.Tensor:
        """Return the tolerance of one leaf for answers of a level; the noise is measured on first use."""
        if level not in self._tolerances:
            noises = self.noise(level.roundoff)
            self._tolerances[level] = [
                tolerance(level, true, seen) for true, seen in zip(self.leaves, noises, strict=True)
            ]
        return self._tolerances[level][leaf]

    def noise(self, roundoff: float) -> list[torch.Tensor]:
        """Return the noise of each leaf for a precision; it is measured on first use."""
        if roundoff not in self._noises:
            self._noises[roundoff] = self._measured(roundoff)
        return self._noises[roundoff]

    def packed(self, key: Hashable, pack: Callable[[], bytes]) -> bytes:
        """Return a packed question about these inputs. It is kept if there is room."""
        frame = self.frames.get(key)
        if frame is None:
            frame = pack()
            if make_room(self, len(frame)):
                self.frames[key] = frame
        return frame

    def replaced(self, value: Any) -> Expected:
        """Return another expected value for the same inputs, judged with the noise of this one."""
        return Expected(value, _wide_leaves(value), self.coarsest_input, own_precision=self.own_precision, like=self)

    def _measured(self, roundoff: float) -> list[torch.Tensor]:
        if self.want is not None:
            compute = instead(in_float64(self.want), ())
            args, kwargs = to_float64((self.args, self.kwargs))
            return noise(compute, args, kwargs, roundoff, numeric_leaves, list(self.leaves))
        known = self.like.noise(roundoff) if self.like else []
        if [seen.shape for seen in known] == [leaf.shape for leaf in self.leaves]:
            return known
        return [plain_noise(roundoff, leaf) for leaf in self.leaves]


def expected_for(want: Any, args: tuple[Any, ...], kwargs: dict[str, Any], test_id: str = "") -> Expected:
    """Return what a check expects of a reference function, or of a value, for these arguments."""
    if isinstance(want, Expected):
        return want
    if not callable(want):
        return stated(want)
    return kept((test_id, "value"), want, (args, kwargs), lambda want: computed(want, args, kwargs))


def stated(value: Any, inputs: Any = None) -> Expected:
    """Return what a test states as a value; `inputs` are those of the call that it answers, if they are known."""
    own_precision = inputs is not None and not _precisions(inputs)
    return Expected(value, _wide_leaves(value), coarsest(value), own_precision=own_precision)


def computed(want: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Expected:
    """Return the reference's answer. An exception of the reference is the grader's fault, so it is not caught."""
    own_args, own_kwargs = map_tensors((args, kwargs), lambda tensor: tensor.detach().clone())
    wide_args, wide_kwargs = to_float64((args, kwargs))
    with default_float64():
        value = in_float64(want)(*wide_args, **wide_kwargs)
    return Expected(
        value,
        _wide_leaves(value),
        coarsest((args, kwargs)),
        want,
        own_args,
        own_kwargs,
        own_precision=not _precisions((args, kwargs)),
    )


def numeric_leaves(value: Any) -> list[torch.Tensor]:
    """Return the leaves of an answer that hold numbers, in order."""
    return [tensor_of(leaf) for leaf in leaves_in(value) if is_numeric(leaf)]


def _wide_leaves(value: Any) -> tuple[torch.Tensor, ...]:
    return tuple(_widened(leaf) for leaf in numeric_leaves(value))


def to_float64(value: Any) -> Any:
    """Return a copy of the value with every floating tensor in float64, which is exact."""
    return map_tensors(value, lambda tensor: _widened(tensor).clone())


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


_PRECISION = {torch.bfloat16: 0, torch.float16: 1, torch.float32: 2, torch.float64: 3}


def _precisions(inputs: Any) -> list[torch.dtype]:
    return [tensor.dtype for tensor in tensors_in(inputs) if tensor.dtype in _PRECISION]


def coarsest(inputs: Any) -> torch.dtype:
    """Return the least precise floating dtype among the inputs."""
    return min(_precisions(inputs), key=_PRECISION.__getitem__, default=torch.float64)


def has_weights(want: Callable[..., Any]) -> bool:
    """Return whether a reference is a module or a method of one, so that its weights fix the dtype of its inputs."""
    return isinstance(getattr(want, "__self__", want), torch.nn.Module)


def in_float64(want: Callable[..., Any]) -> Callable[..., Any]:
    """Return the reference itself, or a float64 copy of the module it belongs to."""
    owner = getattr(want, "__self__", want)
    if not isinstance(owner, torch.nn.Module):
        return want
    if all(p.dtype is torch.float64 for p in [*owner.parameters(), *owner.buffers()] if p.is_floating_point()):
        return want
    return _of(want, copy.deepcopy(owner).double())


def _of(want: Callable[..., Any], owner: torch.nn.Module) -> Callable[..., Any]:
    """Return a module in the place of the one that `want` is or belongs to."""
    if isinstance(want, torch.nn.Module):
        return owner
    method: Callable[..., Any] = getattr(owner, want.__name__)
    return method


CheckKey = tuple[str, str]
"""The test's id, and the kind of the check."""
MemoryKey = tuple[CheckKey, Any, bytes]
"""The place of a kept value: its key, the identity of the reference, and the digest of the inputs."""


@dataclass
class _Memory:
    """The kept values, the one used last at the end."""

    entries: OrderedDict[MemoryKey, Expected] = field(default_factory=OrderedDict)
    sizes: dict[int, int] = field(default_factory=dict)
    """Bytes of each, by its id."""
    bytes: int = 0

    def find(self, place: MemoryKey) -> Expected | None:
        """Return the value that is kept at a place, and note that it was used; None if there is none."""
        expected = self.entries.get(place)
        if expected is not None:
            self.entries.move_to_end(place)
        return expected

    def add(self, place: MemoryKey, expected: Expected, size: int) -> None:
        self.entries[place] = expected
        expected.place = place
        self.sizes[id(expected)] = size
        self.bytes += size
        while self.bytes > MOST_BYTES:
            _, forgotten = self.entries.popitem(last=False)
            self.bytes -= self.sizes.pop(id(forgotten))
            forgotten.answers, forgotten.frames, forgotten.place = Answers(), {}, None

    def make_room(self, expected: Expected, size: int) -> bool:
        """Return whether a value is kept and has room for so many bytes more; count them if so."""
        if id(expected) not in self.sizes or self.bytes + size > FOR_ANSWERS * MOST_BYTES:
            return False
        self.sizes[id(expected)] += size
        self.bytes += size
        return True


_MEMORY = _Memory()
make_room = _MEMORY.make_room
find = _MEMORY.find


def bytes_kept() -> int:
    """Return how many bytes are kept, roughly."""
    return _MEMORY.bytes


def kept(key: CheckKey, want: Any, inputs: Any, compute: Callable[[Any], Expected]) -> Expected:
    """Return the expected value of a reference for these inputs: a kept one where that is safe, else computed."""
    reference = _identity(want) if key[0] else None
    digest = _digest(inputs) if reference is not None else None
    if digest is None:
        return compute(_copied(want))
    place = (key, reference, digest)
    known = find(place)
    if known is not None:
        return known
    expected = compute(_copied(want))
    numbers = sum(leaf.numel() for leaf in expected.leaves)
    size = _OF_ONE + _OF_ITS_NUMBER * numbers + size_of((expected.args, expected.kwargs))
    if size <= LARGEST:
        _MEMORY.add(place, expected, size)
    return expected


def _copied(want: Any) -> Any:
    """Return the reference, or a copy of the module that it belongs to: the test may change its own afterwards."""
    owner = getattr(want, "__self__", want)
    return _of(want, copy.deepcopy(owner)) if isinstance(owner, torch.nn.Module) else want


def _identity(want: Any) -> Any:
    """Return all that two references with the same answers have in common; None if that is not known."""
    if type(want) is FunctionType:
        return None if want.__closure__ else want
    owner = getattr(want, "__self__", want) if isinstance(want, MethodType) else want
    if not isinstance(owner, torch.nn.Module):
        return None
    types = tuple((name, type(module), module.training) for name, module in owner.named_modules())
    state = _digest([list(_state(module)) for module in owner.modules()])
    return None if state is None else (types, getattr(want, "__name__", ""), state)


_BY_NAME = ("_parameters", "_buffers")


def _state(module: torch.nn.Module) -> Iterator[Any]:
    """Yield all that an object of a module's class holds, except the modules inside it."""
    for name, value in vars(module).items():
        if name in _BY_NAME:
            yield {key: None if tensor is None else tensor.detach() for key, tensor in value.items()}
        elif name != "_modules" and not (isinstance(value, dict | set) and not value):  # empty dicts of hooks
            yield {name: value}


def _digest(inputs: Any) -> bytes | None:
    """Return a digest of all that plain inputs hold; None when one of them is not plain."""
    digest = hashlib.blake2b(digest_size=16)
    numbers: dict[int, int] = {}
    for path, leaf in flatten(inputs):
        digest.update(repr(path).encode())
        if isinstance(leaf, ReferenceType):
            leaf = leaf()  # a recurrent module of torch's refers to its own parameters once more
        if isinstance(leaf, torch.Tensor):
            # One tensor in two places has other gradients than two tensors with the same numbers.
            number = numbers.setdefault(id(leaf), len(numbers))
            digest.update(f"{number}{leaf.dtype}{tuple(leaf.shape)}".encode())
            digest.update(leaf.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
        elif isinstance(leaf, np.ndarray):
            digest.update(f"{leaf.dtype}{leaf.shape}".encode() + leaf.tobytes())
        elif leaf is None or type(leaf) in (bool, int, float, complex, str, bytes, torch.dtype):
            digest.update(f"{type(leaf).__name__}{leaf!r}".encode())
        elif isinstance(leaf, Lent) and type(leaf.function) is FunctionType and not leaf.function.__closure__:
            # What is kept holds its inputs, so no other function gets the same id meanwhile.
            digest.update(f"lent {id(leaf.function)} {leaf.calls}".encode())
        else:
            return None
    return digest.digest()

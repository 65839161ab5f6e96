"""Draws calls of a function in the forms in which hidden tests call it: with other numbers, at other sizes.

A size that stands in several places of a call is replaced in all of them, its multiples too, so that the arguments go
on fitting each other. The reference says whether they do. Large sizes are drawn once: they take most of the time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from softmark.authoring.drawn_words import has_words, varied
from softmark.authoring.facts import Facts

_SIZES = (1, 2, 3, 4, 5, 7)
_LARGE = 100.0


@dataclass(frozen=True)
class DrawnCall:
    """A call with its numbers: how the module is made, if there is one, and the arguments."""

    made: dict[str, Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    train: bool
    weights: torch.dtype
    """The precision of the module's weights."""
    seed: int

    @property
    def shapes(self) -> str:
        """Return the arguments in words: the shapes of tensors, and other values as they are."""
        named = {**self.made, **{str(place): value for place, value in enumerate(self.args, 1)}, **self.kwargs}
        return ", ".join(f"{name}: {_words(value)}" for name, value in named.items())


def _words(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    return "…" if isinstance(value, list | tuple | dict) else repr(value)


@dataclass
class CallSource:
    """Draws calls in the forms that were recorded of one function. The same seed gives the same calls."""

    forms: Sequence[Facts]
    seed: int
    _random: random.Random = field(init=False)
    _generator: torch.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._generator = torch.Generator().manual_seed(self.seed)

    def calls(self) -> Iterator[DrawnCall]:
        """Yield calls without an end: as they were recorded, at other sizes, in float32, with large numbers."""
        number = 0
        while self.forms:
            for form in self.forms:
                yield self._drawn(form, number)
            number += 1

    def _drawn(self, form: Facts, number: int) -> DrawnCall:
        if has_words([*form["args"], *form["kwargs"].values()]):
            return self._drawn_words(form, number)
        sizes = sorted(set(_sizes(form)))
        large_sizes = [size for size in sizes if size > _SIZES[-1]] if number else []
        new = {size: self._random.choice(_SIZES) for size in large_sizes}
        for _ in range(number % 3 if sizes else 0):
            new[self._random.choice(sizes)] = self._random.choice(_SIZES)
        single, large = number % 4 == 1, number % 5 == 2
        numbers = _Numbers(self._generator, new, _may_block(self.forms), single, _LARGE if large else 1.0)
        made = numbers.of(form["made"])
        args = tuple(numbers.of(value) for value in form["args"])
        kwargs = {name: numbers.of(value) for name, value in form["kwargs"].items()}
        weights = torch.float32 if single else _dtype(form["weights"] or "torch.float64")
        if number % 7 == 6:
            weights = torch.float64  # whatever the inputs are
        return DrawnCall(made, args, kwargs, form["train"], weights, self._random.getrandbits(31))

    def _drawn_words(self, form: Facts, number: int) -> DrawnCall:
        """Return a call of texts, lists and dictionaries; the first of each form is as it was recorded."""
        values = _Numbers(self._generator, {}, False, False, 1.0)

        def of(inner: Facts) -> Any:
            return values.of(varied(inner, self._random) if number else inner)

        args = tuple(of(inner) for inner in form["args"])
        kwargs = {name: of(inner) for name, inner in form["kwargs"].items()}
        return DrawnCall({}, args, kwargs, form["train"], torch.float64, self._random.getrandbits(31))


def _sizes(form: Any) -> Iterator[int]:
    """Yield each number of a form that may be a size: lengths of axes, and whole numbers."""
    if isinstance(form, dict):
        if "shape" in form:
            yield from (size for size in form["shape"] if size > 0)
        elif "plain" in form:
            value = form["plain"]
            if type(value) is int and value > 0:
                yield value
        else:
            for inner in form.values():
                yield from _sizes(inner)
    elif isinstance(form, list):
        for inner in form:
            yield from _sizes(inner)


def _may_block(forms: Any) -> bool:
    """Return whether some recorded mask has a row without a True."""
    if isinstance(forms, dict):
        return forms.get("blocked") is True or any(_may_block(inner) for inner in forms.values())
    return isinstance(forms, list | tuple) and any(_may_block(inner) for inner in forms)


def _dtype(name: str) -> torch.dtype:
    found = getattr(torch, name.removeprefix("torch."))
    assert isinstance(found, torch.dtype)
    return found


@dataclass
class _Numbers:
    """Makes the values of one call from their forms."""

    generator: torch.Generator
    new: dict[int, int]
    """The new size for each size that is replaced."""
    may_block: bool
    single: bool
    factor: float
    tensors: list[torch.Tensor] = field(default_factory=list)

    def of(self, form: Facts) -> Any:
        """Return a value in this form."""
        if "same" in form:
            return self.tensors[form["same"]]
        if "shape" in form:
            self.tensors.append(self._tensor(form, [self._size(size) for size in form["shape"]]))
            return self.tensors[-1]
        if "bytes" in form:
            return form["bytes"].encode("latin-1")
        if "entries" in form:
            return {self.of(key): self.of(inner) for key, inner in form["entries"]}
        if "dict" in form:
            return {key: self.of(inner) for key, inner in form["dict"].items()}
        for kind in (list, tuple):
            if kind.__name__ in form:
                return kind(self.of(inner) for inner in form[kind.__name__])
        if "function" in form:
            return getattr(torch, form["function"])
        value = form["plain"]
        return self._size(value) if type(value) is int else value

    def _size(self, size: int) -> int:
        for old, new in self.new.items():
            if size == old or (old > 1 and size > 0 and size % old == 0):
                return size // old * new
        return size

    def _tensor(self, form: Facts, shape: list[int]) -> torch.Tensor:
        dtype = _dtype(form["dtype"])
        if dtype is torch.bool:
            return self._mask(shape)
        if not dtype.is_floating_point:
            low, high = form.get("range", (0, 0))
            for old, new in self.new.items():
                if high <= old:  # a length or an index: it stays within its axis
                    high = min(high, new - (high < old))
            return torch.randint(min(low, high), high + 1, shape, generator=self.generator, dtype=dtype)
        dtype = torch.float32 if self.single else dtype
        factor = self.factor if dtype is torch.float64 else 1.0  # large numbers in float32 differ by rounding alone
        scale = factor * max(form["scale"] / 2, 0.1)
        numbers: torch.Tensor = scale * torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return numbers.to(dtype)

    def _mask(self, shape: list[int]) -> torch.Tensor:
        numbers = torch.rand(shape, generator=self.generator)
        mask = numbers < 0.6
        if not self.may_block and shape and mask.numel():
            mask.scatter_(-1, numbers.argmin(dim=-1, keepdim=True), True)
        return mask

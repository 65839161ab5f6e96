"""Makes inputs of a hidden test: random tensors by the names of their axes, token ids, masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import torch

from softmark.verdict.context import current_test
from softmark.verdict.values import map_tensors

Sizes = int | tuple[int, ...]


@overload
def draw(spec: str, /, *, dtype: torch.dtype = ..., **sizes: Sizes) -> torch.Tensor: ...
@overload
def draw(
    first: str, second: str, /, *more: str, dtype: torch.dtype = ..., **sizes: Sizes
) -> tuple[torch.Tensor, ...]: ...


def draw(*specs: str, dtype: torch.dtype = torch.float64, **sizes: Sizes) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Return standard normal tensors: `q, k = draw("n d_k", "m d_k", n=5, m=7, d_k=3)`.

    A name whose size is a tuple spreads over that many axes, none for `()`: `draw("batch n d", batch=(2, 3), …)`.
    One spec gives a tensor, several a tuple. The numbers depend on the case's seed and on the order of the draws only.
    """
    if not specs:
        raise TypeError('draw needs at least one spec, such as "n d"')
    generator = current_test().generator
    tensors = tuple(
        torch.randn(_shape(spec, sizes), generator=generator, dtype=torch.float64).to(dtype) for spec in specs
    )
    return tensors[0] if len(tensors) == 1 else tensors


def draw_integers(low: int, high: int, spec: str, /, **sizes: Sizes) -> torch.Tensor:
    """Return random integers from `low` to `high - 1`, such as token ids: `draw_integers(0, 11, "n T", n=2, T=5)`.

    The axes are named as for `draw`.
    """
    return torch.randint(low, high, _shape(spec, sizes), generator=current_test().generator)


def causal_mask(length: int) -> torch.Tensor:
    """Return the mask (length, length) that is True where a token may look: at itself and at earlier tokens."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def padding_mask(lengths: Sequence[int], length: int) -> torch.Tensor:
    """Return the mask (batch, 1, length) that is True at the first `lengths[b]` tokens of example b."""
    return torch.arange(length) < torch.tensor(lengths)[:, None, None]


def random_mask(*shape: int) -> torch.Tensor:
    """Return a random mask, True at about half of the places; each row has at least one True and one False."""
    if not shape or shape[-1] < 2:
        raise ValueError(f"random_mask{shape}: the last axis needs two places, one for True and one for False")
    content = draw("shape", shape=shape)
    mask = (content > 0).scatter(-1, content.argmax(dim=-1, keepdim=True), True)
    return mask.scatter(-1, content.argmin(dim=-1, keepdim=True), False)


def to_float32(value: Any) -> Any:
    """Return the value with each tensor of real numbers in float32; it may be nested in tuples, lists, dictionaries."""
    return map_tensors(value, lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)


def _shape(spec: str, sizes: dict[str, Sizes]) -> tuple[int, ...]:
    shape: list[int] = []
    for name in spec.split():
        if name.isdigit():
            shape.append(int(name))
        elif name not in sizes:
            known = ", ".join(sizes) or "none"
            raise TypeError(f'draw("{spec}"): no size is given for "{name}" (given: {known})')
        else:
            size = sizes[name]
            shape.extend(size if isinstance(size, tuple) else (size,))
    return tuple(shape)

"""Random inputs of a hidden test, by the names of their axes."""

from __future__ import annotations

from typing import overload

import torch

from softmark.verdict.context import current_test

Size = int | tuple[int, ...]


@overload
def draw(spec: str, /, *, dtype: torch.dtype = ..., **sizes: Size) -> torch.Tensor: ...
@overload
def draw(
    first: str, second: str, /, *more: str, dtype: torch.dtype = ..., **sizes: Size
) -> tuple[torch.Tensor, ...]: ...


def draw(*specs: str, dtype: torch.dtype = torch.float64, **sizes: Size) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Standard normal tensors: `q, k = draw("n d_k", "m d_k", n=5, m=7, d_k=3)`.

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


def _shape(spec: str, sizes: dict[str, Size]) -> tuple[int, ...]:
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

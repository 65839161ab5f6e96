"""Measures the noise of a computation, and decides the tolerance: how far an answer may be from the truth.

**Noise.** The reference is run again with every number that it makes rounded at random. A single run in float32 is not
enough. Its error is zero by luck in one element and typical in the next, and it says nothing about an implementation
that adds in another order: correct answers erred by up to 285 times this error. Monte Carlo arithmetic is better. In
float64, the inputs and the result of every operation are changed by a random relative amount of the size of the
precision's rounding. The largest change in a few runs depends on the conditioning of each element: it is large where
values cancel, and zero where a value is zero by construction, such as a blocked weight. Correct implementations err by
less than 4 times this noise. Poorly conditioned ones (log-space softmax, the variance as a difference of means) err by
up to 40 times this noise. `tests/verdict/test_tolerance.py` shows that with real implementations.

**Tolerance.** For each element, tolerance = factor · noise + dust · (largest value).

* An answer in float64 is judged against the noise of float32: a constant made without a dtype (`torch.zeros(n, d)`,
  `torch.sqrt(torch.tensor(d_k))`) is float32 in a float64 computation, and no part is about that mistake.
* Correct answers, even if they are computed in float32 throughout, err by at most 4 times the noise, some 1e-7 of the
  values. Mistakes change values by percents. The factor 512 keeps a distance of at least 100 from both. In half
  precision only half a decade lies between the two, so no factor keeps such distances: correct code needs 10.
* Dust is the tolerance of a value that is exactly zero and has no noise, such as a blocked weight: a few roundings of
  the answer's own precision at the scale of the largest value. In float64 it is 6e-14. So a leak of 1e-6, or of 4e-5
  from a fill value of -10, is wrong, and a zero from solving equations or from a Fourier transform is right. A
  demand for exact zeros would fail these, and would find little more: a fill value of -100 leaks 4e-44, or visibly if
  the scores of a test are far apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from softmark.verdict.values import map_tensors

RUNS = 4
_POOL = 1 << 15
_MOVES = {
    *("cat", "stack", "clone", "_to_copy", "copy_", "fill_", "zero_", "flip", "roll", "repeat", "tril", "triu"),
    *("gather", "index", "index_put", "index_put_", "index_select", "embedding", "take", "scatter", "scatter_"),
    *("masked_fill", "masked_fill_", "masked_select", "where", "constant_pad_nd", "sort", "topk"),
    *("abs", "neg", "relu", "clamp", "amax", "amin", "max", "min", "maximum", "minimum"),
}
"""Operations that move numbers, choose among them or change their sign. They round nothing."""


@contextmanager
def default_float64() -> Iterator[None]:
    """Make new constants float64 inside this block, so that the reference's own constants are exact."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def noise(
    compute: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    roundoff: float,
    collect: Callable[[Any], list[torch.Tensor]],
    truth: list[torch.Tensor],
) -> list[torch.Tensor]:
    """Return the largest change over a few rounded runs, for each tensor that `collect` takes from the result."""
    largest = [torch.zeros(leaf.shape, dtype=torch.float64) for leaf in truth]
    for run in range(RUNS):
        rounding = _Rounding(roundoff, run)
        rounded_args, rounded_kwargs = map_tensors((args, kwargs), rounding.of_input)
        with default_float64(), rounding:
            value = compute(*rounded_args, **rounded_kwargs)
        for seen, leaf, true in zip(largest, collect(value), truth, strict=True):
            if not (leaf.is_floating_point() or leaf.is_complex()):
                continue  # integers and booleans are not rounded
            change = (leaf - true).abs()
            torch.maximum(seen, change.nan_to_num_(0.0, 0.0, 0.0), out=seen)
    return largest


class _Rounding(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Changes every float64 number that an operation makes by a random relative amount of about `roundoff`."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled here. The default would import torch's compiler for a second."""
        return False

    def __init__(self, roundoff: float, run: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.factors = _factors(roundoff)
        self.at = run * 4093

    def of_input(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a rounded copy. Zeros and ones stay, because the reference may use them as flags.

        Other numbers are changed even if a coarse precision holds them exactly: scores of 1000 are exact, but their
        log-sum-exp is not.
        """
        copy = tensor.detach().clone()
        if copy.dtype is torch.float64 and copy.numel():
            copy = torch.where((copy == 0) | (copy.abs() == 1), copy, self._rounded(copy))
        return copy.requires_grad_(tensor.requires_grad)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if _makes_numbers(func):
            for tensor in out if isinstance(out, tuple | list) else (out,):
                if isinstance(tensor, torch.Tensor) and tensor.dtype is torch.float64 and tensor.numel():
                    tensor.mul_(self._next(tensor))
        return out

    def _rounded(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * self._next(tensor)

    def _next(self, tensor: torch.Tensor) -> torch.Tensor:
        count = tensor.numel()
        if count >= _POOL:
            return self.factors.repeat(-(-count // _POOL))[:count].view(tensor.shape)
        self.at = (self.at + 1009) % (_POOL - count)
        return self.factors[self.at : self.at + count].view(tensor.shape)


@cache
def _makes_numbers(func: Any) -> bool:
    """Return whether an operation computes numbers. Views and moves do not, and factories (ones, arange) are exact."""
    schema = func._schema
    if schema.name.partition("::")[2] in _MOVES:
        return False
    takes_tensor = any("Tensor" in str(argument.type) for argument in schema.arguments)
    is_view = any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns)
    return takes_tensor and not is_view


@cache
def _factors(roundoff: float) -> torch.Tensor:
    """Return factors 1 ± roundoff · (0.5 … 1.5), so that none is nearly 1, and two of them seldom cancel exactly."""
    generator = torch.Generator().manual_seed(0)
    sizes = 0.5 + torch.rand(_POOL, generator=generator, dtype=torch.float64)
    signs = torch.randint(0, 2, (_POOL,), generator=generator) * 2 - 1
    return 1 + roundoff * sizes * signs


@dataclass(frozen=True, slots=True)
class Precision:
    """The settings for judging answers of one precision."""

    dtype: torch.dtype
    roundoff: float
    """The relative rounding of the noise that answers are judged against."""
    factor: float
    dust: float
    """In units of the largest expected value."""


DOUBLE = Precision(torch.float64, 2.0**-24, 512.0, 2.0**-44)
SINGLE = Precision(torch.float32, 2.0**-24, 512.0, 2.0**-21)
FREE = Precision(torch.float64, 2.0**-24, 512.0, SINGLE.dust)
"""For answers made from sizes only: they may have been computed in float32 and widened, or by solving equations."""
HALF = Precision(torch.float16, 2.0**-11, 10.0, 2.0**-10)
BRAIN = Precision(torch.bfloat16, 2.0**-8, 10.0, 2.0**-7)

_LEVELS = {level.dtype: level for level in (DOUBLE, SINGLE, HALF, BRAIN)}
_LEVELS[torch.complex128] = DOUBLE
_LEVELS[torch.complex64] = SINGLE

NOTHING = 1e-300
"""Added to every tolerance, so that a zero error over a zero tolerance is a number."""


def level_of(answer: torch.dtype, coarsest_input: torch.dtype) -> Precision:
    """Return the precision by which an answer is judged: its own, or that of its inputs if that is coarser."""
    own, inputs = _LEVELS.get(answer, DOUBLE), _LEVELS.get(coarsest_input, DOUBLE)
    return inputs if inputs.roundoff > own.roundoff else own


def _size(truth: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Return the size of each finite element, and the largest size."""
    size = (truth if truth.is_complex() else truth.to(torch.float64)).abs().nan_to_num_(0.0, 0.0, 0.0)
    return size, float(size.max()) if size.numel() else 0.0


def tolerance(level: Precision, truth: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Return how far each element of an answer may be off."""
    size, scale = _size(truth)
    return within(level, size, scale, noise)


def within(level: Precision, size: torch.Tensor, scale: float | torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Return how far numbers of these sizes may be off; `scale` is the largest number of their leaf."""
    return noise.add(size, alpha=2 * level.roundoff).mul_(level.factor).add_(level.dust * scale + NOTHING)


def plain_noise(roundoff: float, truth: torch.Tensor) -> torch.Tensor:
    """Return the noise of a value whose computation is not known: a rounding at its scale, and none at exact zeros."""
    size, scale = _size(truth)
    return torch.full(size.shape, roundoff * scale, dtype=torch.float64).masked_fill_(size == 0, 0.0)

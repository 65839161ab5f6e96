"""Decides the tolerance: how far an answer of a given precision may be from the truth, given the noise.

tolerance = factor · noise + dust · (largest value), element by element.

* An answer in float64 is judged against the noise of float32: one constant made without a dtype (`torch.zeros(n, d)`,
  `torch.sqrt(torch.tensor(d_k))`) is float32 in a float64 computation, and that is not a mistake of the part's subject.
* Correct answers, even if all of it is computed in float32, err by at most 4 times the noise, some 1e-7 of the values.
  Mistakes change values by percents. The factor 512 keeps a distance of at least 100 from both. In half precision
  only half a decade lies between the two, so no factor keeps such distances: 10 is what correct code needs.
* Dust is what is left where the truth is exactly zero and has no noise, as a blocked weight: a few roundings of the
  answer's own precision at the scale of the largest value. In float64 it is 6e-14, so that a leak of 1e-6, or of 4e-5
  from a fill value of -10, is wrong, while a zero found by solving equations or by a Fourier transform is a zero.
  Demanding an exact zero would fail those, and would find little more: a fill value of -100 leaks 4e-44 unless a test
  spreads its scores, and then it leaks visibly.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Precision:
    """The settings by which answers of one precision are judged."""

    dtype: torch.dtype
    roundoff: float
    """Relative rounding of the noise they are held against."""
    factor: float
    dust: float
    """In units of the largest true value."""


DOUBLE = Precision(torch.float64, 2.0**-24, 512.0, 2.0**-44)
SINGLE = Precision(torch.float32, 2.0**-24, 512.0, 2.0**-21)
FREE = Precision(torch.float64, 2.0**-24, 512.0, SINGLE.dust)
"""A table that is made of sizes only may have been made in float32 and widened, or found by solving equations."""
HALF = Precision(torch.float16, 2.0**-11, 10.0, 2.0**-10)
BRAIN = Precision(torch.bfloat16, 2.0**-8, 10.0, 2.0**-7)

_LEVELS = {level.dtype: level for level in (DOUBLE, SINGLE, HALF, BRAIN)}
_LEVELS[torch.complex128] = DOUBLE
_LEVELS[torch.complex64] = SINGLE

NOTHING = 1e-300
"""Keeps the ratio of a zero error to a zero tolerance a number."""


def level_of(answer: torch.dtype, coarsest_input: torch.dtype) -> Precision:
    """Return the precision that an answer is judged by: its own, or that of half-precision inputs if coarser."""
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
    """Return the noise of a value that comes without its computation: rounding at its scale, none at exact zeros."""
    size, scale = _size(truth)
    return torch.full(size.shape, roundoff * scale, dtype=torch.float64).masked_fill_(size == 0, 0.0)

"""The truth of a check: the reference in float64 on the inputs in float64, with its noise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from softmark.verdict.leaves import flatten, is_numeric, map_tensors, tensor_of, tensors_in
from softmark.verdict.memory import remembered
from softmark.verdict.noise import default_float64, noise
from softmark.verdict.plant import instead
from softmark.verdict.tolerance import DOUBLE, FREE, Precision, level_of, plain_noise, tolerance


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
    own_precision: bool = False
    """Whether the reference was called without any floating-point input, so that a function chooses its precision."""
    like: Truth | None = None
    """A truth whose noise this one has, too, where the shapes are the same."""
    outcomes: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What mistakes give on the same inputs, as far as it was found out (outcome.py)."""
    _noises: dict[float, list[torch.Tensor]] = field(default_factory=dict)
    _tolerances: dict[Precision, list[torch.Tensor]] = field(default_factory=dict)

    def level(self, answer: torch.dtype) -> Precision:
        """How an answer of this precision is judged."""
        level = level_of(answer, self.coarsest_input)
        return FREE if self.own_precision and level is DOUBLE else level

    def tolerance(self, level: Precision, leaf: int) -> torch.Tensor:
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
        return Truth(value, _wide_leaves(value), self.coarsest_input, own_precision=self.own_precision, like=self)

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


_PRECISION = {torch.bfloat16: 0, torch.float16: 1, torch.float32: 2, torch.float64: 3}


def _precisions(inputs: Any) -> list[torch.dtype]:
    return [tensor.dtype for tensor in tensors_in(inputs) if tensor.dtype in _PRECISION]


def coarsest(inputs: Any) -> torch.dtype:
    """The least precise floating dtype among the inputs."""
    return min(_precisions(inputs), key=_PRECISION.__getitem__, default=torch.float64)


def given(value: Any, inputs: Any = None) -> Truth:
    """A truth that the test states as a value; `inputs` are those of the call that it answers, if they are known."""
    own_precision = inputs is not None and not _precisions(inputs)
    return Truth(value, _wide_leaves(value), coarsest(value), own_precision=own_precision)


def computed(want: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Truth:
    """The reference's answer. Its own failure is the grader's, so it is let through as it is."""
    own_args, own_kwargs = map_tensors((args, kwargs), lambda tensor: tensor.detach().clone())
    wide_args, wide_kwargs = to_float64((args, kwargs))
    with default_float64():
        value = in_float64(want)(*wide_args, **wide_kwargs)
    return Truth(
        value,
        _wide_leaves(value),
        coarsest((args, kwargs)),
        want,
        own_args,
        own_kwargs,
        own_precision=not _precisions((args, kwargs)),
    )


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


def truth_of(want: Any, args: tuple[Any, ...], kwargs: dict[str, Any], case_id: str = "") -> Truth:
    """The truth of a check, remembered when the case has an id and the reference is a plain function."""
    if isinstance(want, Truth):
        return want
    if not callable(want):
        return given(want)
    return remembered((case_id, "value"), want, (args, kwargs), lambda: computed(want, args, kwargs))

"""Compares mutants of the reference with the reference itself, on a thousand drawn calls.

A mutant that no test notices may be the same function, written in another way. It counts as that if values, dtypes,
gradients, exceptions and what becomes of the arguments agree in every call, on the device meta too. The mutants are
made of the course's own reference, so they run in this process; each has answered in the sandbox before.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import torch

from softmark.authoring import arguments
from softmark.authoring.conditional import noted, planted
from softmark.authoring.drawn_calls import CallSource, DrawnCall
from softmark.authoring.variants import Variant
from softmark.course.homework import Homework
from softmark.edits.mutants import Mutant
from softmark.records.result import Result
from softmark.verdict.values import leaves_in, map_tensors, tensors_in

CALLS = 1000
_DRAWN = 6
"""The largest number of draws for each call that fits."""
_ALIKE = {torch.float64: 1e-7, torch.float32: 1e-4}
"""By dtype the difference, as a share of the largest number, that two ways to compute the same may have."""
_SMALL = 1e-2
"""Numbers below this one are measured by it: gradients that vanish are all rounding."""
_START = 0.1
"""The relative difference between the means of two random starts of one weight that is no difference."""


@dataclass(frozen=True)
class _ShownByACall:
    """All that one call of a function shows; `raised` is the name of an exception's class."""

    leaves: tuple[Any, ...]
    raised: str = ""

    @property
    def finite(self) -> bool:
        return all(bool(leaf.isfinite().all()) for leaf in self.leaves if isinstance(leaf, torch.Tensor))


class Comparer:
    """Compares mutants of one function or class with the reference."""

    def __init__(self, homework: Homework, name: str, recorded: Result, most: int = CALLS) -> None:
        self._name, self._most = name, most
        self._reference = _scope_of(homework.reference.read_text(encoding="utf-8"))
        forms = {str(form): form for form in noted(name, recorded.printed.stdout)}
        self._draws: list[tuple[DrawnCall, _ShownByACall, _ShownByACall]] = []
        self._source = CallSource(list(forms.values()), zlib.crc32(name.encode()))

    def difference(self, mutant: Mutant) -> str:
        """Return the first drawn call in which a mutant differs from the reference; empty if it never does."""
        scope = _scope_of(mutant.source)
        for call, expected, on_meta in self._drawn():
            if not _same(_observed(scope, self._name, call), expected):
                return call.shapes
            if on_meta.leaves and not _same(_observed(scope, self._name, call, "meta"), on_meta):
                return f"{call.shapes} on the device meta"
        return ""

    @property
    def calls(self) -> int:
        """Return how many calls are compared."""
        return len(self._drawn())

    def _drawn(self) -> Sequence[tuple[DrawnCall, _ShownByACall, _ShownByACall]]:
        if not self._draws:
            self._draws = list(islice(self._fitting(), self._most))
        return self._draws

    def _fitting(self) -> Iterator[tuple[DrawnCall, _ShownByACall, _ShownByACall]]:
        """Yield the drawn calls that the reference answers, or refuses as the handout says: with a ValueError.

        Calls are left out whose answer changes with the last digits of the inputs, as with many random layers.
        """
        for number, call in enumerate(islice(self._source.calls(), _DRAWN * self._most)):
            outcome = _observed(self._reference, self._name, call)
            if outcome.raised not in ("", "ValueError") or not outcome.finite:
                continue
            if not _same(_observed(self._reference, self._name, _nudged(call)), outcome):
                continue
            on_meta = _ShownByACall(())
            if number % 20 == 0 and not outcome.raised:
                on_meta = _observed(self._reference, self._name, call, "meta")
            yield call, outcome, on_meta if not on_meta.raised else _ShownByACall(())


def recorder_of_arguments(homework: Homework, name: str, parts: tuple[str, ...]) -> Variant:
    """Return a reference that prints the forms of the calls of one function or class."""
    call = f"record_arguments(globals(), {name!r})"
    return Variant("recorder", name, planted(homework, call, arguments), parts)


def _scope_of(source: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(source, "mutant", "exec"), scope)
    return scope


def _observed(scope: dict[str, Any], name: str, call: DrawnCall, device: str = "cpu") -> _ShownByACall:
    """Return what a call of a function shows. A module is called three times, the second time with other numbers."""
    torch.default_generator.manual_seed(call.seed)
    args, kwargs = map_tensors((call.args, call.kwargs), lambda tensor: _leaf(tensor, device))
    moved = map_tensors((args, kwargs), lambda tensor: tensor.detach().roll(1) if _is_real(tensor) else tensor)
    thing: Any = scope[name.partition(".")[0]]
    try:
        if inspect.isfunction(thing):
            answer = thing(*args, **kwargs)
            return _ShownByACall(_shown(answer, (args, kwargs), [], call))
        module: Any = thing(**call.made)
        start = [leaf for entry, weight in module.state_dict().items() for leaf in (entry, _start(weight))]
        module = _with_weights(module, call).to(device)
        method = getattr(module, name.partition(".")[2] or "forward")
        answers = [method(*args, **kwargs), method(*moved[0], **moved[1]), method(*args, **kwargs)]
        return _ShownByACall((*start, *_shown(answers, (args, kwargs), list(module.parameters()), call)))
    except Exception as error:  # a mutant may fail in any way
        return _ShownByACall((), type(error).__name__)


def _nudged(call: DrawnCall) -> DrawnCall:
    """Return a call whose numbers differ in their last digits."""
    args, kwargs = map_tensors((call.args, call.kwargs), _other_digits)
    return replace(call, args=args, kwargs=kwargs)


def _other_digits(tensor: torch.Tensor) -> torch.Tensor:
    if not _is_real(tensor):
        return tensor
    roundings = torch.linspace(-4, 4, tensor.numel(), dtype=tensor.dtype).view(tensor.shape)
    return tensor * (1 + torch.finfo(tensor.dtype).eps * roundings)


def _leaf(tensor: torch.Tensor, device: str) -> torch.Tensor:
    copy = tensor.clone().to(device)
    return copy.requires_grad_() if _is_real(tensor) else copy


def _is_real(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point()


def _start(weight: torch.Tensor) -> Any:
    """Return what can be compared of a weight before training: its form, and numbers that are not random."""
    numbers = weight.detach()
    if numbers.numel() and bool((numbers == numbers.flatten()[0]).all()):
        return numbers.clone()
    return _RandomStart(tuple(numbers.shape), float(numbers.abs().mean()))


@dataclass(frozen=True)
class _RandomStart:
    shape: tuple[int, ...]
    mean: float

    def is_like(self, other: Any) -> bool:
        same = isinstance(other, _RandomStart) and self.shape == other.shape
        return same and abs(self.mean - other.mean) <= _START * max(self.mean, other.mean)


def _with_weights(module: Any, call: DrawnCall) -> Any:
    """Return the module with weights of random numbers, in the mode of the call."""
    module = module.to(call.weights).train(call.train)
    generator = torch.Generator().manual_seed(call.seed)
    with torch.no_grad():
        for _, weight in sorted(module.state_dict().items()):
            if weight.is_floating_point():
                weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64) / 2)
    torch.default_generator.manual_seed(call.seed)
    return module


def _shown(answer: Any, inputs: Any, weights: list[torch.Tensor], call: DrawnCall) -> tuple[Any, ...]:
    """Return the leaves of an answer, the arguments after the call, and the gradients of them and of the weights."""
    leaves = list(leaves_in(_in_order(answer)))
    shown = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    after = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves_in(inputs)]
    outputs = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    sources = [tensor for tensor in (*tensors_in(inputs), *weights) if tensor.requires_grad and tensor.is_leaf]
    if not outputs or not sources or outputs[0].is_meta:
        return (len(leaves), *shown, *after, len(outputs))
    generator = torch.Generator().manual_seed(call.seed)
    cotangents = [torch.randn(out.shape, generator=generator, dtype=torch.float64).to(out.dtype) for out in outputs]
    gradients = torch.autograd.grad(outputs, sources, cotangents, allow_unused=True)
    of_each = [torch.zeros_like(source) if one is None else one for source, one in zip(sources, gradients, strict=True)]
    return (len(leaves), *shown, *after, len(outputs), *of_each)


def _in_order(answer: Any) -> Any:
    """Return an answer in which each dictionary is a list of its keys and values: their order does not count."""
    if isinstance(answer, dict):
        return [[key, _in_order(answer[key])] for key in sorted(answer, key=repr)]
    return type(answer)(map(_in_order, answer)) if type(answer) in (list, tuple) else answer


def _same(one: _ShownByACall, other: _ShownByACall) -> bool:
    if one.raised != other.raised or len(one.leaves) != len(other.leaves):
        return False
    return all(_same_leaf(a, b) for a, b in zip(one.leaves, other.leaves, strict=True))


def _same_leaf(a: Any, b: Any) -> bool:
    if isinstance(a, _RandomStart):
        return a.is_like(b)
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return type(a) is type(b) and bool(a == b)
    if (a.dtype, a.shape, a.device) != (b.dtype, b.shape, b.device):
        return False
    if a.is_meta or not a.numel():
        return True
    if not a.is_floating_point():
        return torch.equal(a, b)
    far = (a - b).abs().max()
    return bool(far <= _ALIKE.get(a.dtype, 1e-2) * b.abs().max().clamp(min=_SMALL))

"""Compares gradients with the reference's: with a random cotangent, for every input and every parameter.

The gradient of the sum of the outputs would not be enough. For a softmax or a layer norm it is zero, so many wrong
formulas would pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import torch

from softmark.records.verdict import Category, Code, Failed, Verdict
from softmark.verdict.callee import StudentCallable, named
from softmark.verdict.compare import agrees, compare
from softmark.verdict.context import NOT_DESCRIBED, current_test
from softmark.verdict.expected import Expected, computed, expected_for, in_float64, kept, to_float64
from softmark.verdict.mistakes import Mistake
from softmark.verdict.plant import instead, planted
from softmark.verdict.steps import note_step
from softmark.verdict.tolerance import default_float64
from softmark.verdict.values import map_tensors, tensors_in


def gradients_agree(got: StudentCallable, want: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` unless the gradients for every real input and parameter agree with the reference's.

    The gradients are those of <cotangent, output>, for a random cotangent. Tensors inside an argument, such as a
    dictionary of weights, are inputs, too. A tensor that is passed twice has one, the sum for both places.
    """
    case = current_test()
    of_value = expected_for(want, args, kwargs, case.id)
    cotangent = _cotangent(of_value.value, args, kwargs)
    weights = [tensor.double() for tensor in tensors_in(cotangent)]
    key = (case.id, "gradients")
    expected = kept(key, want, (args, kwargs, weights), lambda want: computed(_Pullback(want, weights), args, kwargs))
    size = of_value.size + expected.size
    _compare(got, expected, args, kwargs, cotangent, size)
    note_step(got, expected, (args, kwargs), partial(_compare_again, cotangent=cotangent, size=size))


def _compare_again(got: StudentCallable, expected: Expected, cotangent: Any, size: int) -> None:
    with current_test().repeating(expected.packed):
        _compare(got, expected, expected.args, expected.kwargs, cotangent, size)


def _compare(
    got: StudentCallable,
    expected: Expected,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    cotangent: Any,
    size: int,
) -> None:
    """Ask for the gradients and compare them; raise `Failed` if one of them differs. `size` is that of the answer."""
    case = current_test()
    named: dict[str, torch.Tensor] = expected.value
    with case.expecting(size):
        answer = got.vjp(args, kwargs, cotangent)
    places = [place for place, _ in _places(args)]
    found = {**dict(zip(places, answer.args, strict=False)), **answer.kwargs}
    found.update({f"parameter {name}": gradient for name, gradient in answer.parameters.items()})
    filled = {key: _or_zero(found.get(key), true) for key, true in named.items()}
    limits = map(partial(expected.tolerance, expected.level(expected.coarsest_input)), count())
    missing = [
        key
        for (key, true), limit in zip(named.items(), limits, strict=False)
        if found.get(key) is None and bool((true.abs() > limit).any())
    ]
    if missing:
        _fail(got, Category.PROPERTY, f"no gradient reaches {missing[0]}", "", float("inf"))
    comparison = compare(filled, expected, entry="gradient of {}")
    if comparison.category is None:
        case.record(got.name, comparison.ratio, double=expected.coarsest_input is torch.float64)
        return
    for slip in case.slips:
        if _is_explained(filled, expected, slip, (args, kwargs)):
            case.repeated.append(slip)
            case.record(got.name, 0.0, double=expected.coarsest_input is torch.float64)
            return
    if not case.described:
        raise Failed(Verdict(comparison.category, NOT_DESCRIBED))
    wrong = comparison.verdict
    assert wrong is not None
    category = Category.PROPERTY if wrong.category is Category.VALUE else wrong.category
    _fail(got, category, wrong.fact, wrong.where, comparison.ratio)


def _is_explained(found: Any, expected: Expected, slip: Mistake, inputs: Any) -> bool:
    """Return whether these are the gradients of the reference with a mistake that has cost marks in an earlier part."""
    pullback = expected.want
    assert isinstance(pullback, _Pullback)
    plants = slip.plants
    args, kwargs = to_float64(inputs)
    try:
        with planted(plants), default_float64():
            wrong = _Pullback(instead(pullback.want, plants), pullback.weights)(*args, **kwargs)
        return agrees(found, expected.replaced(wrong))
    except Exception:  # a variant may fail on these inputs in any way
        return False


def _or_zero(found: Any, true: torch.Tensor) -> Any:
    """Return the gradient, or zeros if there is none. No gradient is right if the true one is zero."""
    return torch.zeros_like(true) if found is None else found


def _cotangent(value: Any, args: Any, kwargs: Any) -> Any:
    """Return random weights for every floating output, in the structure of the output; None for other values."""
    dtypes = [t.dtype for t in tensors_in((args, kwargs)) if t.is_floating_point()]
    dtype = dtypes[0] if dtypes else torch.float64
    generator = current_test().generator

    def draw(tensor: torch.Tensor) -> Any:
        if not tensor.is_floating_point():
            return None
        return torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(dtype)

    return map_tensors(value, draw)


class _Pullback:
    """Computes the reference's gradients as a function, so that they have a noise and a tolerance like any answer."""

    def __init__(self, want: Callable[..., Any], weights: Sequence[torch.Tensor]) -> None:
        self.want = in_float64(want)
        self.weights = weights

    def __call__(self, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        args, kwargs = map_tensors((args, kwargs), _leaf)
        value = self.want(*args, **kwargs)
        owner = getattr(self.want, "__self__", self.want)
        inputs = _by_argument(args, kwargs)
        if isinstance(owner, torch.nn.Module):
            inputs.update({f"parameter {name}": p for name, p in owner.named_parameters()})
        inputs = {key: tensor for key, tensor in inputs.items() if tensor is not None and tensor.requires_grad}
        outputs = [tensor for tensor in tensors_in(value) if tensor.is_floating_point()]
        pairs = [(out, weight) for out, weight in zip(outputs, self.weights, strict=True) if out.requires_grad]
        total = torch.stack([(out * weight).sum() for out, weight in pairs]).sum()
        gradients = torch.autograd.grad(total, list(inputs.values()), allow_unused=True)
        return {
            key: torch.zeros_like(tensor) if gradient is None else gradient.detach()
            for (key, tensor), gradient in zip(inputs.items(), gradients, strict=True)
        }


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    return tensor.clone().requires_grad_() if tensor.is_floating_point() else tensor


def _by_argument(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    named = {**dict(_places(args)), **kwargs}
    return {key: value for key, value in named.items() if value is None or isinstance(value, torch.Tensor)}


def _places(args: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield each value among the arguments with its place: "argument 2", or "argument 2['W1']" of a dictionary."""
    for i, value in enumerate(args):
        yield from _inside(f"argument {i + 1}", value)


def _inside(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _inside(f"{place}[{key!r}]", item)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _inside(f"{place}[{i}]", item)
    else:
        yield place, value


def _fail(got: StudentCallable, category: Category, fact: str, where: str, ratio: float) -> None:
    case = current_test()
    case.record(got.name, ratio, category)
    staff = f"case {case.id or 'without id'}, seed {case.seed}, worst error over tolerance {ratio:.3g}"
    raise Failed(Verdict(category, named(got, fact), where, staff, code=Code.GRADIENT))

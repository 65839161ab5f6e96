"""Makes students' callables that live in the test's own process: plain objects that follow the protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from softmark.sandbox.worker import pretended
from softmark.verdict import Answer, Category, Code, Failed, Gradients, OpCount, Verdict
from softmark.verdict.values import flatten, map_tensors, tensors_in


class InProcess:
    """A function or module as a student's callable; its exceptions become verdicts, as behind the real wall."""

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(args, kwargs).value

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
        own_args, own_kwargs = map_tensors((tuple(args), dict(kwargs)), lambda t: t.detach().clone())
        value = self._run(own_args, own_kwargs)
        before = {**{f"argument {i + 1}": a for i, a in enumerate(args)}, **kwargs}
        after = {**{f"argument {i + 1}": a for i, a in enumerate(own_args)}, **own_kwargs}
        tensors = [name for name in before if isinstance(before[name], torch.Tensor)]
        changed = [name for name in tensors if not torch.equal(before[name], after[name])]
        return Answer(map_tensors(value, lambda t: t.detach().clone()), changed)

    def vjp(self, args: Sequence[Any], kwargs: Mapping[str, Any], cotangent: Any) -> Gradients:
        own_args, own_kwargs = map_tensors((tuple(args), dict(kwargs)), _leaf)
        value = self._run(own_args, own_kwargs)
        parameters = dict(self.function.named_parameters()) if isinstance(self.function, torch.nn.Module) else {}
        leaves = [value for _, value in flatten(own_args)]
        inputs = [t for t in (*leaves, *own_kwargs.values()) if _wants_gradient(t)]
        pairs = [(out, c) for out, c in zip(tensors_in(value), tensors_in(cotangent), strict=True) if out.requires_grad]
        wanted = [*inputs, *parameters.values()]
        found: Sequence[Any] = [None] * len(wanted)
        if pairs:
            outputs, weights = zip(*pairs, strict=True)
            found = torch.autograd.grad(outputs, wanted, weights, allow_unused=True)
        by_id = {id(t): gradient for t, gradient in zip(wanted, found, strict=True)}
        return Gradients(
            value,
            tuple(by_id.get(id(t)) for t in leaves),
            {name: by_id.get(id(t)) for name, t in own_kwargs.items()},
            {name: by_id[id(t)] for name, t in parameters.items()},
        )

    def count_ops(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpCount:
        with Counting() as counting:
            self._run(args, kwargs)
        return OpCount(counting.names.total(), counting.names)

    def on_meta(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        own_args, own_kwargs = map_tensors((tuple(args), dict(kwargs)), pretended.put)
        return self._run(own_args, own_kwargs, pretended.on())

    def _run(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], inside: AbstractContextManager[Any] | None = None
    ) -> Any:
        self.calls += 1
        try:
            with inside or nullcontext():
                return self.function(*args, **kwargs)
        except Exception as error:
            name = type(error).__name__
            code = Code.WRONG_DEVICE if "on the same device" in str(error) else Code.EXCEPTION
            raise Failed(Verdict(Category.ERROR, f"raised {name}: {error}", exception=name, code=code)) from error


class Counting(TorchDispatchMode):
    """Counts the operations that are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names[str(func)] += 1
        return func(*args, **(kwargs or {}))


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.is_floating_point())


def _wants_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def failure(check: Callable[..., None], *args: Any, **kwargs: Any) -> Verdict:
    """Return the verdict of a check that must fail."""
    try:
        check(*args, **kwargs)
    except Failed as failed:
        return failed.verdict
    raise AssertionError("the check held")

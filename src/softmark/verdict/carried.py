"""Carried error: an answer that is right given the student's own, wrong, earlier part is right.

The reference is run again with the student's earlier function in the place of its own; what that does to its inputs is
done there, too. Its results are taken only if they are worth building on: mostly finite, of the right shape, different
from the reference's (else there is nothing to carry), and dependent on their inputs, so that a constant cannot stand
for a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from softmark.verdict.callee import ask
from softmark.verdict.case import Case
from softmark.verdict.compare import agrees
from softmark.verdict.leaves import map_tensors, tensors_in
from softmark.verdict.model import Failed
from softmark.verdict.plant import Target, instead, out_of_reach, planted, reachable
from softmark.verdict.truth import Truth, given, numeric_leaves

AT_MOST = 8
"""Checks of one case that may be right in this way: each costs a few calls more."""


class _NotCarried(Exception):
    """The student's earlier result is nothing to build on."""


def holds(check: Callable[..., object], *args: Any, **kwargs: Any) -> bool:
    """Whether an earlier part passes a check; where it does not, a later part is not to be charged for it again."""
    try:
        check(*args, **kwargs)
    except Failed:
        return False
    return True


def require_called(want: Any, earlier: Iterable[str]) -> None:
    """Refuse names that the reference does not call: a carried part that can never be carried is a slip in a test."""
    for name in earlier:
        if out_of_reach(_target(want, name), want):
            raise TypeError(f'carried names "{name}", which is imported from another file: call it from its own')


def is_carried(answer: Any, truth: Truth, earlier: Mapping[str, Callable[..., Any]], case: Case) -> bool:
    """Whether the answer is what the reference makes of the student's earlier functions."""
    if truth.want is None or case.carried_checks >= AT_MOST:
        return False
    targets = {name: _target(truth.want, name) for name in earlier}
    plants = [(targets[name], _Earlier(targets[name], student, case)) for name, student in earlier.items()]
    args, kwargs = map_tensors((truth.args, truth.kwargs), torch.Tensor.clone)
    try:
        with planted(plants):
            value = instead(truth.want, plants)(*args, **kwargs)
    except (_NotCarried, Failed):
        return False
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError):
        return False  # the reference, which is right with its own parts, cannot compute with what the student's give
    if not any(plant.differs for _, plant in plants) or not agrees(answer, truth.replaced(value)):
        return False
    if not _mostly_finite(numeric_leaves(value), truth.leaves):
        return False
    case.carried_checks += 1
    wrong = [name for name, (_, plant) in zip(earlier, plants, strict=True) if plant.differs]
    case.carried.extend(name for name in wrong if name not in case.carried)
    return True


def _target(want: Target, name: str) -> Target:
    for target in reachable(want)[1:] if callable(want) else ():
        if target.__qualname__ == name:
            return target
    wanted = getattr(want, "__qualname__", type(want).__name__)
    raise TypeError(f'carried names "{name}", which {wanted} does not call')


def _mostly_finite(got: Iterable[torch.Tensor], want: Iterable[torch.Tensor]) -> bool:
    """Whether fewer than half of the numbers of each tensor are NaN or infinite where they should not be."""
    strange = [(~torch.isfinite(a) & torch.isfinite(b)).double() for a, b in zip(got, want, strict=True)]
    return all(not flags.numel() or float(flags.mean()) < 0.5 for flags in strange)


class _Earlier:
    """The student's earlier function in the reference's place, with the guards."""

    def __init__(self, target: Target, student: Callable[..., Any], case: Case) -> None:
        self.target = target
        self.student = student
        self.case = case
        self.differs = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own_args, own_kwargs = map_tensors((args, kwargs), torch.Tensor.clone)
        expected = self.target(*own_args, **own_kwargs)  # on copies: it may call other earlier parts of the student's
        answer = ask(self.student, args, kwargs)
        value = answer.value
        got, want = numeric_leaves(value), numeric_leaves(expected)
        if [leaf.shape for leaf in got] != [leaf.shape for leaf in want]:
            raise _NotCarried
        if not _mostly_finite(got, want):
            raise _NotCarried
        if answer.changed or not agrees(value, given(expected)):
            self.differs = True
            self._require_dependence(got, args, kwargs)
        self._change(answer.changed, args, kwargs)
        return value

    def _change(self, changed: Mapping[str, torch.Tensor | None], args: Any, kwargs: Any) -> None:
        """Do to the reference's own tensors what the student's function did to the copies it was given."""
        own = {**{f"argument {i + 1}": value for i, value in enumerate(args)}, **kwargs}
        for name, now in changed.items():
            tensor = own.get(name)
            if now is None or not isinstance(tensor, torch.Tensor) or now.shape != tensor.shape:
                raise _NotCarried
            try:
                with torch.no_grad():  # it may be a parameter
                    tensor.copy_(now)
            except RuntimeError as error:  # several of its entries share one place in memory
                raise _NotCarried from error

    def _require_dependence(self, got: list[torch.Tensor], args: Any, kwargs: Any) -> None:
        """Other real numbers in inputs of the same shapes must give another result."""
        if not any(tensor.is_floating_point() for tensor in tensors_in((args, kwargs))):
            return
        generator = torch.Generator().manual_seed(self.case.seed + 1)  # not the numbers the test itself drew

        def other(tensor: torch.Tensor) -> torch.Tensor:
            if not tensor.is_floating_point():
                return tensor
            return torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.dtype)

        moved_args, moved_kwargs = map_tensors((args, kwargs), other)
        moved = numeric_leaves(self.student(*moved_args, **moved_kwargs))
        if all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(got, moved, strict=False)):
            raise _NotCarried

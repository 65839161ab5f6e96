"""Requires that a student's earlier function depends on its inputs, before a later part may build on it.

A constant, or a constant with a trace of the inputs in it, would make a later part trivial. So the reference is run on
other inputs, too: the same ones with their numbers permuted. For each earlier function the change of its answers must
be comparable with the change of the right ones. That holds for all inputs together, and for each input that it has used
to be right in the tests of its own part. An input that it honestly forgot is not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from softmark.verdict.compare import agrees
from softmark.verdict.expected import Expected
from softmark.verdict.plant import Target
from softmark.verdict.tolerance import DOUBLE
from softmark.verdict.values import map_tensors, tensors_in

LEAST = 0.01
"""A number counts as changed if it changes by this share of its size."""
SHARE = 0.1
"""Of the numbers that change in the right answer so many must change in the student's, at least."""
_TOLERANCES = 30.0
"""A number of the later part's answer counts as changed if it changes by so many tolerances."""


_FEW = 4
"""Numbers that an answer to sizes alone may have without any claim to spread, such as one row of a table."""


class NotCarried(Exception):
    """The student's earlier result is nothing to build on."""


@dataclass
class RecordedCall:
    """One call of an earlier function by the reference: its inputs by name, the right answer, the student's."""

    inputs: dict[str, Any]
    right: list[torch.Tensor]
    given: list[torch.Tensor]
    wrong: bool = False


class Moves:
    """The inputs of a check, number 0, and others that nobody can tell from them: with permuted numbers.

    Of several inputs, all are permuted, then one, then all but that one: each input is as often permuted as not, so
    that comparing the runs does not tell which is which. A single input is permuted in two ways.
    """

    def __init__(self, inputs: tuple[tuple[Any, ...], dict[str, Any]], chance: torch.Generator) -> None:
        by_name = named(*inputs)
        self._args, self._kwargs = inputs
        movable = [name for name, value in by_name.items() if is_movable(value)]
        chosen = [movable, movable] if len(movable) == 1 else []
        if len(movable) > 1:
            one = movable[int(torch.randint(len(movable), (), generator=chance))]
            chosen = [movable, [one], [name for name in movable if name != one]]
        moved = permuted(by_name, chance, redraw=True)
        self._changes: list[dict[str, Any]] = [{}]
        for names in chosen:
            self._changes.append({name: moved[name] for name in names})
            moved = permuted(by_name, chance, redraw=True) if len(movable) == 1 else moved

    def __len__(self) -> int:
        return len(self._changes)

    def inputs(self, number: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return copies of the inputs of one run."""
        change = self._changes[number]
        args = tuple(change.get(f"argument {i + 1}", value) for i, value in enumerate(self._args))
        kwargs = {name: change.get(name, value) for name, value in self._kwargs.items()}
        copies: tuple[tuple[Any, ...], dict[str, Any]] = map_tensors((args, kwargs), torch.Tensor.clone)
        return copies


def require_dependence(
    target: Target, met: Sequence[Expected], calls: list[RecordedCall], others: Sequence[list[RecordedCall]]
) -> None:
    """Raise NotCarried if the answers do not depend on the inputs; `others` are the calls of the runs on permuted ones.

    In some run each output must change, and in each call some output; and each output in every run that changes an
    input which was used in the tests of the part.
    """
    runs = [list(zip(calls, moved, strict=False)) for moved in others]
    used = _used(target, met) if others else set()
    leaves = range(len(calls[0].right) if calls else 0)
    for number, call in enumerate(calls):
        if not any(is_movable(value) for value in call.inputs.values()):
            _require_spread(call)
        _require_some([_shares(run[number : number + 1], leaf) for run in runs for leaf in leaves])
    for leaf in leaves:
        _require_some([_shares(run, leaf) for run in runs])
        for run in runs:
            known = [(one, other) for one, other in run if not used.isdisjoint(_differing(one, other))]
            _require_some([_shares(known, leaf)])


def require_effect(truth: Expected, values: Sequence[Any], rights: Sequence[Any]) -> None:
    """Raise NotCarried if the later part's answer does not depend on its inputs beyond the tolerance.

    `values` are what the reference makes of the student's functions in each run, `rights` what it makes of its own.
    """
    given = truth.replaced(values[0])
    others = [(truth.replaced(value), truth.replaced(right)) for value, right in zip(values, rights, strict=True)][1:]
    for number, (leaf, right) in enumerate(zip(given.leaves, truth.leaves, strict=True)):
        if not leaf.is_floating_point():
            continue
        shares = []
        for other, other_right in others:
            far = [_TOLERANCES * one.tolerance(DOUBLE, number) for one in (given, truth)]
            if other.leaves[number].shape != leaf.shape or other_right.leaves[number].shape != right.shape:
                raise NotCarried
            shares.append(
                (_share(leaf, other.leaves[number], far[0]), _share(right, other_right.leaves[number], far[1]))
            )
        _require_some(shares)


def _require_some(shares: Sequence[tuple[float, float]]) -> None:
    """Raise NotCarried if the student's answers never change where the right ones do."""
    demanding = [(given, right) for given, right in shares if right]
    if demanding and not any(given >= SHARE * right for given, right in demanding):
        raise NotCarried


def _shares(pairs: Sequence[tuple[RecordedCall, RecordedCall]], leaf: int) -> tuple[float, float]:
    """Return the shares of numbers that change between runs: in the student's answers, and in the right ones."""
    given = [_relative(one.given[leaf], other.given[leaf]) for one, other in pairs]
    right = [_relative(one.right[leaf], other.right[leaf]) for one, other in pairs]
    return sum(given) / max(len(pairs), 1), sum(right) / max(len(pairs), 1)


def _relative(one: torch.Tensor, other: torch.Tensor) -> float:
    a, b = one.to(torch.float64), other.to(torch.float64)
    return (
        _share(a, b, LEAST * torch.maximum(a.abs(), b.abs()).nan_to_num(0.0, 0.0, 0.0)) if a.shape == b.shape else 1.0
    )


def _share(one: torch.Tensor, other: torch.Tensor, far: torch.Tensor) -> float:
    """Return the share of the numbers that are far apart, or of which only one is finite."""
    apart = torch.where(
        one.isfinite() & other.isfinite(), (one - other).abs() > far, one.isfinite() != other.isfinite()
    )
    return float(apart.double().mean()) if apart.numel() else 0.0


def named(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a call by the names that messages give them."""
    return {**{f"argument {i + 1}": value for i, value in enumerate(args)}, **kwargs}


def is_movable(value: Any) -> bool:
    return any(tensor.is_floating_point() for tensor in tensors_in(value))


def permuted(inputs: Any, chance: torch.Generator, *, redraw: bool) -> Any:
    """Return the same nesting, the real numbers of each tensor permuted along every axis. Equal tensors stay equal.

    With `redraw`, a tensor that is one number all over gets random ones.
    """
    known: list[tuple[torch.Tensor, torch.Tensor]] = []

    def moved(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point():
            return tensor
        for before, after in known:
            if before.dtype == tensor.dtype and torch.equal(before, tensor):
                return after
        after = tensor
        for axis, size in enumerate(tensor.shape):
            after = after.index_select(axis, _all_moved(size, chance))
        if redraw and torch.equal(after, tensor):
            after = torch.randn(tensor.shape, generator=chance, dtype=torch.float64).to(tensor.dtype)
        known.append((tensor, after))
        return after

    return map_tensors(inputs, moved)


def _all_moved(size: int, chance: torch.Generator) -> torch.Tensor:
    """Return a permutation that leaves nothing in its place: one cycle through all places, in random order."""
    order = torch.randperm(size, generator=chance)
    return torch.empty_like(order).scatter_(0, order, order.roll(1))


def _used(target: Target, met: Sequence[Expected]) -> set[str]:
    """Return the inputs that mattered to an answer that the student's function got right in the tests of its part."""
    used: set[str] = set()
    for truth in met:
        inputs = named(truth.args, truth.kwargs)
        others = permuted(inputs, torch.Generator().manual_seed(0), redraw=False)
        for name in inputs.keys() - used:
            args, kwargs = truth.args, truth.kwargs
            if name in kwargs:
                kwargs = {**kwargs, name: others[name]}
            else:
                args = tuple(others[name] if name == f"argument {i + 1}" else value for i, value in enumerate(args))
            if is_movable(inputs[name]) and not agrees(target(*args, **kwargs), truth):
                used.add(name)
    return used


def _differing(call: RecordedCall, other: RecordedCall) -> set[str]:
    return {name for name, value in call.inputs.items() if not _same(value, other.inputs.get(name))}


def _same(value: Any, other: Any) -> bool:
    ones, others = list(tensors_in(value)), list(tensors_in(other))
    return len(ones) == len(others) and all(torch.equal(a, b) for a, b in zip(ones, others, strict=True))


def _require_spread(call: RecordedCall) -> None:
    """Raise NotCarried if an answer to sizes alone is one number all over, where the right one has many numbers."""
    for given, right in zip(call.given, call.right, strict=True):
        if len(set(right.flatten().tolist())) > _FEW:
            _require_some([(_spread(given), _spread(right))])


def _spread(leaf: torch.Tensor) -> float:
    """Return the share of the numbers that differ from the first."""
    return _relative(leaf, leaf.flatten()[0].expand(leaf.shape))

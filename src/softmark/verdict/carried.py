"""Carried error: an answer that is right given the student's own, wrong, earlier part is right.

The reference is run again with the student's earlier function in the place of its own. Changes that this function makes
to its inputs are made there, too. It is the student's function, so it could answer whatever makes a later part look
right. Its answers are taken only under these conditions:

* A test of its own part failed. A function that passes all of its own tests has no error to carry.
* It is asked in a process that has run nothing of the later part, and cannot tell which question counts: the run that
  does is made among others on permuted inputs, in an order that only the right answer gives away, and among questions
  that it answered right in its own tests. These it must answer right again.
* It depends on its inputs (dependence.py), has the right shapes, and is mostly finite.

A function that recognises the inputs themselves can still answer these otherwise than those of its own tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from softmark.records.verdict import Failed
from softmark.verdict.callee import ask
from softmark.verdict.compare import agrees
from softmark.verdict.context import Standing, TestContext, current_test
from softmark.verdict.dependence import Moves, NotCarried, RecordedCall, named, require_dependence, require_effect
from softmark.verdict.expected import Expected, numeric_leaves, stated
from softmark.verdict.plant import Target, instead, out_of_reach, planted, reachable
from softmark.verdict.values import map_tensors

AT_MOST = 8
"""Checks of one case that may be right in this way: each costs calls of the student's code."""
_ASKED_AGAIN = 2
"""Questions of its own tests that each earlier function is asked again."""


def holds(check: Callable[..., object], *args: Any, **kwargs: Any) -> bool:
    """Return whether a check passes. No name is looked for if it fails."""
    case = current_test()
    naming, case.naming = case.naming, False
    try:
        check(*args, **kwargs)
    except Failed:
        return False
    finally:
        case.naming = naming
    return True


def errs(function: Any) -> bool:
    """Return whether a student's function has failed a test of its own part: only then does it excuse a later part."""
    return current_test().standing_of(str(getattr(function, "name", "")).partition(".")[0]).errs


def inherited(check: Callable[..., object], function: Any, *args: Any, **kwargs: Any) -> bool:
    """Return whether a student's earlier function that errs fails this check, too, so that it is not charged again."""
    if not errs(function):
        return False
    if current_test().apart(lambda: holds(check, function, *args, **kwargs), True):
        return False
    current_test().excused.append(function.name)
    return True


def unless_inherited(
    earlier: Iterable[tuple[Any, ...]], check: Callable[..., object], *args: Any, **kwargs: Any
) -> None:
    """Make a check of a later part; raise its `Failed` unless an earlier part that errs fails the check, too.

    Each entry of `earlier` is a student's earlier function followed by the arguments to check it with. It is read only
    after a failure, so it may be a generator.
    """
    try:
        check(*args, **kwargs)
    except Failed:
        if not any(inherited(check, *part) for part in earlier):
            raise


def require_called(want: Any, earlier: Iterable[str]) -> None:
    """Refuse names that the reference does not call: a carried part that can never be carried is a slip in a test."""
    for name in earlier:
        if out_of_reach(_target(want, name), want):
            raise TypeError(f'carried names "{name}", which is imported from another file: call it from its own')


def is_carried(answer: Any, truth: Expected, earlier: Mapping[str, Callable[..., Any]], case: TestContext) -> bool:
    """Return whether the answer is what the reference makes of the student's earlier functions that err."""
    if truth.want is None or case.carried_checks >= AT_MOST:
        return False
    stood = {name: case.standing_of(name) for name in earlier}
    want = truth.want
    plants = [
        _Earlier(name, _target(want, name), student, stood[name])
        for name, student in earlier.items()
        if stood[name].errs
    ]
    if not plants:
        return False
    given = case.apart(lambda: _value_given(want, truth, plants), None)
    if given is None or not agrees(answer, truth.replaced(given.value)):
        return False
    case.carried_checks += 1
    case.carried.extend(name for name in given.wrong if name not in case.carried)
    return True


def _target(want: Target, name: str) -> Target:
    for target in reachable(want)[1:] if callable(want) else ():
        if target.__qualname__ == name:
            return target
    wanted = getattr(want, "__qualname__", type(want).__name__)
    raise TypeError(f'carried names "{name}", which {wanted} does not call')


def _mostly_finite(got: Iterable[torch.Tensor], want: Iterable[torch.Tensor]) -> bool:
    """Return whether fewer than half of the numbers of each tensor are NaN or infinite where they should not be."""
    strange = [(~torch.isfinite(a) & torch.isfinite(b)).double() for a, b in zip(got, want, strict=True)]
    return all(not flags.numel() or float(flags.mean()) < 0.5 for flags in strange)


@dataclass(frozen=True)
class _Given:
    """The reference's value, and the earlier functions of the student's that were wrong on the way to it."""

    value: Any
    wrong: tuple[str, ...]


def _value_given(want: Target, truth: Expected, plants: list[_Earlier]) -> _Given | None:
    """Return the reference's value with the student's earlier functions; None if these are nothing to build on."""
    try:
        value = _Rerun(want, truth, plants).value()
    except (NotCarried, Failed):
        return None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError):
        return None  # the reference, which is right with its own parts, cannot compute with what the student's give
    wrong = tuple(plant.name for plant in plants if any(call.wrong for call in plant.calls))
    return _Given(value, wrong) if wrong and _mostly_finite(numeric_leaves(value), truth.leaves) else None


class _Rerun:
    """The reference run with the student's earlier functions: on the inputs of the check, among other questions."""

    def __init__(self, want: Target, truth: Expected, plants: list[_Earlier]) -> None:
        self._want, self._truth, self._plants = want, truth, plants
        self._chance = torch.Generator().manual_seed(_secret(truth))
        self._moves = Moves((truth.args, truth.kwargs), self._chance)
        self._values: dict[int, Any] = {}
        self._calls: dict[int, list[list[RecordedCall]]] = {}

    def value(self) -> Any:
        """Return the reference's value with the student's functions; NotCarried if these are nothing to build on."""
        runs = [lambda number=number: self._run(number) for number in range(len(self._moves))]
        again = [
            lambda plant=plant, met=met: plant.answer_again(met) for plant in self._plants for met in self._met(plant)
        ]
        questions: list[Callable[[], None]] = [*runs, *again]
        for number in torch.randperm(len(questions), generator=self._chance).tolist():
            questions[number]()
        for position, plant in enumerate(self._plants):
            plant.calls = self._calls[0][position]
            plant.require_finite()
            others = [self._calls[number][position] for number in range(1, len(self._moves))]
            require_dependence(plant.target, plant.standing.met, plant.calls, others)
        numbers = range(len(self._moves))
        require_effect(self._truth, [self._values[n] for n in numbers], [self._right(n) for n in numbers])
        return self._values[0]

    def _right(self, number: int) -> Any:
        """Return the reference's value for one of the inputs, with its own functions."""
        args, kwargs = self._moves.inputs(number)
        return instead(self._want, ())(*args, **kwargs)

    def _run(self, number: int) -> None:
        """Run the reference on one of the inputs; those of the check itself have the number 0."""
        args, kwargs = self._moves.inputs(number)
        plants = [(plant.target, plant) for plant in self._plants]
        for plant in self._plants:
            plant.calls = []
        with planted(plants):
            self._values[number] = instead(self._want, plants)(*args, **kwargs)
        self._calls[number] = [plant.calls for plant in self._plants]

    def _met(self, plant: _Earlier) -> list[Expected]:
        met = plant.standing.met
        chosen = torch.randperm(len(met), generator=self._chance)[:_ASKED_AGAIN].tolist()
        return [met[position] for position in chosen]


def _secret(truth: Expected) -> int:
    """Return a seed that is the same for every submission, and that only somebody with the right answer can know."""
    digest = hashlib.sha256()
    for leaf in truth.leaves:
        digest.update(leaf.contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()[:6], "big")


class _Earlier:
    """The student's earlier function in the reference's place; it notes its calls."""

    def __init__(self, name: str, target: Target, student: Callable[..., Any], standing: Standing) -> None:
        self.name, self.target, self.student, self.standing = name, target, student, standing
        self.calls: list[RecordedCall] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own_args, own_kwargs = map_tensors((args, kwargs), torch.Tensor.clone)
        expected = self.target(*own_args, **own_kwargs)  # on copies: it may call other earlier parts of the student's
        inputs = map_tensors(named(args, kwargs), torch.Tensor.clone)
        answer = ask(self.student, args, kwargs)
        given_leaves, right = numeric_leaves(answer.value), numeric_leaves(expected)
        if [leaf.shape for leaf in given_leaves] != [leaf.shape for leaf in right]:
            raise NotCarried
        wrong = bool(answer.changed) or not agrees(answer.value, stated(expected))
        self.calls.append(RecordedCall(inputs, right, given_leaves, wrong))
        self._change(answer.changed, args, kwargs)
        return answer.value

    def answer_again(self, met: Expected) -> None:
        """Raise NotCarried if the function does not give an answer that it gave in the tests of its part."""
        args, kwargs = map_tensors((met.args, met.kwargs), torch.Tensor.clone)
        if not agrees(ask(self.student, args, kwargs).value, met):
            raise NotCarried

    def require_finite(self) -> None:
        """Raise NotCarried if an answer is mostly NaN or infinite where the right one is not."""
        if not all(_mostly_finite(call.given, call.right) for call in self.calls):
            raise NotCarried

    def _change(self, changed: Mapping[str, torch.Tensor | None], args: Any, kwargs: Any) -> None:
        """Do to the reference's own tensors what the student's function did to the copies it was given."""
        own = named(args, kwargs)
        for name, now in changed.items():
            tensor = own.get(name)
            if now is None or not isinstance(tensor, torch.Tensor) or now.shape != tensor.shape:
                raise NotCarried
            try:
                with torch.no_grad():  # it may be a parameter
                    tensor.copy_(now)
            except RuntimeError as error:  # several of its entries share one place in memory
                raise NotCarried from error

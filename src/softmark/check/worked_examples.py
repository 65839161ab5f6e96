"""Compares with worked examples: small inputs, the right answer, and the answers of known mistakes, all as plain data.

A student's own machine has no reference, so the answers come along as numbers. They have this form in a file:

    nested lists of numbers      a tensor; whole numbers are int64, others float64, true and false bool
    {"tuple": [...]}             a tuple
    {"list": [...]}              a list
    {"dict": {...}}              a dictionary with texts as keys
    {"entries": [[key, value]]}  a dictionary with other keys
    {"text": "..."}              a text
    {"bytes": "..."}             bytes, each as the character of its number
    {"function": "tanh"}         a function of torch, which is lent to the student's function
    {"lent": 3}                  a function that the public test lends, for so many calls
    null, true, 3, 0.5           themselves

A number in a list that is not finite is written as a text: "nan", "inf" or "-inf". JSON has no other way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import torch

from softmark.check.public_tests import EXAMPLES, Handout
from softmark.records.errors import ConfigError
from softmark.records.verdict import Cause, Failed
from softmark.verdict.agree import agree
from softmark.verdict.callee import Lent, ask, lend
from softmark.verdict.compare import agrees
from softmark.verdict.expected import Expected, stated
from softmark.verdict.naming import NAMEABLE

DIGITS = 7
"""Significant digits of an answer: a hundred times finer than any tolerance, and the same on every machine."""
_CALLS = 1000
"""The number of times that one call of a student's function may use a function that it is lent."""


class NoData(ValueError):
    """Raised if a value cannot be written down as an example's data."""


@dataclass(frozen=True)
class LentLater:
    """Stands for a function that the public test lends, which one call may use so often."""

    calls: int


@dataclass(frozen=True)
class Slip:
    """A known mistake: its answer, its name, and the words that name it to a student."""

    answer: Any
    name: str
    says: str
    hint: str = ""


@dataclass(frozen=True)
class WorkedExample:
    """One call with its right answer. For a class: `make` are its constructor's arguments, `weights` are loaded."""

    name: str
    args: tuple[Any, ...]
    answer: Any
    kwargs: Mapping[str, Any]
    slips: Sequence[Slip] = ()
    make: Mapping[str, Any] | None = None
    weights: Mapping[str, torch.Tensor] | None = None

    def check(self, got: Any, *functions: Callable[..., Any], naming: bool = True) -> None:
        """Compare a student's function or class with the example. Raise `Failed` if they differ.

        `functions` are those that the example lends, in the order of its arguments. With `naming` the failure has the
        mistakes that explain it.
        """
        own = iter(functions)
        args = [lend(next(own), calls=arg.calls) if isinstance(arg, LentLater) else arg for arg in self.args]
        value = ask(self._callee(got), tuple(args), dict(self.kwargs)).value
        try:
            agree(value, self._truth(self.answer))
        except Failed as failure:
            verdict = failure.verdict
            if verdict.category not in NAMEABLE or not naming:
                raise
            raise Failed(msgspec.structs.replace(verdict, causes=self._causes(value), diagnosed=True)) from None

    def _callee(self, got: Any) -> Any:
        """Return the function itself, or an object of the class with the example's weights in it."""
        if self.make is None:
            return got
        made = got(**self.make)
        if self.weights is not None:
            made.load_state_dict(self.weights)
        return made

    def _truth(self, answer: Any) -> Expected:
        return stated(answer, (self.args, self.kwargs, self.weights))

    def _causes(self, value: Any) -> tuple[Cause, ...]:
        fitting = [slip for slip in self.slips if agrees(value, self._truth(slip.answer))]
        return tuple(Cause(slip.name, slip.says, slip.hint, (slip.name,)) for slip in fitting)


def worked_example(handout: Handout, name: str) -> WorkedExample:
    """Return the worked example of this name with its values as tensors. Raise ConfigError if there is none."""
    found = next((example for example in handout.examples if example.name == name), None)
    if found is None:
        raise ConfigError(EXAMPLES, 1, f"there is no worked example “{name}”; build the homework, or get it anew")
    words = handout.mistakes
    return WorkedExample(
        name=name,
        args=tuple(from_data(value) for value in found.args),
        answer=from_data(found.answer),
        kwargs={key: from_data(value) for key, value in found.kwargs.items()},
        slips=[
            Slip(from_data(answer), mistake, words[mistake].says, words[mistake].hint)
            for mistake, answer in found.mistakes.items()
        ],
        make=found.make,
        weights=None if found.weights is None else {key: from_data(value) for key, value in found.weights.items()},
    )


def to_data(value: Any) -> Any:
    """Return the value in the form of a file. Raise `NoData` if it has no such form."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or not value.numel():
            raise NoData(f"a tensor of {value.dtype} and shape {tuple(value.shape)} cannot be written down")
        return _numbers(value.detach().tolist())
    if value is None or type(value) in (bool, int, float):
        return _number(value)
    if type(value) is str:
        return {"text": value}
    if type(value) is bytes:
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, tuple | list):
        return {"list" if type(value) is list else "tuple": [to_data(item) for item in value]}
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {"dict": {key: to_data(item) for key, item in value.items()}}
    if isinstance(value, dict):
        return {"entries": [[to_data(key), to_data(item)] for key, item in value.items()]}
    if isinstance(value, Lent):
        return {"lent": value.calls}
    name = getattr(value, "__name__", "")
    if callable(value) and value is getattr(torch, name, None):
        return {"function": name}
    raise NoData(f"a {type(value).__name__} cannot be written down")


def from_data(data: Any) -> Any:
    """Return the value that `to_data` wrote down, rounded as it was."""
    if isinstance(data, list):
        numbers = _plain(data)
        floating = isinstance(_first(numbers), float)
        return torch.tensor(numbers, dtype=torch.float64 if floating else None)
    if isinstance(data, dict):
        ((kind, content),) = data.items()
        return _OF_KIND[kind](content)
    return _plain(data)


_OF_KIND: dict[str, Callable[[Any], Any]] = {
    "text": lambda text: text,
    "bytes": lambda text: text.encode("latin-1"),
    "list": lambda items: [from_data(item) for item in items],
    "tuple": lambda items: tuple(from_data(item) for item in items),
    "dict": lambda entries: {key: from_data(item) for key, item in entries.items()},
    "entries": lambda entries: {from_data(key): from_data(item) for key, item in entries},
    "function": lambda name: lend(getattr(torch, name), calls=_CALLS),
    "lent": LentLater,
}


def _numbers(nested: Any) -> Any:
    return [_numbers(item) for item in nested] if isinstance(nested, list) else _number(nested)


def _number(number: Any) -> Any:
    if type(number) is not float:
        return number
    return float(f"{number:.{DIGITS}g}") + 0.0 if math.isfinite(number) else str(number)  # + 0.0: no minus at a zero


def _plain(nested: Any) -> Any:
    if isinstance(nested, list):
        return [_plain(item) for item in nested]
    return float(nested) if isinstance(nested, str) else nested


def _first(nested: Any) -> Any:
    return _first(nested[0]) if isinstance(nested, list) else nested

"""Defines a student's callable as the checks use it. The grading room implements it; tests may use plain objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import torch


@dataclass(frozen=True, slots=True)
class Answer:
    """The value that a call returned, and the names of the inputs that it changed in place ("argument 1", "mask")."""

    value: Any
    changed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Gradients:
    """A call's value and the gradients of <cotangent, value>; None where no gradient arrives.

    `args` has one for each argument, and of an argument that is nested one for each value in it, in order.
    """

    value: Any
    args: tuple[torch.Tensor | None, ...] = ()
    kwargs: Mapping[str, torch.Tensor | None] = field(default_factory=dict)
    parameters: Mapping[str, torch.Tensor | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpCount:
    """The number of tensor operations that a call dispatched."""

    total: int
    by_name: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Work:
    """The processor time that a student's processes have used so far, and how many questions stand-ins have asked."""

    seconds: float
    stand_ins: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Lent:
    """A function of a test's that a student's function gets as an argument, and may call so often in one call."""

    function: Callable[..., Any]
    calls: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def lend(function: Callable[..., Any], *, calls: int) -> Callable[..., Any]:
    """Return a function that can be passed to a student's function, which may call it at most `calls` times.

    Its code stays with the test. The student's process sends the arguments and gets the value, and gradients if it asks
    for them, so the function must depend on nothing but its arguments. It may get any arguments; what it raises reaches
    the student's code as the built-in exception that it is or is derived from. What is expected of a call is
    computed once for all submissions if the function stands in a file by itself, outside of the test.
    """
    return Lent(function, calls)


@runtime_checkable
class StudentCallable(Protocol):
    """A function, method or module of the student's that lives behind the wall.

    Every method raises `Failed` when the student's code fails, so a check never has to handle a student's exception.
    """

    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer: ...

    def vjp(self, args: Sequence[Any], kwargs: Mapping[str, Any], cotangent: Any) -> Gradients:
        """Return the gradients for a cotangent: one tensor, or a tuple with None where no gradient enters."""
        ...

    def count_ops(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpCount: ...

    def on_meta(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any: ...

    def work(self) -> Work:
        """Return the work of the student's processes up to now."""
        ...


class StudentModule(StudentCallable, Protocol):
    """An object of the student's, such as an nn.Module, that stays behind the wall. All its other methods work, too."""

    def parameters(self) -> dict[str, torch.Tensor]:
        """Return every parameter by its name."""
        ...

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Return every parameter and buffer by its name."""
        ...

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give the module these weights and their dtype; fail if a name is missing or a shape does not fit."""
        ...

    def has_entries(self, expected: Mapping[str, torch.Tensor]) -> None:
        """Fail unless the state_dict has these names and shapes and no others."""
        ...

    def train(self, mode: bool = True) -> StudentModule:
        """Put the module into training mode."""
        ...

    def eval(self) -> StudentModule:
        """Put the module into evaluation mode."""
        ...


def named(got: Any, text: str) -> str:
    """Return the text with "argument 2" replaced by the name of that argument, where the callable knows it."""
    takes: Sequence[str] = getattr(got, "argument_names", ())

    def name(found: re.Match[str]) -> str:
        position = int(found[1]) - 1
        return f"`{takes[position]}`" if position < len(takes) else found[0]

    return re.sub(r"\bargument (\d{1,3})\b", name, text)


_RANDOM = r"rand|normal|uniform|bernoulli|multinomial|seed|empty"
"""Words in the names of functions that give other numbers in each call."""


def why_it_varies(got: Any) -> str:
    """Return a question about a function that gives other values in a second call, as far as its text allows it."""
    mentions: Callable[[str], bool] | None = getattr(got, "mentions", None)
    if mentions is None:
        return "is it random, as with dropout, or does it keep something from one call to the next?"
    if mentions(r"[Dd]ropout"):
        return "is dropout active?"
    if mentions(_RANDOM):
        return "does it draw random numbers, or leave an empty tensor unfilled?"
    return "what does it keep from one call to the next?"


def ask(got: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    """Return the student's answer to a call, or a value that the test already has."""
    if not callable(got):
        return Answer(got)
    if hasattr(got, "call"):
        answer: Answer = got.call(args, kwargs)
        return answer
    return Answer(got(*args, **kwargs))

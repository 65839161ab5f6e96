"""Defines the named mistakes of a homework: edits or wrong variants of its reference, each with the words that name it.

Edits are read from TOML. Variants are decorated functions in a homework's `equivalents.py` and `mistakes.py`, and
`collecting(registry)` says which registry takes them. A wrong entry is refused at registration, with its file and line.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from softmark.edits.edited import EditedFunction
from softmark.verdict.plant import Planting, stand_in

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class MistakeError(Exception):
    """Raised for an entry that cannot be registered; the text begins with its file and line."""


@dataclass(frozen=True, eq=False)
class RegisteredVariant:
    """A variant of a reference function, method or class."""

    name: str
    target: Callable[..., Any]
    variant: Callable[..., Any] | None
    """The function to put in the place of the target; None for a mistake that consists of edits."""
    file: str
    line: int

    @property
    def target_name(self) -> str:
        """The name of the varied function: "scores", or "MultiHeadAttention.forward"."""
        return self.target.__qualname__

    @property
    def plants(self) -> Planting:
        """The variants to plant, each with its target."""
        return () if self.variant is None else ((self.target, stand_in(self.target, self.variant)),)


@dataclass(frozen=True, eq=False)
class Mistake(RegisteredVariant):
    """A wrong variant, and the words for a student who has written it."""

    says: str
    hint: str = ""
    id: str | None = None
    """Its number in the catalogue of mistakes."""
    worth: float = 0.0
    """The share of the marks that a student with this mistake gets nevertheless."""
    edits: tuple[EditedFunction, ...] = ()
    """The edited functions; usually one, several if the same mistake is made in several functions."""

    @property
    def targets(self) -> tuple[Callable[..., Any], ...]:
        """The functions, methods and classes in which the mistake is made."""
        return tuple(edit.target for edit in self.edits) or (self.target,)

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of the functions in which the mistake is made."""
        return tuple(target.__qualname__ for target in self.targets)

    @property
    def plants(self) -> Planting:
        """The variants to plant, each with its target. The first access compiles the edits."""
        return tuple((edit.target, edit.function) for edit in self.edits) or super().plants


@dataclass(frozen=True, eq=False)
class Equivalent(RegisteredVariant):
    """Another right way to write the same function."""


@dataclass
class Registry:
    """The mistakes and equivalents of one homework, in the order in which they are written."""

    mistakes: list[Mistake] = field(default_factory=list)
    equivalents: list[Equivalent] = field(default_factory=list)

    def add(self, entry: Mistake | Equivalent) -> None:
        if entry.variant is not None:
            _check_fit(entry, entry.variant)
        for known in [*self.mistakes, *self.equivalents]:
            if known.name == entry.name:
                raise _refused(entry, f"the name is taken by {known.file}:{known.line}")
        if isinstance(entry, Mistake):
            _check_words(entry)
            self.mistakes.append(entry)
        else:
            self.equivalents.append(entry)

    def for_target(self, target: Any) -> list[Mistake]:
        """Return the mistakes registered for a reference function, method or class."""
        return [mistake for mistake in self.mistakes if target in mistake.targets]


_DEFAULT = Registry()
_COLLECTING: ContextVar[Registry] = ContextVar("softmark_registry", default=_DEFAULT)


@contextmanager
def collecting(registry: Registry) -> Iterator[Registry]:
    """Put the entries of files that are imported inside this block into a registry."""
    token = _COLLECTING.set(registry)
    try:
        yield registry
    finally:
        _COLLECTING.reset(token)


def mistake(
    target: Callable[..., Any], *, says: str, hint: str = "", id: str | None = None, worth: float = 0.0
) -> Callable[[Decorated], Decorated]:
    """Register the decorated wrong variant of a reference function, method or class.

    `says` names the mistake to the student in one sentence. `hint` says what to look at, and does not give the right
    line. `worth` is the share of the marks that a student with this mistake gets nevertheless. `id` is for an author's
    own lists.
    """

    def register(variant: Decorated) -> Decorated:
        file, line = _place(variant)
        _COLLECTING.get().add(
            Mistake(variant.__name__, target, variant, file, line, says=says, hint=hint, id=id, worth=worth)
        )
        return variant

    return register


def equivalent(target: Callable[..., Any]) -> Callable[[Decorated], Decorated]:
    """Register the decorated variant as another right solution; `verify` shows that it keeps full marks."""

    def register(variant: Decorated) -> Decorated:
        file, line = _place(variant)
        _COLLECTING.get().add(Equivalent(variant.__name__, target, variant, file, line))
        return variant

    return register


def _place(variant: Any) -> tuple[str, int]:
    """Return file and line of the variant's first line, decorators included."""
    if inspect.isclass(variant):
        return inspect.getsourcefile(variant) or "?", inspect.getsourcelines(variant)[1]
    code = variant.__code__
    return code.co_filename, code.co_firstlineno


def _refused(entry: RegisteredVariant, reason: str) -> MistakeError:
    return MistakeError(f"{entry.file}:{entry.line}: {entry.name}: {reason}")


def _check_words(entry: Mistake) -> None:
    if not isinstance(entry.says, str) or not entry.says.strip():
        raise _refused(entry, "says is empty: name the mistake in one sentence")
    worth = entry.worth
    if isinstance(worth, bool) or not isinstance(worth, int | float) or not math.isfinite(worth):
        raise _refused(entry, f"worth is {worth!r}, it must be a number from 0 up to, but not including, 1")
    if not 0 <= worth < 1:
        raise _refused(entry, f"worth is {worth}, it must be at least 0 and less than 1")


def _check_fit(entry: RegisteredVariant, variant: Callable[..., Any]) -> None:
    target = entry.target
    if not inspect.isfunction(target) and not inspect.isclass(target):
        raise _refused(entry, f"the target is {type(target).__name__}, not a reference function, method or class")
    if inspect.isclass(target) != inspect.isclass(variant):
        raise _refused(entry, f"{entry.target_name} and its variant must both be classes or both be functions")
    if "<locals>" in target.__qualname__:
        raise _refused(entry, f"{entry.target_name} is local to a function: nothing can be put in its place")
    pairs = [(target, variant)]
    if inspect.isclass(target):
        methods = [name for name, value in vars(variant).items() if inspect.isfunction(value)]
        pairs = [
            (getattr(target, m), getattr(variant, m)) for m in methods if inspect.isfunction(getattr(target, m, None))
        ]
    for expected, own in pairs:
        if _parameters(expected) != _parameters(own):
            raise _refused(
                entry,
                f"its signature {_signature(own)} does not fit {expected.__qualname__}{_signature(expected)}",
            )


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any, str]]:
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, repr(p.default)) for p in parameters]


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature without annotations, which need not agree."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))

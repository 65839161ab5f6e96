"""Makes an edited function: the reference's own text with a change, compiled among the reference's names."""

from __future__ import annotations
import __future__

import builtins
import dis
import itertools
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any

from softmark.edits.changes import ChangedPlace, EditError, TextChange, changed, overlap, places_of, with_body
from softmark.edits.definitions import SourceDefinition
from softmark.edits.tokens import words_of

_NUMBERS = itertools.count(1)
_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_MAKE = "make"
_OF_PYTHON = frozenset(dir(builtins))
_LOOKS_UP = ("LOAD_GLOBAL", "LOAD_NAME")


@dataclass(frozen=True, eq=False)
class EditedFunction:
    """A function, method or class of the reference with changes, or with another body. It is compiled on first use."""

    target: Callable[..., Any]
    definition: SourceDefinition
    changes: tuple[TextChange, ...] = ()
    body: str = ""
    _composed: dict[EditedFunction, EditedFunction | None] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def places(self) -> tuple[ChangedPlace, ...]:
        """The places that the changes replace. Raise EditError if old text is missing, or occurs too often."""
        return places_of(self.definition, self.changes)

    @cached_property
    def text(self) -> str:
        """The edited text of the whole definition."""
        return with_body(self.definition, self.body) if self.body else changed(self.definition, self.places)

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that two edits share exactly if they make the same program."""
        return self.definition.name, tuple(_narrowed(self.definition, p) for p in self.places), words_of(self.body)

    @cached_property
    def function(self) -> Any:
        """The edited function or class. Raise EditError if its text cannot be compiled or uses an unknown name."""
        return _compiled(self)

    def check(self) -> None:
        """Raise EditError if old text is missing or occurs too often, or if the edit makes no sense.

        It makes no sense if the new text calls the edited function, changes nothing, or is the body of a class.
        """
        old = sum(_own_calls(self.definition.name, self.definition.text[p.start : p.end]) for p in self.places)
        new = [self.body, *(place.new for place in self.places)]
        if sum(_own_calls(self.definition.name, text) for text in new) > old:
            raise EditError(f"the new text names {self.definition.name} itself: it would call itself for ever")
        if self.body and self.definition.is_class:
            raise EditError(f"{self.definition.name} is a class: a body belongs to a function or a method")
        if self.body and words_of(self.body) == tuple(token.text for token in self.definition.tokens):
            raise EditError(f"nothing changes: {self.definition.name} has this body")

    def composed(self, other: EditedFunction) -> EditedFunction | None:
        """Return one edit that makes both edits of a function; None if they overlap or make no program together."""
        if other not in self._composed:
            self._composed[other] = self._together(other)
        return self._composed[other]

    def _together(self, other: EditedFunction) -> EditedFunction | None:
        if self.body or other.body or overlap(sorted([*self.places, *other.places], key=lambda place: place.start)):
            return None
        both = EditedFunction(self.target, self.definition, (*self.changes, *other.changes))
        try:
            both.function  # noqa: B018
        except EditError:
            return None
        return both


def planted_source(source: str, edits: tuple[EditedFunction, ...]) -> str:
    """Return the reference's source with these edits: the program of a student who made exactly this mistake."""
    for edit in sorted(edits, key=lambda edit: edit.definition.start, reverse=True):
        source = source[: edit.definition.start] + edit.text + source[edit.definition.end :]
    return source


def _compiled(edit: EditedFunction) -> Any:
    definition, target = edit.definition, edit.target
    name = definition.name.rpartition(".")[2]
    source = f"{edit.text}\n"
    if definition.is_method:
        source = f"def {_MAKE}(__class__):\n{source}{definition.indent}return {name}\n"
    file = f"<edit {next(_NUMBERS)} of {definition.name}>"
    try:
        code = compile(source, file, "exec", _flags(target), dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise EditError(f"what comes of {definition.name} is no Python: {_problem(error, source)}") from error
    names = _namespace(target)
    _check_names(code, names, edit)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    made: dict[str, Any] = {}
    exec(code, names, made)
    if definition.is_method:
        made[name] = made[_MAKE](_owner(definition.name, names))
    function = made[name]
    function.__qualname__ = target.__qualname__
    return function


def _narrowed(definition: SourceDefinition, place: ChangedPlace) -> tuple[int, int, tuple[str, ...]]:
    """Return a place without the tokens at its ends that the edit leaves unchanged."""
    old = [token for token in definition.tokens if place.start <= token.start < place.end]
    new = list(words_of(place.new))
    while old and new and old[0].text == new[0]:
        old, new = old[1:], new[1:]
    start = old[0].start if old else place.end  # also of text that is put in before a token that stays
    while old and new and old[-1].text == new[-1]:
        old, new = old[:-1], new[:-1]
    return start, old[-1].end if old else start, tuple(new)


def _own_calls(name: str, text: str) -> int:
    """Return how often a text names a definition: `scores` or `MultiHeadAttention.forward`, but no `module.scores`."""
    own, words = words_of(name), words_of(text)
    return sum(words[at : at + len(own)] == own and words[at - 1 : at] != (".",) for at in range(len(words)))


def _problem(error: SyntaxError | ValueError, source: str) -> str:
    line = getattr(error, "lineno", None)
    lines = source.splitlines()
    place = f" in {lines[line - 1].strip()!r}" if line is not None and 0 < line <= len(lines) else ""
    return f"{getattr(error, 'msg', error)}{place}"


def _namespace(target: Callable[..., Any]) -> dict[str, Any]:
    """Return the global names of the module in which a function or class of the reference is defined."""
    return target.__globals__ if isinstance(target, FunctionType) else vars(sys.modules[target.__module__])


def _owner(qualified: str, names: dict[str, Any]) -> Any:
    """Return the class in which a method is defined."""
    first, *others = qualified.split(".")[:-1]
    owner = names[first]
    for name in others:
        owner = getattr(owner, name)
    return owner


def _flags(target: Callable[..., Any]) -> int:
    """Return the flags of the `from __future__` imports in the file of a function or class."""
    codes = [value.__code__ for value in (target, *vars(target).values()) if isinstance(value, FunctionType)]
    return codes[0].co_flags & _FLAGS if codes else 0


def _check_names(code: CodeType, names: dict[str, Any], edit: EditedFunction) -> None:
    """Raise EditError if the edited text looks up a name that neither the reference nor Python defines."""
    before = edit.target.__code__ if isinstance(edit.target, FunctionType) else None
    new = _mentioned(code) - names.keys() - _OF_PYTHON - (_mentioned(before) if before is not None else set())
    unknown = new and new & set(_looked_up(code))
    if unknown:
        raise EditError(
            f"what comes of {edit.definition.name} uses {min(unknown)!r}, which the reference does not define"
        )


def _mentioned(code: CodeType) -> set[str]:
    """Return the global names and attributes in a code, and in the functions inside it."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_mentioned, inner))


def _looked_up(code: CodeType) -> Iterator[str]:
    """Yield the names that code looks up in its module."""
    steps = list(dis.get_instructions(code))
    own = {step.argval for step in steps if step.opname == "STORE_NAME"}
    yield from (step.argval for step in steps if step.opname in _LOOKS_UP and step.argval not in own)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _looked_up(constant)

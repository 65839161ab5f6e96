"""Changes the text of a definition: `old → new`, where the old text is compared token by token.

The old text must occur exactly once among the statements of the definition, unless `every` precedes it. Several changes
of one definition are all looked up in the original text, so their order does not matter.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from softmark.edits.definitions import SourceDefinition
from softmark.edits.tokens import tokens_of, words_of

ARROW = "→"
_EVERY = "every "


class EditError(Exception):
    """Raised for an edit that cannot be made; the text is one sentence without file and line."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """The old text of an edit, and the new text that replaces it."""

    old: str
    new: str
    every: bool = False
    """True if the old text may occur several times; all of them are changed then."""

    def __str__(self) -> str:
        return f"{_EVERY if self.every else ''}{self.old} {ARROW} {self.new}".rstrip()


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """A place in a definition's text, and the new text for it."""

    start: int
    end: int
    new: str


def change_of(text: str) -> TextChange:
    """Return the change that a text such as "width // 2 → width" describes."""
    if text.count(ARROW) != 1:
        raise EditError(f"{text!r} is no edit: write the old text, one {ARROW}, and the new text")
    old, new = (side.strip() for side in text.split(ARROW))
    every = old.startswith(_EVERY)
    old = old.removeprefix(_EVERY).strip()
    if not words_of(old):
        raise EditError(f"{text!r} has no old text: write before the {ARROW} what stands in the reference")
    if words_of(old) == words_of(new):
        raise EditError(f"{text!r} changes nothing: its old and its new text are the same")
    return TextChange(old, new, every)


def places_of(definition: SourceDefinition, changes: Sequence[TextChange]) -> tuple[ChangedPlace, ...]:
    """Return the places of a definition that these changes replace, in the order of the text."""
    places = [place for change in changes for place in _found(definition, change)]
    places.sort(key=lambda place: place.start)
    if overlap(places):
        raise EditError(f"two of its changes of {definition.name} overlap: write them as one")
    return tuple(places)


def overlap(places: Sequence[ChangedPlace]) -> bool:
    """Return whether two of these places overlap. They are given in the order of the text."""
    return any(place.end > following.start for place, following in pairwise(places))


def changed(definition: SourceDefinition, places: Sequence[ChangedPlace]) -> str:
    """Return the definition's text with the new text at each place; everything else stays as it is."""
    text, done = "", 0
    for place in places:
        text += definition.text[done : place.start]
        text = _joined(text, _indented(place.new, text))
        done = place.end
    return _joined(text, definition.text[done:])


def with_body(definition: SourceDefinition, body: str) -> str:
    """Return the definition's text with other statements; its first lines and the docstring stay."""
    head = definition.text[: definition.body].rstrip()
    return f"{head}\n{textwrap.indent(textwrap.dedent(body).strip(chr(10)), definition.body_indent)}"


def _found(definition: SourceDefinition, change: TextChange) -> list[ChangedPlace]:
    old, tokens = words_of(change.old), definition.tokens
    words = tuple(token.text for token in tokens)
    places, at = [], 0
    while at + len(old) <= len(words):
        if words[at : at + len(old)] == old:
            places.append(ChangedPlace(tokens[at].start, tokens[at + len(old) - 1].end, change.new))
            at += len(old)
        else:
            at += 1
    if not places:
        raise EditError(f"{change.old!r} does not occur in {definition.name} of the reference")
    if len(places) > 1 and not change.every:
        raise EditError(
            f"{change.old!r} occurs {len(places)} times in {definition.name} of the reference: "
            f"write more of the line, or `every` before it"
        )
    return places


def _joined(before: str, after: str) -> str:
    """Return two texts joined, with a space between them if their tokens would merge otherwise."""
    if not before or not after or before[-1].isspace() or after[0].isspace():
        return before + after
    last, first = tokens_of(before.splitlines()[-1]), tokens_of(after)
    if last and first and len(tokens_of(last[-1].text + first[0].text)) != 2:
        return f"{before} {after}"
    return before + after


def _indented(new: str, before: str) -> str:
    """Return new text whose further lines are indented like the line on which it begins."""
    line = before.rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip())]
    return new.replace("\n", f"\n{indent}")

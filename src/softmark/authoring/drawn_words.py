"""Draws texts, bytes, lists and dictionaries for calls: pieces of those that hidden tests use, in other orders.

The values may not fit together, such as ids and their vocabulary. A call that the reference does not answer is left
out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from softmark.authoring.facts import Facts

_STEP = 3
"""The most by which a whole number changes."""


def has_words(form: Any) -> bool:
    """Return whether a form holds bytes, or a text that is no name of an option such as "mean", and no tensor."""
    values = list(_values(form))
    return any(map(_is_words, values)) and not any("shape" in value for value in values)


def _values(form: Any) -> Iterator[Facts]:
    """Yield the form of each value in a form, the outer ones first."""
    if isinstance(form, dict):
        yield form
        form = list(form.values())
    if isinstance(form, list):
        for inner in form:
            yield from _values(inner)


def _is_words(form: Facts) -> bool:
    plain = form.get("plain")
    return "bytes" in form or (isinstance(plain, str) and not plain.isidentifier())


def varied(form: Facts, dice: random.Random) -> Facts:
    """Return a form in which some texts, bytes, lists, dictionaries and whole numbers are others."""
    if "bytes" in form:
        return {"bytes": _text(form["bytes"], dice)}
    if "list" in form:
        return {"list": _members(form["list"], dice)}
    if "entries" in form:
        return {"entries": _members(form["entries"], dice)}
    if "tuple" in form:
        return {"tuple": [varied(inner, dice) for inner in form["tuple"]]}
    value = form.get("plain")
    if isinstance(value, str):
        return {"plain": _text(value, dice)}
    if type(value) is int and dice.random() < 0.3:
        return {"plain": value + dice.randint(-_STEP, _STEP)}
    return form


def _members(members: list[Any], dice: random.Random) -> list[Any]:
    """Return members of a list or entries of a dictionary: as they are, or some of them, in an order of their own."""
    inside = [_member(one, dice) if dice.random() < 0.2 else one for one in members]
    match dice.randrange(4):
        case 0:
            return dice.sample(inside, dice.randint(0, len(inside)))
        case 1:
            return inside + dice.choices(inside, k=2) if inside else inside
        case _:
            return inside


def _member(member: Any, dice: random.Random) -> Any:
    """Return a member of a list, or an entry of a dictionary (its key and its value), with another value."""
    return varied(member, dice) if isinstance(member, dict) else [member[0], varied(member[1], dice)]


def _text(text: str, dice: random.Random) -> str:
    """Return a text: as it is, a part of it, its words in another order, or twice with some letters exchanged."""
    match dice.randrange(5):
        case 0:
            start, end = sorted(dice.choices(range(len(text) + 1), k=2))
            return text[start:end]
        case 1:
            words = text.split(" ")
            return " ".join(dice.sample(words, len(words)))
        case 2 if text:
            return text + text.replace(dice.choice(text), dice.choice(text))
        case _:
            return text

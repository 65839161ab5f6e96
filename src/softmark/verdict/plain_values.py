"""Describes how an answer of texts, bytes, whole numbers, lists and dictionaries differs from the expected one.

compare.py decides whether an answer is right; this module finds the words. The fact says how many entries differ and
what they have in common. It repeats no entry, because an entry may disclose a hidden input. The second sentence and the
difference, line by line, have the entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from softmark.records.verdict import Category, Lines, Verdict
from softmark.verdict import plain_words as words
from softmark.verdict.patterns import of_whole_number
from softmark.verdict.values import Path, kind, place, plural

_LEAVES = (str, bytes, int, bool, type(None))
_MOST_LINES = 40
"""The most lines of a difference that are shown, around the first one that differs."""
_LONGEST_LINE = 100
_MANY = 4


def is_plain(value: Any) -> bool:
    """Return whether an expected value is read as a whole: a text, or a list or dictionary without real numbers.

    A tuple is read as a whole only inside a list: on its own it has several outputs. A single number is not.
    """
    if isinstance(value, list | dict):
        return bool(value) and all(map(_is_plain_inside, _members(value)))
    return isinstance(value, str | bytes) or (type(value) is int and not -(2**63) <= value < 2**63)


def has_many_entries(value: Any) -> bool:
    """Return whether an expected value holds a plain one of so many entries that few mistakes give the same."""
    if isinstance(value, list | tuple | dict) and not is_plain(value):
        return any(map(has_many_entries, _members(value)))
    return is_plain(value) and type(value) is not int and len(value) >= _MANY


def is_same(got: Any, want: Any) -> bool:
    """Return whether an answer is this plain value, types included; whole numbers may be those of a library."""
    return _same(_as_python(got), want)


def _is_plain_inside(value: Any) -> bool:
    if isinstance(value, list | tuple | dict):
        return all(map(_is_plain_inside, _members(value)))
    return type(value) in _LEAVES


def _members(value: Any) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value


def difference(got: Any, want: Any, entry: str, path: Path = ()) -> Verdict | None:
    """Return a verdict about the first plain value in an answer that is wrong; None if there is none.

    `entry` is the form in which a sentence names the entry of a dictionary that holds other values than plain ones.
    """
    if is_plain(want):
        got, want = _as_python(got), _as_python(want)
        return None if _same(got, want) else _described(got, want, place(path))
    if isinstance(want, tuple | list) and isinstance(got, tuple | list) and len(got) == len(want):
        pairs = zip(got, want, strict=True)
        found = (difference(a, b, entry, (*path, f"output {i} of {len(want)}")) for i, (a, b) in enumerate(pairs, 1))
        return next(filter(None, found), None)
    if isinstance(want, dict) and isinstance(got, dict) and got.keys() == want.keys():
        found = (difference(got[key], want[key], entry, (*path, entry.format(key))) for key in want)
        return next(filter(None, found), None)
    return None


def _as_python(value: Any) -> Any:
    """Return a value with Python's own numbers for those of NumPy and torch without axes, and lists for tuples."""
    if isinstance(value, list | tuple):
        return [_as_python(member) for member in value]
    if isinstance(value, dict):
        return {key: _as_python(member) for key, member in value.items()}
    if isinstance(value, np.generic | np.ndarray | torch.Tensor) and not value.shape and not _is_meta(value):
        return value.item()
    return value


def _is_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_meta


def _same(got: Any, want: Any) -> bool:
    """Return whether two plain values are equal, types included; a list stands for a tuple."""
    if isinstance(want, list | tuple):
        return isinstance(got, list | tuple) and len(got) == len(want) and all(map(_same, got, want))
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(_same(got[key], want[key]) for key in want)
    return type(got) is type(want) and bool(got == want)


def _described(got: Any, want: Any, at: str) -> Verdict:
    """Return the verdict about a plain value that is wrong."""
    for types, describe in _DESCRIBED.items():
        if isinstance(want, types):
            if type(got) is not type(want) and not (isinstance(got, list | tuple) and isinstance(want, list | tuple)):
                return _of_type(got, want, at)
            return describe(got, want, at)
    raise TypeError(f"{kind(want)} is no plain value")


def _of_type(got: Any, want: Any, at: str) -> Verdict:
    fact = f"{at}{'' if at else 'returned '}{words.kind_of(got)}, expected {words.kind_of(want)}"
    return Verdict(category=Category.TYPE, fact=fact + (_encoded(got, want) or _next_step(got, want, at)))


def _next_step(got: Any, want: Any, at: str) -> str:
    """Return a clause that says how to make a value of the right kind of this one; empty if that is not clear."""
    if got is None and not at:
        return ": does every path through the function end with `return`?"
    if isinstance(want, list) and isinstance(got, torch.Tensor | np.ndarray):
        return ": `.tolist()` makes one of it"
    if isinstance(want, list) and isinstance(got, str):
        return ": leave its entries apart, do not join them"
    if isinstance(want, str) and isinstance(got, list | tuple):
        return ": join its entries to one text"
    if isinstance(want, dict) and isinstance(got, list | tuple):
        return ": the handout says what its keys are"
    return ""


def _encoded(got: Any, want: Any) -> str:
    """Return a clause if the answer is right except that it has texts in the place of bytes, or the reverse."""
    if _same(got, _changed(want, bytes, lambda data: data.decode("utf-8", "replace"))):
        return ": encode the texts as UTF-8"
    return ": decode the bytes as UTF-8" if _same(got, _changed(want, str, _to_bytes)) else ""


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _changed(value: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """Return a plain value with every leaf of a kind changed."""
    if isinstance(value, list | tuple):
        return [_changed(member, kind, change) for member in value]
    if isinstance(value, dict):
        return {_changed(key, kind, change): _changed(member, kind, change) for key, member in value.items()}
    return change(value) if isinstance(value, kind) else value


def _text(got: Any, want: Any, at: str) -> Verdict:
    first = _common_start(got, want)
    unit, whole = ("byte", "the bytes are") if isinstance(want, bytes) else ("character", "the text is")
    where = words.around(got, want, first)
    both_texts = isinstance(got, str) and isinstance(want, str)
    return Verdict(
        category=Category.VALUE,
        fact=at + words.of_texts(got, want, first, unit, whole),
        where=f"at index {first}: {where}" if first else where,
        lines=_lines(got.split("\n"), want.split("\n"), str) if both_texts else None,
    )


def _number(got: int, want: int, at: str) -> Verdict:
    where = f"got {words.written(got)}, expected {words.written(want)}, off by {words.written(abs(got - want))}"
    regularity, clause = of_whole_number(got, want)
    fact = f"{at}the value is wrong{clause}"
    return Verdict(category=Category.VALUE, fact=fact, where=where, regularity=regularity, clause=clause)


def _sequence(got: Sequence[Any], want: Sequence[Any], at: str) -> Verdict:
    got, want = list(got), list(want)
    pairs = list(zip(got, want, strict=False))
    first = next((i for i, (a, b) in enumerate(pairs) if not _same(a, b)), len(pairs))
    lines = _lines(got, want, words.written)
    if len(got) != len(want):
        count = plural(len(got), "entry") if got else "an empty list"
        fact = f"{at}{'' if at else 'returned '}{count}, expected {plural(len(want), 'entry')}"
        fact += _of_lengths(got, want) if got else ""
        return Verdict(category=Category.VALUE, fact=fact, where=words.from_index(got, want, first), lines=lines)
    wrong = [(a, b) for a, b in pairs if not _same(a, b)]
    mistyped = next((i for i, (a, b) in enumerate(pairs) if words.kind_of(a) != words.kind_of(b)), None)
    if mistyped is not None and not isinstance(want[mistyped], list | tuple | dict):
        a, b = pairs[mistyped]
        fact = f"{at}the entry at index {mistyped} is {words.kind_of(a)}, expected {words.kind_of(b)}"
        return Verdict(category=Category.TYPE, fact=fact + _encoded(got, want))
    fact = at + words.count_wrong(len(wrong), len(want), "entry") + _of_entries(got, want, wrong)
    return Verdict(category=Category.VALUE, fact=fact, where=words.first_wrong(got, want, first), lines=lines)


def _of_lengths(got: list[Any], want: list[Any]) -> str:
    """Return a clause about a list that has too few entries or too many, or an empty text."""
    shorter, longer = sorted((got, want), key=len)
    start = _common_start(shorter, longer)
    end = _common_start(shorter[::-1], longer[::-1])
    verb = "missing" if shorter is got else "too many"
    if start + end >= len(shorter):
        start = min(start, len(shorter))
        return words.run_of_entries(start, len(longer) - len(shorter), len(longer), verb)
    if sorted(set(map(repr, want))) == sorted(map(repr, got)):
        return ": the same entries, but each only once"
    if sorted(set(map(repr, got))) == sorted(map(repr, want)):
        return ": the same entries, but some of them more than once"
    return ""


def _of_entries(got: list[Any], want: list[Any], wrong: list[tuple[Any, Any]]) -> str:
    """Return a clause about what all wrong entries have in common, or an empty text."""
    if len(want) < 2:
        return ""
    if _same(got, want[::-1]):
        return ": they are in reverse order"
    if Counter(map(repr, got)) == Counter(map(repr, want)):
        return ": they are the right entries, in another order"
    if len(want) > 2 and len(set(map(repr, want))) > 1:
        if _same(got[:-1], want[1:]):
            return ": each is what the next one should be"
        if _same(got[1:], want[:-1]):
            return ": each is what the previous one should be"
    if all(isinstance(b, list | tuple) and len(b) > 1 and _same(a, b[::-1]) for a, b in wrong):
        return ": the order inside each of them is reversed"
    return words.in_common(wrong, everywhere=len(wrong) == len(want))


def _dictionary(got: dict[Any, Any], want: dict[Any, Any], at: str) -> Verdict:
    missing = [key for key in want if key not in got]
    surplus = [key for key in got if key not in want]
    wrong = [key for key in want if key in got and not _same(got[key], want[key])]
    parts = []
    if missing:
        parts.append(f"{plural(len(missing), 'entry')} {words.is_or_are(len(missing))} missing")
    if surplus:
        parts.append(f"{plural(len(surplus), 'entry')} {words.is_or_are(len(surplus))} too many")
    if wrong:
        parts.append(words.count_wrong(len(wrong), len(want), "value"))
    common = words.in_common([(got[key], want[key]) for key in wrong], everywhere=len(wrong) == len(want))
    clause = _of_keys(got, want) or (common if not missing and not surplus else "")
    lines = _lines(_in_order(got, want), _in_order(want, want), _entry)
    where = words.of_keys(missing, surplus, [(key, got[key], want[key]) for key in wrong[:1]])
    return Verdict(category=Category.VALUE, fact=at + ", ".join(parts) + clause, where=where, lines=lines)


def _of_keys(got: dict[Any, Any], want: dict[Any, Any]) -> str:
    """Return a clause about keys that are all wrong in the same way, or an empty text."""
    if len(want) < 2 or got.keys() == want.keys():
        return ""
    if all(isinstance(value, str | int) for value in want.values()) and got == {v: k for k, v in want.items()}:
        return ": keys and values are exchanged"
    if len(got) == len(want) and all(type(key) is int for key in (*got, *want)):
        pairs = list(zip(sorted(got), sorted(want), strict=True))
        return words.in_common(pairs, everywhere=True).replace("each is", "each key is")
    return ""


def _in_order(value: dict[Any, Any], order: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """Return the entries in the order of another dictionary, because the order of a dictionary never counts."""
    keys = [key for key in order if key in value] + [key for key in value if key not in order]
    return [(key, value[key]) for key in keys]


def _entry(entry: tuple[Any, Any]) -> str:
    return f"{words.written(entry[0])}: {words.written(entry[1])}"


def _lines(got: list[Any], want: list[Any], written: Callable[[Any], str]) -> Lines | None:
    """Return the lines around the first difference; None if there are too few to be worth a drawing."""
    if max(len(got), len(want)) < 3:
        return None
    first = max(0, _common_start(got, want) - 3)
    window = slice(first, first + _MOST_LINES)
    shown = [tuple(written(entry)[:_LONGEST_LINE] for entry in entries[window]) for entries in (want, got)]
    return Lines(expected=shown[0], got=shown[1], first=first)


def _common_start(got: Sequence[Any], want: Sequence[Any]) -> int:
    """Return how many entries, characters or bytes are the same before the first difference."""
    shorter = min(len(got), len(want))
    return next((i for i in range(shorter) if not _same(got[i], want[i])), shorter)


_DESCRIBED: dict[Any, Callable[[Any, Any, str], Verdict]] = {
    (str, bytes): _text,
    (list, tuple): _sequence,
    dict: _dictionary,
    int: _number,
}

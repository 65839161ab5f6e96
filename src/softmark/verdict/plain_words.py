"""Says in words how texts, bytes and whole numbers differ. The functions return clauses for plain_values.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softmark.verdict import values
from softmark.verdict.patterns import whole_factor
from softmark.verdict.values import plural

_LONGEST = 60
_AROUND = 16
"""Characters that are shown before and after the first difference of two long texts."""
_VISIBLE = str.maketrans({" ": "·", "\n": "⏎", "\t": "⇥", "\r": "␍"})


def kind_of(value: Any) -> str:
    """Return the kind of a value with its article, without the number of values in a list or dictionary."""
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, tuple | list | dict):
        return "a dictionary" if isinstance(value, dict) else "a list"
    return "an int" if type(value) is int else values.kind(value)


def is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def count_wrong(count: int, total: int, noun: str) -> str:
    """Return "3 of 7 entries are wrong"."""
    if total == 1:
        return f"the only {noun} is wrong"
    number = f"all {plural(total, noun)}" if count == total else f"{count} of {plural(total, noun)}"
    return f"{number} {is_or_are(count)} wrong"


def written(value: Any) -> str:
    """Return a value as Python writes it, cut in the middle if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 20]} … {text[-17:]}"


def of_texts(got: Any, want: Any, first: int, unit: str, whole: str) -> str:
    """Return a sentence about a text that differs from the expected one after `first` characters."""
    if not got:
        return f"{whole} empty"
    if first == len(got):
        return f"{whole} too short: the last {plural(len(want) - first, unit)} {is_or_are(len(want) - first)} missing"
    if first == len(want):
        return f"{whole} too long: {plural(len(got) - first, unit)} too many at the end"
    if got.lower() == want.lower():
        return f"{whole} right but for upper and lower case"
    if _without_spaces(got) == _without_spaces(want):
        return f"{whole} right but for spaces and line ends"
    if got == want[::-1]:
        return f"{whole} in reverse order"
    if want.endswith(got):
        lacking = len(want) - len(got)
        return f"{whole} too short: the first {plural(lacking, unit)} {is_or_are(lacking)} missing"
    return f"{whole} wrong from {unit} {first} on" if first else f"{whole} wrong from the first {unit} on"


def _without_spaces(text: Any) -> Any:
    return text[:0].join(text.split())


def around(got: Any, want: Any, first: int) -> str:
    """Return the parts of both texts around the first difference, with spaces and line ends made visible."""
    return f"got {_excerpt(got, first)}, expected {_excerpt(want, first)}"


def _excerpt(text: Any, first: int) -> str:
    start = max(0, first - _AROUND)
    end = first + _AROUND + 1
    if len(text) <= 3 * _AROUND:
        start, end = 0, len(text)
    part = text[start:end]
    shown = repr(part) if isinstance(part, bytes) else f"“{part.translate(_VISIBLE)}”"
    return f"{'… ' if start else ''}{shown}{' …' if end < len(text) else ''}"


def first_wrong(got: Sequence[Any], want: Sequence[Any], first: int) -> str:
    """Return the first wrong entry of a list and the expected one, and both lists if they are short."""
    text = f"first at index {first}: got {written(got[first])}, expected {written(want[first])}"
    return text + _both(got, want)


def from_index(got: Sequence[Any], want: Sequence[Any], first: int) -> str:
    """Return where a list of another length first differs, and both lists if they are short."""
    here = [written(entries[first]) if first < len(entries) else "its end" for entries in (got, want)]
    return f"first at index {first}: got {here[0]}, expected {here[1]}" + _both(got, want)


def _both(got: Sequence[Any], want: Sequence[Any]) -> str:
    ours, theirs = repr(list(got)), repr(list(want))
    return f"; got {ours}, expected {theirs}" if max(len(ours), len(theirs)) <= 2 * _LONGEST else ""


def run_of_entries(start: int, count: int, total: int, verb: str) -> str:
    """Return a clause about entries that stand together and are missing, or too many."""
    entries = "entry is" if count == 1 else f"{count} entries are"
    if start + count >= total:
        return f": the last {entries} {verb}"
    if start == 0:
        return f": the first {entries} {verb}"
    return f": the entry at index {start} is {verb}" if count == 1 else f": {entries} {verb} from index {start} on"


def in_common(wrong: Sequence[tuple[Any, Any]], *, everywhere: bool) -> str:
    """Return a clause if all wrong values differ in the same way: by a number or factor, in case, in spaces."""
    if len(wrong) < 2:
        return ""
    each = "each is" if everywhere else "the wrong ones are"
    if all(type(a) is int and type(b) is int for a, b in wrong):
        offsets = {a - b for a, b in wrong}
        if len(offsets) == 1:
            offset = offsets.pop()
            return f": {each} {abs(offset)} too {'large' if offset > 0 else 'small'}"
        factors = {whole_factor(a, b) for a, b in wrong}
        if len(factors) == 1 and (factor := factors.pop()):
            return f": {each} {factor} what is expected"
    if all(isinstance(a, str) and isinstance(b, str) for a, b in wrong):
        if all(a.lower() == b.lower() for a, b in wrong):
            return ": they are right but for upper and lower case"
        if all(_without_spaces(a) == _without_spaces(b) for a, b in wrong):
            return ": they are right but for spaces and line ends"
    return ""


def of_keys(missing: Sequence[Any], surplus: Sequence[Any], wrong: Sequence[tuple[Any, Any, Any]]) -> str:
    """Return which keys are missing or too many, and the first value that is wrong."""
    parts = [f"{verb}: {_some(keys)}" for verb, keys in (("missing", missing), ("too many", surplus)) if keys]
    parts += [f"at {written(key)}: got {written(a)}, expected {written(b)}" for key, a, b in wrong]
    return "; ".join(parts)


def _some(keys: Sequence[Any]) -> str:
    shown = ", ".join(written(key) for key in keys[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown

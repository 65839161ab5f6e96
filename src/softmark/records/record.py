"""Defines the base of everything that a Result is made of: frozen, and always writable as strict JSON.

Otherwise a NaN, or half of a surrogate pair in a student's text, would be noticed only when the file is written, and
the whole result would be lost.
"""

import math
from typing import Any

import msgspec

_ALWAYS_SOUND = frozenset((bool, int, type(None)))
_NOTHING: tuple[Any, ...] = ()


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A frozen struct whose numbers are finite and whose texts are valid Unicode."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is _NOTHING or type(value) in _ALWAYS_SOUND or (isinstance(value, str) and value.isascii()):
                continue  # most values are sound, and a class has millions of them
            sound = _sound(value, f"{type(self).__name__}.{name}")
            if sound is not value:
                msgspec.structs.force_setattr(self, name, sound)


def _sound(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return value if _encodable(value) else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place} must be finite, not {value}")
    if isinstance(value, tuple):
        if all(isinstance(member, Record) for member in value) or _are_sound_numbers(value):
            return value
        members = tuple(_sound(member, place) for member in value)
        unchanged = all(new is old for new, old in zip(members, value, strict=True))
        return value if unchanged else members
    return value


def _are_sound_numbers(values: tuple[Any, ...]) -> bool:
    """Return True for finite numbers only. The rows of pictures are most of a result, so they are checked in one go."""
    try:
        return all(map(math.isfinite, values))
    except TypeError:
        return False


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True

"""Reads which functions are not tried wrong under which conditions, and why: `[[excluded]]` in homework.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from softmark.course.toml import LocatedToml


class ExcludedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Functions, conditions in the words of the table that `softmark verify` prints, and the reason."""

    functions: tuple[str, ...]
    conditions: tuple[str, ...]
    because: str


def excluded(toml: LocatedToml, rules: Sequence[ExcludedTable]) -> Mapping[tuple[str, str], str]:
    """Return the reason for each function and condition. Raise ConfigError if a rule gives none."""
    for index, rule in enumerate(rules):
        if not rule.because.strip():
            raise toml.wrong(("excluded", index, "because"), "because must say why no test compares this")
    return {
        (function, condition): rule.because
        for rule in rules
        for function in rule.functions
        for condition in rule.conditions
    }
